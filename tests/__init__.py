"""Doubt: the tests mirror the tree."""
