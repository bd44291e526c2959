"""The verdicts on bounds, and the exit codes that they have."""

from __future__ import annotations

from typing import Final

EXIT: Final = {"certified": 0, "solver-backed": 1, "holey": 1, "not-proved": 1, "unsupported": 2, "refuted": 3}
