"""CUDA C to miniCUDA, with places kept. libclang is loaded when something is read, not on import."""

from semantics.cuda.errors import CudaError, Unsupported
from semantics.cuda.reader import Reading, kernel_names, read_cuda

__all__ = ["CudaError", "Reading", "Unsupported", "kernel_names", "read_cuda"]
