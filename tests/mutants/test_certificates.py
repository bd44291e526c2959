"""A sample of the mutants of certificates (`make mutants` tries every one), and that the trial sees what is wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from checker.certificates.claims import shown
from checker.certificates.document import digest
from checker.recheck import recheck
from checker.testbed.cluster import Cluster
from logic.potentials import const
from proofs.features.make import FEATURES
from proofs.make import committed
from tests.checker.testbed.test_cluster import Odd
from tests.mutants.certificates import (
    Survivor,
    Tally,
    judge,
    leaves,
    mutant,
    original,
    other,
    page,
    quick,
    reason,
    refutation,
    trial,
)
from tests.mutants.quick import signed


@cache
def sample() -> Tally:
    """Every so-manieth mutant of some smaller certificates."""
    names = ("vectorAdd/steps", "vectorAdd/sectors", "addSub3/sectors", "reduce2/divwarps")
    return trial(names, every=23, again=10)


@pytest.mark.whole
def test_a_sample_of_mutants_is_refused_or_explained() -> None:
    tally = sample()
    assert sum(tally.tried.values()) > 200
    assert tally.unexplained == []
    assert {s.what for s in tally.survivors} <= {"accepted", "kernel only", "second only"}
    accepted = [s for s in tally.survivors if s.what == "accepted"]
    assert 0 < len(accepted) < sum(tally.tried.values()) // 5


EVIDENCE = {
    "features/apart": (
        ("evidence", 15, "proof", 0, "by", 0, "no", "sum", 0, 0),
        "another proof: a sum that is -1 in place of the goal, or a fact beside what is seen without it",
    ),
    "features/any-sign": (
        ("evidence", 3, "proof", "span"),
        "the second checker cannot decide it and says so: solver-backed, not valid",
    ),
}


@pytest.mark.parametrize("name", EVIDENCE)
def test_evidence_that_says_as_much_or_too_little_has_a_reason(name: str) -> None:
    route, why = EVIDENCE[name]
    (number,) = (i for i, (at, _) in enumerate(original(name)[1]) if at == route)
    found = judge(name, number)
    assert found is not None
    assert reason(found) == why


def test_every_feature_was_tried() -> None:
    rows = Path("docs/mutants-certificates.md").read_text(encoding="ascii")
    assert [name for name in FEATURES if f"| features/{name} |" not in rows] == []


def test_results_in_a_folder_are_the_same(tmp_path: Path) -> None:
    first = trial(["vectorAdd/steps"], processes=1, every=40, folder=tmp_path)
    assert trial(["vectorAdd/steps"], processes=1, every=40) == first
    (file,) = tmp_path.iterdir()
    count, survivors = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps((count + 1, survivors)), encoding="utf-8")
    again = trial(["vectorAdd/steps"], processes=1, every=40, folder=tmp_path)
    assert (again.tried["vectorAdd/steps"], again.survivors) == (count + 1, first.survivors)


@pytest.mark.parametrize("answers", [(), (None, ("vectorAdd/steps", 1, []), ("vectorAdd/steps", 10**6, [3]))])
def test_a_cluster_that_loses_work_or_talks_nonsense_changes_nothing(answers: tuple[Any, ...]) -> None:
    names, pool = ["vectorAdd/steps", "addSub0/steps"], Odd(*answers)
    own = trial(names, processes=1, every=150)
    assert trial(names, every=150, cluster=Cluster(pool, 1)) == own
    assert pool.given == 2
    assert set(own.tried) == set(names)


def test_what_both_accept_is_no_part_of_the_derivation() -> None:
    places = {s.place for s in sample().survivors if s.what == "accepted"}
    assert "derivation[].at[]" in places
    assert {
        p for p in places if p.startswith(("derivation", "expressions", "statements", "potentials", "assertions"))
    } <= {
        "derivation[].at[]",
        "derivation[].with.n",
    }


def test_a_mutant_differs_in_one_leaf_and_has_its_digest() -> None:
    for name, metric, _ in committed()[:5]:
        document, places = original(f"{name}/{metric}")
        for route, old in places[::17]:
            changed = signed(mutant(document, route, other(document, route, old)))
            assert changed["digest"] == digest(changed) != document["digest"]
            before, after = dict(places), dict(leaves(changed))
            assert [r for r in before if before[r] != after[r] or type(before[r]) is not type(after[r])] == [route]


def test_a_smaller_bound_is_refused_by_both() -> None:
    document, places = original("vectorAdd/sectors")
    index = document["derivation"][-1]["with"]["Q"]
    number = next(i for i, (route, _) in enumerate(places) if route[:2] == ("potentials", index))
    assert judge("vectorAdd/sectors", number) is None


@pytest.mark.whole
def test_what_is_remembered_is_not_taken_for_granted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked again, both checkers say the same of a mutant; where they do not, the trial ends."""
    name = "vectorAdd/sectors"
    numbers = [i for i, (route, _) in enumerate(original(name)[1]) if route[0] in ("derivation", "evidence")]
    judged = {number: judge(name, number, again=True) for number in numbers[::3]}
    assert {s and s.what for s in judged.values()} >= {None, "kernel only"}
    refused = next(number for number, s in judged.items() if s is None)
    monkeypatch.setattr(quick(name), "second", lambda _: recheck(original(name)[0]))
    with pytest.raises(RuntimeError, match="say something else"):
        judge(name, refused, again=True)


def test_what_rests_on_a_solver_is_remembered_where_nothing_else_changes() -> None:
    """0 words in a bank cost as much as 1, so all that follows is as it was; but no lane has 0."""
    name = "features/swizzle"
    document, places = original(name)
    route = next(at for at, old in places if at[0] == "derivation" and at[2:] == ("with", "n") and old == 1)
    changed = mutant(document, route, 0)
    assert quick(name).second(document).verdict == "valid"
    assert quick(name).second(changed).verdict == recheck(signed(changed)).verdict == "solver-backed"


def test_runs_refute_a_bound_that_is_too_small() -> None:
    for name in ("vectorAdd/sectors", "vectorAdd/divwarps", "addSub0/divwarps"):
        claim = quick(name).claim
        assert claim is not None
        bound, context = shown(claim), claim.context
        assert refutation(claim.kernel, context, bound) == ""
        assert "costs" in refutation(claim.kernel, context, bound - const(Fraction(1, 2)))


def test_runs_that_break_what_is_assumed_refute_nothing() -> None:
    claim = quick("features/assumption-inside").claim
    assert claim is not None
    assert refutation(claim.kernel, claim.context, shown(claim)) == ""
    assert " costs " in refutation(claim.kernel, claim.context, const(-1))
    claim = quick("features/admitted-barrier").claim
    assert claim is not None
    short = replace(claim.kernel, arrays=tuple(replace(a, length=1) for a in claim.kernel.arrays))
    assert "barrier divergence" in refutation(short, claim.context, shown(claim))
    assert refutation(short, claim.context, shown(claim), admitted=True) == ""


def test_the_trial_tells_what_is_wrong() -> None:
    survivor = next(s for s in sample().survivors if s.what == "accepted" and not s.claim)
    wrong = (
        replace(survivor, claim="bound"),
        replace(survivor, problem="a run costs more"),
        replace(survivor, what="second only", second="valid"),
        replace(survivor, route=("statements", 3, 2)),
    )
    assert [reason(s) for s in wrong] == ["", "", "", ""]
    assert reason(survivor)
    text = page(Tally({survivor.certificate: 1}, [wrong[0]]), "make mutants")
    assert "**unexplained**" in text
    assert "## Unexplained" in text


def test_other_evidence_needs_a_reason_of_its_own() -> None:
    """How often a case is taken may differ by what the goal and -1 do, and a fact if none needs it; nothing else."""
    rows = original("matMul/sectors")[0]["evidence"]
    i = next(i for i, entry in enumerate(rows) if '"case"' in json.dumps(entry["proof"]) and len(entry["proof"]) == 2)
    case = ("evidence", i, "proof", 1, "by", 0, "no", "sum", 2, 0)
    explained = [Survivor("matMul/sectors", case, "31", "32", "accepted", "valid", "", "")]
    wrong = [
        replace(explained[0], route=(*case[:-2], 1, 0)),
        replace(explained[0], claim="bound"),
        replace(explained[0], what="second only"),
        replace(explained[0], certificate="fan2/divwarps", route=("evidence", 41, "proof", 2, "goal", 0)),
    ]
    assert all(map(reason, explained))
    assert not any(map(reason, wrong))
