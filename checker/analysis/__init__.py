"""Analyses of kernels besides cost bounds."""
