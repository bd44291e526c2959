"""CUDA C to miniCUDA, with places kept. libclang is loaded when something is read, not on import."""

from semantics.cuda.arguments import Launched
from semantics.cuda.choices import Choice, choices
from semantics.cuda.errors import CudaError, NoKernel, Unsupported
from semantics.cuda.parse import watched
from semantics.cuda.reader import Reading, kernel_names, read_cuda

__all__ = [
    "Choice",
    "CudaError",
    "Launched",
    "NoKernel",
    "Reading",
    "Unsupported",
    "choices",
    "kernel_names",
    "read_cuda",
    "watched",
]
