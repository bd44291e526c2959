"""Kernels whose loops end by data, and certificates for them (docs/data.md)."""
