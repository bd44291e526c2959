"""`analysed_once`: what many tests print, each in its own way, is found once."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import pytest

from checker.analysis.coalescing import exact, remedies

_analysed: Final[dict[bytes, Any]] = {}
"""Analyses of accesses and what was tried to mend them, by all that they depend on."""


@pytest.fixture
def analysed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of what is printed that change nothing that analyses depend on."""
    for module, name in ((exact, "analyse"), (remedies, "remedies")):
        monkeypatch.setattr(module, name, partial(_made_once, getattr(module, name)))


def _made_once(make: Callable[..., Any], *args: Any) -> Any:
    key = pickle.dumps((make.__name__, args))
    if key not in _analysed:
        _analysed[key] = make(*args)
    return _analysed[key]
