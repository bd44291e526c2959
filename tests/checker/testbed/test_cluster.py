"""Trials on the workers of a cluster, and clusters that are not there."""

from __future__ import annotations

import socket
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

import pytest

from checker.notation.problem import OptionProblem
from checker.testbed.cluster import Cluster, joined
from checker.testbed.mutants import witness
from checker.testbed.search import Report, search
from checker.testbed.trial import Coverage, tried


class Odd(Executor):
    """An executor that loses every second piece of work, or says nonsense of it."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.given = answers, 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **_: Any) -> Future[Any]:
        self.given += 1
        future = Future[Any]()
        if self.given % 2:
            future.set_result(fn(*args))
        elif self.given % 4 and not self.answers:
            raise RuntimeError("closed")
        elif self.answers:
            future.set_result(self.answers[self.given // 2 % len(self.answers)])
        else:
            future.set_exception(RuntimeError("lost"))
        return future


def about(report: Report) -> tuple[Any, ...]:
    return report.examples, report.case, report.violation and witness(report.violation), report.coverage


NONSENSE = (None, 3, (20, Coverage()), (19, Coverage(), None), (20, Coverage(), (3, "violated")))


@pytest.mark.parametrize(("rules", "pool"), [("sound", Odd()), ("paper/If4", Odd(*NONSENSE))], ids=["lost", "nonsense"])
def test_a_trial_is_the_same_whoever_tries(rules: str, pool: Odd) -> None:
    trial = tried(rules, trust=False)
    own = search(trial, range(80), small=False)
    assert about(search(trial, range(80), small=False, cluster=Cluster(pool, 1))) == about(own)
    assert pool.given == 4
    assert (own.violation is None) == (rules == "sound")


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("there", "--cluster there: this is no address"),
        ("http://there:1", "--cluster http://there:1: this is no address"),
        ("tcp://there", "--cluster tcp://there: this is no address"),
        ("tcp://127.0.0.1:99999", "--cluster tcp://127.0.0.1:99999: no scheduler answers there"),
    ],
)
def test_a_cluster_that_is_not_there(address: str, problem: str) -> None:
    pytest.importorskip("distributed")
    with pytest.raises(OptionProblem, match=f"^{problem}$"), joined(address):
        pass


def test_a_port_at_which_nobody_listens() -> None:
    pytest.importorskip("distributed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(OptionProblem, match="no scheduler answers there"), joined(f"tcp://127.0.0.1:{port}"):
        pass
