"""Table 3: the error of the semantics against a profiler; ours against the counts of a GPU."""

from tests.paper.where import pointed_at


def test_where_it_is_tested() -> None:
    pointed_at("proofs/test_hardware.py", "test_a_run_pays_what_the_page_says", "test_how_close_the_semantics_is")
