"""warpbound: certified symbolic cost bounds of CUDA kernels. `python -m warpbound` is the command `warpbound`.

From Python, with what the commands of these names say:

    import warpbound

    found = warpbound.bound("scale.cu", "sectors", block=256)   # a path, CUDA C as text, or what has .code
    found.verdict, found.bound, found.at(n=1000)
    warpbound.run("scale.cu", block=256, grid=4, n=1000).totals["sectors"]
    warpbound.compare("old.cu", "new.cu", "sectors", block=256)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warpbound.api import Bound, Comparison, Run, Unusable, bound, compare, run

__all__ = ["Bound", "Comparison", "Run", "Unusable", "bound", "compare", "run"]


def __getattr__(name: str) -> object:
    """The names of `warpbound.api`, which is loaded when one of them is used."""
    if name not in __all__:
        raise AttributeError(f"module 'warpbound' has no attribute '{name}'")
    from warpbound import api

    return getattr(api, name)


def __dir__() -> list[str]:
    """The names of the module, those of `warpbound.api` among them before one is used."""
    return sorted({*globals(), *__all__})
