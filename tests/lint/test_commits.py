"""Messages of commits."""

import doctest

from tests.lint import commits


def test_what_is_wrong_with_a_message() -> None:
    found = doctest.testmod(commits)
    assert (found.attempted > 0, found.failed) == (True, 0)
