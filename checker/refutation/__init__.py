"""Refutations of claims: runs that cost more, the smallest change that would make a refused outline pass."""
