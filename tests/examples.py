"""How many examples dear tests look at: few, and always the same, by default; many with WARPBOUND_PROFILE=long."""

from __future__ import annotations

import os
from typing import Final

from hypothesis import HealthCheck, settings

LONG: Final = os.environ.get("WARPBOUND_PROFILE") == "long"


def examples(few: int, many: int) -> settings:
    """The settings of a test that takes its time for an example."""
    return settings(max_examples=many if LONG else few, deadline=None, suppress_health_check=list(HealthCheck))
