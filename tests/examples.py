"""How many examples dear tests look at: few, and always the same, by default; many with WARPBOUND_PROFILE=long."""

from __future__ import annotations

import os
from typing import Final

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

LONG: Final = os.environ.get("WARPBOUND_PROFILE") == "long"

CHARACTERS: Final = (st.integers(0, 0xFF) | st.integers(0x100, 0xD7FF) | st.integers(0xE000, 0x10FFFF)).map(chr)
"""All characters. By their categories, as hypothesis has them, the first one takes seconds in each process."""


def examples(few: int, many: int) -> settings:
    """The settings of a test that takes its time for an example."""
    return settings(max_examples=many if LONG else few, deadline=None, suppress_health_check=list(HealthCheck))
