"""A bound is certified where both checkers say so: what the second one's word makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest

from checker.certificates import seconded
from checker.certificates.document import signed
from checker.certificates.evidence import proof
from checker.kernel import Ledger
from checker.notation import parse_kernel
from checker.oracles import Oracles
from checker.recheck import VACUOUS, Bad, Open, Report, recheck
from checker.synthesis import bound
from checker.synthesis.bound import Result
from checker.synthesis.outline import Outline, bare
from checker.synthesis.walk import Stuck
from logic.assertions import AtMost, Context, Launch, Obligation, Uniform
from logic.metrics import HARDWARE, METRICS
from logic.typing import check_kernel

PLAIN = "global int A[]; begin A[tid.x] <- 1; end"
BY_Z3 = """param int n; global int A[]; local int t, q;
begin t <- tid.x + n; q <- 6*tid.x + ((t & 3) == 2 || (t & 1) == 1 || (t & 3) == 0 ? 6 : 1);
if (q % 6 == 0) { A[t] <- 1; } else { A[0] <- 2; } end"""
HOLEY = "param int n; global int A[]; begin if (A[0] > n) { sync; } end"


@cache
def found(text: str, names: Sequence[str] = ("divwarps",)) -> tuple[Result, ...]:
    k = parse_kernel(f"kernel k {text}", "k")
    context = Context(check_kernel(k), METRICS["steps"], HARDWARE["nvidia"], Launch((32, 1, 1)))
    outline, metrics = Outline(k, context, bare(k.body)), [METRICS[n] for n in names]
    return tuple(bound.find_bounds(outline, metrics, Oracles(), backed=True))  # else another one is looked for


def test_what_only_z3_says_is_solver_backed() -> None:
    (result,) = found(BY_Z3)
    assert (result.verdict, str(result.claim and result.claim.bound)) == ("solver-backed", "0")
    assert result.second is not None
    (engine,) = result.second.engines
    assert engine.startswith("z3 ")
    (told,) = result.second.report.solver_backed
    assert "% 6" in told


def test_what_both_verified_is_certified_and_its_certificate_is_the_one_that_was_judged() -> None:
    (result,) = found(PLAIN)
    assert result.verdict == "certified"
    assert result.second is not None
    assert result.second.engines == []
    document = signed(result.second.document, {"warpbound": "1"})
    assert document["tools"] == {"warpbound": "1"}
    assert recheck(document).verdict == "valid"
    assert document["digest"] != result.second.document["digest"]


def test_a_claim_of_no_launch_is_not_proved() -> None:
    """Whatever else it rests on, and whoever takes a solver's word for enough."""
    (result,) = found(PLAIN)
    for others in ([], ["P |- e (unverified)"]):
        report = Report("vacuous", "", others, VACUOUS, "")
        assert seconded.verdict(report, result.ledger) == "not-proved"
        assert seconded.verdict(replace(report, verdict="solver-backed", problem=""), result.ledger) == "solver-backed"


def test_barriers_that_are_admitted_make_it_holey() -> None:
    (result,) = found(HOLEY)
    assert result.verdict == "holey"


@pytest.mark.parametrize("text", [PLAIN, BY_Z3, HOLEY], ids=["plain", "z3", "holey"])
def test_what_the_second_checker_refuses_is_not_proved(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the kernel says: no bound, and how to report it."""
    refused = Report("invalid", "", [], "derivation[0] Q:Weak: no", "")
    monkeypatch.setattr(seconded, "recheck", lambda _: refused)
    found.cache_clear()
    (result,) = found(text)
    found.cache_clear()
    assert (result.verdict, result.claim) == ("not-proved", None)
    assert isinstance(result.problem, Stuck)
    assert result.problem.message.endswith("the second checker refuses it: derivation[0] Q:Weak: no")
    assert "please report it" in result.problem.advice
    assert result.second is not None
    assert result.second.document["derivation"]


@pytest.mark.parametrize(
    ("error", "said"), [(RecursionError(), "it is nested too deeply to be written"), (Bad("it is long"), "it is long")]
)
def test_a_certificate_that_cannot_be_written_is_not_proved(
    error: Exception, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("checker.certificates.document.write", fail)
    found.cache_clear()
    (result,) = found(PLAIN)
    found.cache_clear()
    assert (result.verdict, result.claim) == ("not-proved", None)
    assert isinstance(result.problem, Stuck)
    assert result.problem.message.endswith(f"the second checker refuses it: {said}")


def test_why_a_claim_is_not_proved_and_whose_word_it_rests_on() -> None:
    """An entry of the evidence that is left open may be none that there is: the last were left out."""
    document, ledger = {"evidence": [{"engine": "z3 4"}, {"engine": "cvc5 1"}, {"engine": "z3 4"}]}, Ledger()
    backed = seconded.Seconded(
        document,
        Report("solver-backed", "", ["P |- e"], "", "", tuple(Open(i, None, "P", "e") for i in (0, 2, 3))),
        ledger,
    )
    assert (backed.engines, backed.vacuous) == (["z3 4"], False)
    vacuous = seconded.Seconded(document, Report("vacuous", "", [], VACUOUS, ""), ledger)
    assert (vacuous.vacuous, vacuous.advice, vacuous.problem) == (True, seconded.NOT_VACUOUS, f"vacuous: {VACUOUS}")


def test_each_certificate_is_judged_once_and_each_side_condition_proved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of four metrics, most of whose side conditions are the same."""
    judged: list[object] = []
    proved: list[Obligation] = []

    def judge(document: object) -> Report:
        judged.append(document)
        return recheck(document)

    def prove(o: Obligation, context: Context) -> object:
        proved.append(o)
        return proof(o, context)

    monkeypatch.setattr(seconded, "recheck", judge)
    monkeypatch.setattr(seconded, "proof", prove)
    found.cache_clear()
    results = found(BY_Z3, tuple(METRICS))
    found.cache_clear()
    assert len(judged) == len(results) == len(METRICS)
    assert len(proved) == len(set(proved)) < sum(len(r.ledger.discharged) for r in results)


def test_what_the_second_checker_was_not_asked_about_is_not_certified() -> None:
    k = parse_kernel(f"kernel k {PLAIN}", "k")
    context = Context(check_kernel(k), METRICS["steps"], HARDWARE["nvidia"], Launch((32, 1, 1)))
    (result,) = bound.find_bounds(Outline(k, context, bare(k.body)), [METRICS["steps"]], Oracles(), judge=False)
    assert (result.verdict, result.second) == ("solver-backed", None)
    assert bound.judged(result, k, seconded.Remembered()).verdict == "certified"


def test_nothing_is_asked_before_that_the_second_checker_sees_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Obligation] = []

    def prove(o: Obligation, context: Context) -> object:
        asked.append(o)
        return proof(o, context)

    monkeypatch.setattr(seconded, "proof", prove)
    found.cache_clear()
    (result,) = found("local int i; global int A[]; begin i <- 3; if (i < tid.x) { A[i] <- 1; } end", ("sectors",))
    found.cache_clear()
    assert result.verdict == "certified"
    assert any(isinstance(d.obligation, AtMost | Uniform) for d in result.ledger.discharged)
    assert not any(isinstance(o, AtMost | Uniform) for o in asked)


WINDOW = "param int n; global int A[]; begin A[64 * n + (A[tid.x] & 7)] <- 1; end"


def test_what_it_does_not_see_is_written_down_and_it_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the metrics that come later, at once."""
    judged: list[object] = []

    def judge(document: object) -> Report:
        judged.append(document)
        return recheck(document)

    monkeypatch.setattr(seconded, "recheck", judge)
    found.cache_clear()
    results = found(WINDOW, ("sectors", "steps"))
    found.cache_clear()
    assert [r.verdict for r in results] == ["certified", "certified"]
    assert len(judged) == 3
    for r in results:
        assert r.second is not None
        pairs = zip(r.ledger.discharged, r.second.document["evidence"], strict=True)
        (told,) = [e["proof"] for d, e in pairs if isinstance(d.obligation, AtMost) and e["proof"]]
        assert told["span"] == 7


def obligations() -> tuple[list[Obligation], Context]:
    """An access's count, five times at different numbers, and one of another kind."""
    (result,) = found(WINDOW, ("sectors",))
    assert result.claim is not None
    access = next(d.obligation for d in result.ledger.discharged if isinstance(d.obligation, AtMost))
    other = next(d.obligation for d in result.ledger.discharged if not isinstance(d.obligation, AtMost | Uniform))
    return [*(replace(access, n=n) for n in range(5)), other], result.claim.context


def test_no_more_counts_are_tried_where_three_are_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is decided without evidence, or has some, is none of the three; other obligations are tried all the same."""
    tried: list[Obligation] = []
    (*counts, other), context = obligations()
    known: dict[Obligation, object] = {counts[1]: []}

    def prove(o: Obligation, _: Context) -> object:
        tried.append(o)
        return known.get(o)

    monkeypatch.setattr(seconded, "decided", lambda o, *_: o == counts[0])
    proved = seconded._until_hopeless(prove)
    assert [proved(o, context) for o in (*counts[:2], other)] == [None, [], None]
    for o in (*counts[2:], counts[2], other):
        proved(o, context)
    assert tried == [*counts[:2], other, *counts[2:], other]
    known[other] = "a proof"
    assert proved(other, context) == "a proof"
    assert proved(counts[1], context) is None
    assert proved(other, context) == "a proof"


def test_what_is_remembered_is_tried_first() -> None:
    (*counts, other), context = obligations()
    remembered = seconded.Remembered(lambda o, _: "a proof" if o == other else "a window")
    assert [remembered.first(o, context) for o in (counts[0], other)] == [None, "a proof"]
    assert remembered(counts[0], context) == "a window"
    assert [remembered.first(o, context) for o in counts[:2]] == ["a window", None]
