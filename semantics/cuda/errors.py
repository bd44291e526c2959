"""The one kind of error of the CUDA front end."""

from __future__ import annotations

from logic.source import Loc, SourceError


class CudaError(SourceError):
    """Bad CUDA input: a missing file, a syntax error, or a construct outside miniCUDA, at its place."""


def unsupported(what: str, loc: Loc | None, advice: str = "") -> CudaError:
    """The error for a construct that miniCUDA does not have."""
    return CudaError(f"{what} is not supported", loc, advice)
