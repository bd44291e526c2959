"""Lemma 2: the work and span of an expression are at most what lock-step costs say."""

from tests.paper.where import pointed_at


def test_where_it_is_tested() -> None:
    pointed_at(
        "paper/test_fig6.py", "test_lemma_2", "test_the_lemmas_are_tight_and_lock_step_costs_of_a_part_are_not_enough"
    )
