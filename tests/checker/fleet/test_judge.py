"""Nobody is believed: not a cache that was poisoned, not a worker. What counts is the second checker, and that the
certificate is about what was asked about."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import Executor, Future
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from checker.certificates.document import canonical, digest, read
from checker.certificates.reread import subject, subject_of
from checker.fleet import cache as kept
from checker.fleet.desk import Desk, Listed
from checker.fleet.files import Source
from checker.fleet.judge import Judged, judged, reported
from checker.fleet.rows import Claimed, Found, Read, bare, of_judged
from checker.fleet.workers import Job
from checker.recheck import VACUOUS, Open, recheck
from logic.metrics import METRICS
from logic.potentials import const
from logic.source import Loc

PROOFS = Path(__file__).resolve().parents[3] / "proofs"
GOOD = (PROOFS / "vectorAdd/sectors.json").read_text()
OTHER = (PROOFS / "addSub0/sectors.json").read_text()
ABOUT = subject(json.loads(GOOD))
Json = Any


def changed(change: Callable[[Json], object], text: str = GOOD) -> str:
    """A certificate with a change, and a digest that fits."""
    document = deepcopy(json.loads(text))
    change(document)
    document["digest"] = digest(document)
    return canonical(document)


def cheaper(document: Json) -> None:
    """Every constant of a potential one less."""
    for row in document["potentials"]:
        for term in row:
            if not term[1]:
                term[0] = str(int(term[0]) - 1)


def test_the_bound_is_what_the_second_checker_proved() -> None:
    word = judged(GOOD, ABOUT)
    assert (word.word, str(word.bound), word.digest) == ("certified", "12", json.loads(GOOD)["digest"])


@pytest.mark.parametrize("name", ["matMul", "addSub3", "histogram256", "reduce3"])
def test_a_bound_is_read_as_the_report_has_it(name: str) -> None:
    """Potentials of the second checker are those of the first: the root's precondition."""
    path = PROOFS / name / "sectors.json"
    made = read(path.read_text(), str(path))
    word = judged(path.read_text(), subject(json.loads(path.read_text())))
    assert word.bound is not None
    assert word.bound == made.derivation.substitution.get("Q", word.bound)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (cheaper, "the second checker refuses it"),
        (lambda d: d["derivation"].pop(), "the second checker refuses it"),
        (lambda d: d["launch"].update(assumptions=[["const", ["bool", "bool", 1], False]]), "about another"),
        (lambda d: d["launch"].update(block=[32, 1, 1]), "about another"),
        (lambda d: d["hardware"].update(sector=64), "about another"),
        (lambda d: d.update(scope="block"), "about another"),
        (lambda d: d.update(sums=[["warp.index", 0]]), "about another"),
        (lambda d: d["kernel"].update(name="k"), "about another"),
        (lambda d: d["kernel"]["arrays"][0].__setitem__(3, 8), "about another"),
        (lambda d: d["kernel"].update(body=0), "about another"),
        (lambda d: d["metric"].update(name="steps"), "about another"),
        (lambda d: d.update(statements=7), "no certificate"),
        (lambda d: d.pop("kernel"), "no certificate"),
    ],
)
def test_what_was_changed_is_refused(change: Callable[[Json], object], problem: str) -> None:
    word = judged(changed(change), ABOUT)
    assert (word.word, word.bound) == ("not-proved", None)
    assert problem in word.problem


@pytest.mark.parametrize("text", ["", "7", "null", "[]", "{}", "[" * 100_000, '{"statements": [["seq"]]}', "\ud800"])
def test_nonsense_is_no_certificate(text: str) -> None:
    assert judged(text, ABOUT).word == "not-proved"


def test_a_certificate_of_another_kernel_is_not_accepted() -> None:
    word = judged(OTHER, ABOUT)
    assert (word.word, word.bound) == ("not-proved", None)
    assert judged(OTHER, subject(json.loads(OTHER))).certified


def test_who_admits_barriers_certifies_nothing() -> None:
    text = (PROOFS / "matMul/sectors.json").read_text()
    holey = changed(lambda d: d.update(admitted=[0]), text)
    word = judged(holey, subject(json.loads(text)))
    assert (word.word, word.admitted) == ("holey", (0,))


def test_what_rests_on_a_solver_is_not_certified() -> None:
    text = (PROOFS / "features" / "quotient.json").read_text()
    bare = changed(lambda d: [entry.update(proof=None) for entry in d["evidence"]], text)
    word = judged(bare, subject(json.loads(text)))
    assert (word.word, len(word.backed), bool(word.engines)) == ("solver-backed", len(word.open), True)
    assert word.open
    assert not word.certified


def test_what_no_launch_satisfies_is_not_proved() -> None:
    less = ["op", "<", ["param", "blockDim.x"], ["const", ["int", "int", 4], 1]]
    text = changed(lambda d: d["launch"].update(assumptions=[less]))
    word = judged(text, subject(json.loads(text)))
    assert (word.word, word.problem, word.bound) == ("not-proved", f"vacuous: {VACUOUS}", None)
    assert reported(word).verdict == "vacuous"


def test_a_subject_does_not_depend_on_the_numbers_of_tables() -> None:
    made = read(GOOD, "good.json")
    assert subject_of(made.kernel, made.context, "warp") == ABOUT
    assert subject_of(made.kernel, made.context, "block") != ABOUT
    document = json.loads(GOOD)
    shifted = deepcopy(document)
    shifted["expressions"].append(["param", "unused"])
    assert subject(shifted) == ABOUT


# --- the desk ---------------------------------------------------------------------------------------------------------


class Here(Executor):
    """Judges in this process."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **more: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(fn(*args, **more))
        return done


def desk(folder: Path) -> tuple[Desk, Job, Read]:
    """A desk with a cache, at which vectorAdd was read."""
    made = read(GOOD, "good.json")
    metric = METRICS["sectors"]
    cache = kept.opened(folder, "v")
    found = Desk([Source("a.cu", "a.cu")], [metric], "warp", Here, cache)
    job = Job(0, None)
    found.told(job, None, Listed(("vectorAdd",)))
    kernel = bare(made.kernel, "vectorAdd")
    return found, job, Read("vectorAdd", kernel, made.context, "warp", (), {"sectors": ABOUT})


def answer(found: Desk, job: Job, read: Read) -> list[str]:
    """What the worker is told to search."""
    future = found.asked(job, 0, read)
    found.finish()
    return list(future.result(timeout=0))


def test_a_hit_is_a_row(tmp_path: Path) -> None:
    found, job, read = desk(tmp_path)
    assert found.cache is not None
    kept.keep(found.cache, ABOUT, GOOD)
    assert answer(found, job, read) == []
    ((key, row),) = found.in_order()
    assert (key, row["bound"], row["verdict"], row["cached"]) == ((0, 0, 0), "12", "certified", True)


@pytest.mark.parametrize(
    "text", [changed(cheaper), OTHER, "{}", changed(lambda d: d.update(admitted=[0])), "\x00" * 100, ""]
)
def test_a_poisoned_cache_costs_time_and_no_more(text: str, tmp_path: Path) -> None:
    found, job, read = desk(tmp_path)
    assert found.cache is not None
    kept.keep(found.cache, ABOUT, text)
    assert answer(found, job, read) == ["sectors"]
    assert found.rows == {}
    found.told(job, 0, Found("sectors", GOOD, "", 1.0))  # the search finds it
    found.finish()
    ((_, row),) = found.in_order()
    assert (row["verdict"], row["bound"], row["cached"]) == ("certified", "12", False)
    assert kept.found(kept.place(found.cache, ABOUT)) == GOOD  # and what was wrong is gone


def test_what_is_kept_and_admits_barriers_is_no_hit(tmp_path: Path) -> None:
    """It proves less than what a search may find."""
    text = (PROOFS / "matMul/sectors.json").read_text()
    about = subject(json.loads(text))
    found, job, read = desk(tmp_path)
    assert found.cache is not None
    kept.keep(found.cache, about, changed(lambda d: d.update(admitted=[0]), text))
    assert answer(found, job, replace(read, subjects={"sectors": about})) == ["sectors"]
    assert found.rows == {}


def test_a_subject_is_about_every_statement() -> None:
    document = json.loads((PROOFS / "matMul/sectors.json").read_text())
    other = deepcopy(document)
    other["kernel"]["body"] -= 1
    assert subject(other) != subject(document)
    (at,) = [i for i, row in enumerate(document["statements"]) if row[0] == "write" and row[1] == "C"]
    other = deepcopy(document)
    other["statements"][at][1] = "A"
    assert subject(other) != subject(document)


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (Found("sectors", changed(cheaper), "", 1.0), "refuses it"),
        (Found("sectors", OTHER, "", 1.0), "about another"),
        (Found("sectors", None, "no way", 1.0), "no way"),
        (Found("sectors", 7, "no way", "x"), "no way"),  # type: ignore[arg-type]
    ],
)
def test_a_worker_is_not_believed(said: Found, problem: str, tmp_path: Path) -> None:
    found, job, read = desk(tmp_path)
    assert answer(found, job, read) == ["sectors"]
    found.told(job, 0, said)
    found.finish()
    ((_, row),) = found.in_order()
    assert (row["verdict"], row["bound"], row["certificate"]) == ("not-proved", None, None)
    assert problem in row["problem"]
    assert not list(kept.entries(tmp_path))


SAYS = "`warpbound bound a.cu` says for what; --accept solver-backed takes that for enough"


@pytest.mark.parametrize(
    ("word", "problem"),
    [
        (Judged("solver-backed", "d", const(7), (), ("P |- P'",), ("z3",)), f"it rests on the word of z3. {SAYS}"),
        (
            Judged("solver-backed", "d", const(7), (), ("P |- P'",), ("z3",), (4, 5)),
            f"a.cu:4:5: it rests on the word of z3. {SAYS}",
        ),
        (Judged("solver-backed", "d", const(7), (), ("vacuous: no launch",)), "vacuous: no launch"),
        (Judged("holey", "d", const(7), ()), "barriers are assumed to be reached by whole blocks"),
    ],
)
def test_what_a_bound_rests_on_is_its_problem(word: Judged, problem: str, tmp_path: Path) -> None:
    *_, read = desk(tmp_path)
    read = replace(read, bare=replace(read.bare, loc=Loc("a.cu", 1, 1)))
    row = of_judged(read, METRICS["sectors"], word, 1.0, False)
    assert (row["verdict"], row["bound"], row["problem"]) == (word.word, "7", problem)


class Counted(Here):
    """Counts what it judges."""

    asked = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **more: Any) -> Future[Any]:
        self.asked += 1
        return super().submit(fn, *args, **more)


@pytest.mark.parametrize(
    ("claimed", "told", "words", "verdict", "asked"),
    [
        (GOOD, GOOD, ("valid", ()), "certified", 1),  # what the worker heard is the row
        (changed(cheaper), GOOD, ("invalid", ()), "certified", 2),  # another text is judged by itself
        (GOOD, changed(cheaper), ("valid", ()), "not-proved", 2),
        (OTHER, OTHER, ("invalid", ()), "not-proved", 1),
    ],
)
def test_a_worker_asks_and_only_the_same_text_is_not_judged_again(
    claimed: str, told: str, words: tuple[str, tuple[Open, ...]], verdict: str, asked: int, tmp_path: Path
) -> None:
    found, job, read = desk(tmp_path)
    judges = Counted()
    found.cache, found.court = None, lambda: judges
    assert answer(found, job, read) == ["sectors"]
    future = found.asked(job, 0, Claimed("sectors", claimed))
    found.finish()
    word = reported(future.result(timeout=0))
    assert (word.verdict, word.open) == words
    assert found.rows == {}
    found.told(job, 0, Found("sectors", told, "", 1.0))
    found.finish()
    ((_, row),) = found.in_order()
    assert (row["verdict"], judges.asked) == (verdict, asked)


CERTIFIED, LOWER = Judged("certified", "d", const(9)), Judged("certified", "e", const(8))
BACKED = Judged("solver-backed", "f", const(4), backed=("P |- P'",), engines=("z3",))
REFUSED = Judged("not-proved", problem="too much work")


@pytest.mark.parametrize(
    ("words", "verdict", "bound"),
    [
        ([], "timeout", None),
        ([REFUSED], "timeout", None),
        ([BACKED, REFUSED], "solver-backed", "4"),
        ([CERTIFIED, BACKED, REFUSED], "certified", "9"),
        ([BACKED, CERTIFIED, LOWER], "certified", "8"),
    ],
)
def test_what_was_judged_is_a_row_though_its_worker_is_ended(
    words: list[Judged], verdict: str, bound: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("checker.fleet.desk.judged", lambda text, _: words[int(text)])
    found, job, read = desk(tmp_path)
    said: list[str] = []
    found.warns = said.append
    found.metrics, read = (METRICS["sectors"], METRICS["steps"]), replace(read, subjects={"sectors": "", "steps": ""})
    found.reads[0, 0] = read
    for i in range(len(words)):
        found.asked(job, 0, Claimed("sectors", str(i)))
        found.finish()
    assert found.rows == {}
    found.failed(job, 0, "timeout", "more than 5 s", 5.0)
    rows = [(row["metric"], row["verdict"], row["bound"]) for _, row in found.in_order()]
    assert rows == [("sectors", verdict, bound), ("steps", "timeout", None)]
    assert not list(kept.entries(tmp_path))  # with more time there may be a lower one
    ended = "a.cu: warning: vectorAdd, sectors: the search was ended (more than 5 s), this is its best bound so far"
    assert (ended in said) == (bound is not None)


@pytest.mark.parametrize(("part", "metric"), [(0, "joules"), (1, "sectors"), (None, "sectors")])
def test_who_asks_about_what_nobody_wants_is_refused(part: int | None, metric: str, tmp_path: Path) -> None:
    found, job, read = desk(tmp_path)
    assert answer(found, job, read) == ["sectors"]
    word = reported(found.asked(job, part, Claimed(metric, GOOD)).result(timeout=0))
    assert (word.verdict, word.problem) == ("invalid", "nobody asked for this")


def test_what_a_word_says_of_a_report_is_what_the_report_says() -> None:
    document = json.loads(GOOD)
    assert document["evidence"]
    for entry in document["evidence"]:
        entry["proof"] = None
    document["digest"] = digest(document)
    for text in (GOOD, json.dumps(document), changed(cheaper)):
        report, word = recheck(json.loads(text)), reported(judged(text, ABOUT))
        assert (word.verdict, word.digest, word.solver_backed, word.open) == (
            report.verdict,
            report.digest,
            report.solver_backed,
            report.open,
        )
    vacuous = reported(Judged("not-proved", "d", problem=f"vacuous: {VACUOUS}", vacuous=True))
    assert (vacuous.verdict, vacuous.problem, vacuous.solver_backed) == ("vacuous", VACUOUS, [])


def test_nonsense_from_a_worker_is_nothing(tmp_path: Path) -> None:
    found, job, read = desk(tmp_path)
    found.told(job, 0, Found("sectors", GOOD, "", 1.0))  # before it was read
    assert answer(found, job, read) == ["sectors"]
    for said in (Found("joules", GOOD, "", 1.0), 7, None, ("found", GOOD)):
        found.told(job, 0, said)
    found.finish()
    assert found.rows == {}
    found.failed(job, 0, "crashed", "ended by SIGSEGV", 1.5)
    ((_, row),) = found.in_order()
    assert (row["kernel"], row["verdict"], row["problem"]) == ("vectorAdd", "crashed", "ended by SIGSEGV")


def test_a_cache_that_is_full_is_said_once_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kept, "_put", full)
    (tmp_path / kept.MARK).touch()
    said: list[str] = []
    found, job, read = desk(tmp_path)
    found.warns = said.append
    answer(found, job, read)
    found.told(job, 0, Found("sectors", GOOD, "", 1.0))
    found.finish()
    assert found.rows[0, 0, 0]["verdict"] == "certified"
    assert [text for text in said if text] == [
        f"warpbound: warning: nothing is cached from here on: '{tmp_path}': No space left on device"
    ]
