"""Fig. 1: addSub0 to addSub3, four kernels of which each moves less memory than the one before."""

from tests.paper.where import pointed_at


def test_where_it_is_tested() -> None:
    pointed_at("proofs/test_kernels.py", "test_rows_are_added_and_subtracted")
    pointed_at(
        "proofs/test_stories.py",
        "test_each_version_of_add_sub_moves_less",
        "test_add_sub_0_diverges_and_the_others_do_not",
    )
