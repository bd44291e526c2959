"""Lemma 3: the same of statements."""

from tests.paper.where import pointed_at


def test_where_it_is_tested() -> None:
    pointed_at("paper/test_fig6.py", "test_lemma_3", "test_lemma_3_with_barriers")
