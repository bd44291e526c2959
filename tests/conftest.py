"""How hypothesis searches: `ci` is the same every time, `long` (WARPBOUND_PROFILE=long) looks further and elsewhere."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile("ci", derandomize=True, deadline=None, database=None)
settings.register_profile(
    "long", max_examples=5000, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("WARPBOUND_PROFILE", "ci"))
