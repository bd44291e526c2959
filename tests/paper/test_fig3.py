"""Fig. 3: the lock-step rules, a test for each."""

from tests.paper.where import pointed_at


def test_where_it_is_tested() -> None:
    pointed_at(
        "semantics/test_lockstep.py",
        "test_oc_var",
        "test_oc_const",
        "test_oc_param",
        "test_oc_tid",
        "test_ec_op",
        "test_ec_garr",
        "test_ec_sarr",
        "test_sc_skip",
        "test_sc_vwrite",
        "test_sc_gwrite",
        "test_sc_swrite",
        "test_sc_sync",
        "test_sc_seq",
        "test_sc_if_t",
        "test_sc_if_f",
        "test_sc_if_d",
        "test_sc_while_all_and_none",
        "test_sc_while_some",
        "test_sc_while_none",
    )
