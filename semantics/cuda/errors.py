"""The errors of the CUDA front end."""

from __future__ import annotations

from logic.source import Loc, SourceError


class CudaError(SourceError):
    """Bad CUDA input: a missing file, a syntax error, or a construct outside miniCUDA, at its place."""


class NoKernel(CudaError):
    """No kernel is in a source, nor text that may mark one; the place is that of an error in its host code."""


class Unsupported(CudaError):
    """CUDA C that is right and has no counterpart in miniCUDA."""


def unsupported(what: str, loc: Loc | None, advice: str = "") -> Unsupported:
    """The error for a construct that miniCUDA does not have."""
    return Unsupported(f"{what} is not supported", loc, advice)
