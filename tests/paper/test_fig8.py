"""Fig. 8: conflicts of a histogram and the width of a matrix, as curves."""

from tests.paper.where import pointed_at


def test_where_it_is_tested() -> None:
    pointed_at("proofs/test_stories.py", "test_fig8_left", "test_fig8_right")
