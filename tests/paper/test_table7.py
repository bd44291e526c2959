"""Table 7: RaCuda's bounds in steps. proofs/published.toml has them, tests/checker/suites/test_runner.py each of them
again, as printed."""

import tomllib

from tests.paper.where import TESTS, pointed_at


def test_where_it_is_tested() -> None:
    pointed_at("checker/suites/test_runner.py", "test_published_bounds", "test_rows_of_a_kernel")
    cases = tomllib.loads((TESTS.parent / "proofs" / "published.toml").read_text(encoding="utf-8"))["kernel"]
    kernels = {name for name, case in cases.items() if "steps" in case.get("racuda", {})}
    assert {"vectorAdd", "addSub0", "addSub3", "matMul", "reduce0", "histogram256", "synBrdis"} <= kernels
