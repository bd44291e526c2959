"""Fig. 5, p. 14: a derivation for a loop, L = 2*M.sread(1) + 2*M.gwrite(5), with its half-steps as outline. The
print's (h - j)/2 is short by one turn for odd h (erratum 9)."""

from tests.paper.where import pointed_at


def test_where_it_is_tested() -> None:
    pointed_at("checker/notation/test_outlines.py", "test_an_outline_means_what_it_says")
    pointed_at(
        "paper/test_errata.py",
        "test_9_half_of_h_turns_are_too_few_where_h_is_odd",
        "test_9_an_update_reads_what_it_writes",
    )
