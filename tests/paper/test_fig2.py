"""Fig. 2: the syntax of miniCUDA, which the type checker takes construct by construct."""

from tests.paper.where import pointed_at


def test_where_it_is_tested() -> None:
    pointed_at("logic/test_typing.py", "test_well_typed", "test_ill_typed", "test_ill_typed_statements")
