"""Certificates judged twice, and new ones held against old ones: no growth goes unseen, none is made up."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest

from checker.certificates import audit as audits
from checker.certificates.audit import SOLVERS, Audited, Change, _points, about, audit, compare
from checker.certificates.document import canonical, digest
from checker.kernel import Claim
from checker.notation import parse_outline
from checker.oracles import Oracles
from checker.oracles.terms import value_of
from checker.report.sentences import sentence
from checker.synthesis.bound import find_bounds
from logic.assertions import Context, Obligation, Unknown, Verdict
from logic.metrics import METRICS
from logic.potentials import Leaf, evaluate, sym
from logic.refusals import Refusal
from logic.rules import RULE_SETS, SOUND
from logic.syntax import Param

LOOP = "x <- 0; while (x < n) { A[tid.x] <- 1; x <- x + 1; }"
TWICE = "x <- 0; while (x < n) { A[tid.x] <- 1; A[tid.x] <- 2; x <- x + 1; }"


@cache
def certificate(
    body: str, given: str = "", block: str = "32", params: str = "int n, m", metric: str = "sectors"
) -> str:
    """The text of a certificate of a bound on a program."""
    asked = f"requires {given};" if given else ""
    header = f"kernel k\nmetric {metric}\nblock {block}\nparam {params};\nglobal int A[];\nlocal int x, y;\n{asked}\n"
    outline = parse_outline(f"{header}begin\n{body}\nend", "k.qhl")
    (found,) = find_bounds(outline, (METRICS[metric],), Oracles())
    assert found.second is not None, found.problem
    return canonical(found.second.document)


def edited(text: str, **parts: object) -> str:
    """A certificate with other parts, and the digest made anew."""
    document = json.loads(text) | parts
    document["digest"] = digest(document)
    return canonical(document)


@cache
def judged(text: str, path: str = "k.json") -> Audited:
    return audit(text, path, SOUND, Oracles())


def change(old: str, new: str) -> Change:
    return compare(judged(old, "old.json"), judged(new, "new.json"), Oracles())


def bounds(c: Change) -> tuple[Fraction | None, Fraction | None]:
    """Both bounds at the point of a change."""
    store: dict[Leaf, int] = {Param(name): n for name, n in c.at.items()}
    was, now = (a.outcome for a in (c.old, c.new))
    assert isinstance(was, Claim)
    assert isinstance(now, Claim)
    return evaluate(was.bound, store), evaluate(now.bound, store)


def test_solvers_have_so_much_time_for_a_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    """What took part of it before begins anew."""
    text = certificate(LOOP)
    oracle = Oracles()
    oracle.allow(0.0)
    assert isinstance(audit(text, "k.json", SOUND, oracle).outcome, Claim)
    assert 0 < oracle._desk.patience.left <= SOLVERS
    monkeypatch.setattr(audits, "SOLVERS", 0.0)
    audit(text, "k.json", SOUND, oracle)
    assert oracle._desk.patience.left <= 0


def test_both_checkers_are_asked() -> None:
    a = judged(certificate(LOOP))
    assert isinstance(a.outcome, Claim)
    assert a.second is not None
    assert a.second.verdict == "valid"
    assert a.metric.name == "sectors"


def test_what_only_the_second_checker_refuses() -> None:
    """The kernel reads no evidence."""
    text = certificate(LOOP)
    wrong = [{"engine": "x", "proof": [{"goal": None}]} for _ in json.loads(text)["evidence"]]
    a = judged(edited(text, evidence=wrong))
    assert isinstance(a.outcome, Refusal)
    assert sentence(a.outcome).startswith("the second checker refuses it: ")


def test_a_barrier_more_is_admitted_than_needed() -> None:
    text = certificate("sync;")
    assert json.loads(text)["admitted"] == []
    a = judged(edited(text, admitted=[0]))
    assert isinstance(a.outcome, Refusal)
    assert sentence(a.outcome) == "what the certificate admits is not what its derivation needs"


def test_the_same() -> None:
    text = certificate(LOOP)
    found = change(text, text)
    assert (found.bound, found.worse, found.added, found.dropped, found.at) == ("same", False, (), (), {})


def test_grew() -> None:
    found = change(certificate(LOOP), certificate(TWICE))
    assert (found.bound, found.worse) == ("grew", True)
    assert (found.before, found.after) == bounds(found) == (Fraction(4), Fraction(8))
    assert found.at == {"n": 1}


def test_lower() -> None:
    found = change(certificate(TWICE), certificate(LOOP))
    assert (found.bound, found.worse) == ("lower", False)
    assert (found.before, found.after) == bounds(found) == (Fraction(8), Fraction(4))


def test_growth_that_one_value_shows() -> None:
    """Lower almost everywhere is not lower."""
    found = change(certificate(LOOP, params="int n, m"), certificate("A[tid.x] <- 1;"))
    assert found.bound == "grew"
    assert found.at == {"n": 0}
    assert (found.before, found.after) == (Fraction(0), Fraction(4))


def test_growth_is_looked_for_where_both_launches_are() -> None:
    """From n == 1 on one access is not more than n of them."""
    found = change(certificate(LOOP, given="n >= 1"), certificate("A[tid.x] <- 1;"))
    assert found.bound == "lower"
    assert found.dropped == ("given: n >= 1",)
    assert not found.worse
    within = change(certificate(LOOP), certificate("A[tid.x] <- 1;", given="n >= 1"))
    assert within.bound == "lower"
    assert within.added == ("given: n >= 1",)
    assert within.worse


def test_an_assumption_that_follows_from_the_old_ones_is_not_added() -> None:
    old, new = certificate(LOOP, given="n % 16 == 0 && n >= 2"), certificate(LOOP, given="n % 8 == 0 && n > 1")
    found = change(old, new)
    assert (found.bound, found.added, found.worse) == ("same", (), False)
    assert found.dropped == ("given: n % 16 == 0",)
    back = change(new, old)
    assert back.added == ("given: n % 16 == 0",)
    assert back.worse


def test_an_assumption_about_a_new_parameter_is_added() -> None:
    found = change(certificate(LOOP, params="int n"), certificate(LOOP, given="m >= 0"))
    assert found.added == ("given: m >= 0",)
    other = change(certificate(LOOP, params="int n; param float m"), certificate(LOOP, given="m - m >= 0"))
    assert other.added == ("given: m - m >= 0", "a call with (int n, int m)")


def test_a_parameter_that_is_gone() -> None:
    """What the old bound said of it counts all the same."""
    body = "A[tid.x] <- 1; x <- 0; while (x < m) { A[tid.x] <- 1; x <- x + 1; }"
    found = change(certificate(body), certificate("A[tid.x] <- 1;", params="int n"))
    assert (found.bound, found.worse) == ("lower", False)


def test_a_parameter_of_another_type() -> None:
    body = "A[tid.x] <- 1; x <- 0; while (x < m) { A[tid.x] <- 1; x <- x + 1; }"
    found = change(certificate(body), certificate("A[tid.x] <- 1;", params="float m"))
    assert (found.bound, found.worse) == ("unclear", True)


def test_a_narrower_launch_is_added() -> None:
    def sized(blocks: int, text: str) -> str:
        return edited(text, launch=json.loads(text)["launch"] | {"grid": [blocks, 1, 1]})

    text = certificate(LOOP)
    narrow = sized(4, text)
    found = change(text, narrow)
    assert (found.bound, found.added) == ("same", ("a grid of 4",))
    assert found.worse
    assert change(narrow, text).dropped == ("a grid of 4",)
    assert not change(narrow, text).worse
    assert change(narrow, sized(8, text)).added == ("a grid of 8",)


def test_other_hardware_is_added() -> None:
    text = certificate(LOOP)
    wide = edited(text, hardware=json.loads(text)["hardware"] | {"name": "wide", "sector": 64})
    found = change(text, wide)
    assert found.added == ("custom hardware wide (sector 64, word 4, alignment 256, banks 32, warp 32)",)
    assert found.dropped == ("hardware nvidia",)
    assert found.worse
    named = edited(text, hardware=json.loads(text)["hardware"] | {"name": "mine"})
    assert change(text, named).added == ()


def test_a_barrier_that_is_admitted_is_added() -> None:
    old, new = certificate("sync;"), certificate("if (tid.x < 5) { sync; }")
    found = change(old, new)
    assert found.added == ("all threads of a block reach these barriers together: #0",)
    assert found.worse
    back = change(new, old)
    assert (back.added, back.worse) == ((), False)


def test_a_solvers_word_is_added() -> None:
    text = certificate(LOOP)
    bare = [entry | {"proof": None} for entry in json.loads(text)["evidence"]]
    found = change(text, edited(text, evidence=bare))
    assert found.added
    assert all(text.startswith("not verified: derivation[") for text in found.added)
    assert found.worse
    assert not change(edited(text, evidence=bare), text).worse
    assert not change(edited(text, evidence=bare), edited(text, evidence=bare)).worse


def test_another_barrier_is_admitted() -> None:
    first = certificate("if (tid.x < 5) { sync; } sync;")
    second = certificate("sync; if (tid.x < 5) { sync; }")
    assert change(first, second).added == ("all threads of a block reach these barriers together: #1",)


def test_parameters_in_another_order() -> None:
    """The same call means something else."""
    found = change(certificate(LOOP), certificate(LOOP, params="int m, n"))
    assert (found.bound, found.added, found.worse) == ("same", ("a call with (int m, int n)",), True)
    assert change(certificate(LOOP), certificate(LOOP, params="int k, n, m")).added == ()
    assert change(certificate(LOOP), certificate(LOOP, params="int n")).added == ()


def test_blocks_that_only_sizes_allow() -> None:
    """Blocks of any size are those that CUDA allows; a certificate may be about larger ones."""
    text = certificate(LOOP)
    launch = json.loads(text)["launch"]
    large = edited(text, launch=launch | {"block": [2048, 1, 1]})
    symbolic = edited(text, launch=launch | {"block": [None, 1, 1]})
    assert change(large, symbolic).added == ("at most 1024 threads along each axis of a block",)
    assert change(text, symbolic).added == ()


BLOCK = "x <- 0; while (x < blockDim.x) { A[tid.x] <- 1; x <- x + 1; }"


def test_sizes_of_the_old_launch_hold_of_the_comparison() -> None:
    """A claim for any block is not higher than one for blocks of 32, where that one says something."""
    found = change(certificate(BLOCK), certificate(BLOCK, block="_"))
    assert (found.bound, found.added, found.dropped) == ("same", (), ("blocks of 32",))
    assert not found.worse


def test_warps_that_are_there() -> None:
    """Blocks of 32 have one warp, so that no second one costs more."""
    context = judged(certificate(LOOP)).certificate.context
    points = list(_points({"warp.index", "n"}, context, {}))
    assert points
    assert {point["warp.index"] for point in points} == {0}
    wide = replace(context, launch=replace(context.launch, block=(64, 1, 1)))
    assert {point["warp.index"] for point in _points({"warp.index"}, wide, {})} == {0, 1}
    any_ = replace(context, launch=replace(context.launch, block=(None, 1, 1)))
    for point in _points({"warp.index"}, any_, {}):
        assert 0 <= point["warp.index"] * 32 < point["blockDim.x"] <= 1024


def test_who_says_so() -> None:
    assert change(certificate(TWICE), certificate(LOOP)).engine
    assert change(certificate(LOOP), certificate(TWICE)).engine == ""


def test_nothing_satisfies_what_is_assumed() -> None:
    text = certificate(LOOP, given="n >= 0")
    launch = json.loads(text)["launch"]
    (fact,) = launch["assumptions"]
    assert not judged(text).vacuous
    less = ["op", "<", fact[2], fact[3]]
    assert judged(edited(text, launch=launch | {"assumptions": [fact, less]})).vacuous


def test_a_point_satisfies_what_is_assumed() -> None:
    found = change(certificate(LOOP, given="n >= 5 && m == 2*n"), certificate(TWICE, given="n % 7 == 0"))
    assert found.bound == "grew"
    n = found.at["n"]
    assert n >= 5
    assert n % 7 == 0
    facts = (f for c in (found.old, found.new) for f in c.certificate.context.launch.assumptions)
    assert all(value_of(f, {"n": n, "m": 2 * n}) for f in facts)


def test_what_cannot_be_compared() -> None:
    sectors, steps = judged(certificate(LOOP)), judged(certificate(LOOP, metric="steps"))
    assert about(sectors) != about(steps)
    assert about(sectors) == about(judged(certificate(TWICE, given="n >= 0", block="64")))
    with pytest.raises(TypeError, match="does not prove its claim"):
        compare(sectors, judged(edited(certificate(LOOP), evidence=[])), Oracles())


def test_what_is_about_the_same() -> None:
    text = certificate(LOOP)
    a = judged(text)
    dearer = edited(text, metric={"name": "mine", "fixed": {}, "counted": {"gwrite": ["2", "0"]}})
    dearest = edited(text, metric={"name": "mine", "fixed": {}, "counted": {"gwrite": ["3", "0"]}})
    assert len({about(a), about(judged(dearer)), about(judged(dearest))}) == 3
    block = replace(a, certificate=replace(a.certificate, sums=(("warp.index", sym(Param("n"))),)))
    assert about(block) != about(a)


def test_another_rule_set() -> None:
    a = audit(certificate(LOOP), "k.json", RULE_SETS["paper"], Oracles())
    assert isinstance(a.outcome, Refusal)
    assert sentence(a.outcome) == "it was written for another rule set"
    assert not a.ledger.discharged  # the kernel is not asked: that has no bound


def test_a_claim_that_is_not_proved_to_be_no_higher() -> None:
    """A refusal of the oracles is no growth and no proof."""

    class Silent(Oracles):
        def __call__(self, _: Obligation, context: Context) -> Verdict:  # noqa: ARG002
            return Unknown("nobody")

    old, new = judged(certificate(TWICE)), judged(certificate(LOOP))
    found = compare(old, new, Silent())
    assert (found.bound, found.worse) == ("unclear", True)
