"""Certificates: what is read is what was written, every change shows, and nothing else than a certificate is read."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.certificates import document as certificate
from checker.certificates.document import BadCertificate, canonical, digest, read
from checker.certificates.evidence import proof
from checker.kernel import Ledger, check, claim
from checker.notation import parse_kernel
from checker.oracles import Oracles
from checker.recheck import recheck
from checker.report.sentences import sentence
from checker.synthesis.bound import Result, find_bounds
from checker.synthesis.outline import Outline, bare
from logic.assertions import Context, Launch, conj
from logic.derivation import size
from logic.metrics import HARDWARE, METRICS, Linear, Metric
from logic.refusals import Rejected
from logic.rules import RULE_SETS
from logic.syntax import Const, Op, Param, same
from logic.typing import check_kernel
from tests.examples import examples

PROGRAM = """kernel k
param int n;
param float g;
global int A[];
global float F[];
shared int S[32];
local int x, y;
local bool b;
begin
  b <- tid.x < 16;
  S[tid.x] <- A[n];
  F[0] <- g;
  if (b) { y <- 1; } else { y <- A[x & 7] % 3; }
  x <- 0;
  while (x < n && x != 1000) { A[x] <- -x; x <- x + 2; }
  sync;
end"""


HALVES = Metric(
    "halves",
    {"var": Fraction(1, 3), "if": Fraction(1)},
    {
        "gread": Linear(Fraction(3, 2), Fraction(-1, 2)),
        "gwrite": Linear(Fraction(1), Fraction(5, 2)),
        "sread": Linear(Fraction(2), Fraction(0)),
        "swrite": Linear(Fraction(1, 2), Fraction(-3)),
    },
)
"""Prices that are whole and others, slopes and offsets alike."""


@cache
def made(metric: str = "steps") -> tuple[dict[str, Any], Result, Context]:
    k = parse_kernel(PROGRAM, "k")
    known = conj((Op("<=", (Param("n"), Const(512))),), check_kernel(k))
    prices = METRICS.get(metric, HALVES)
    context = Context(check_kernel(k), prices, HARDWARE["nvidia"], Launch((32, 1, 1), (None, 1, 1), known))
    (result,) = find_bounds(Outline(k, context, bare(k.body)), (prices,), Oracles())
    assert result.claim is not None
    assert result.derivation is not None
    return (
        certificate.write(result.claim, result.derivation, result.ledger, proof, {"warpbound": "0"}),
        result,
        context,
    )


def document() -> dict[str, Any]:
    return copy.deepcopy(made()[0])


def text(d: Any) -> str:
    """The document with the digest that it ought to have."""
    return canonical({**d, "digest": digest(d)})


def test_a_round_trip() -> None:
    """The kernel accepts what was read, and it is the same claim."""
    d, result, context = made()
    assert result.claim is not None
    assert result.derivation is not None
    c = read(canonical(d), "c.json")
    assert (c.kernel, c.context, c.rules, c.admitted) == (result.claim.kernel, context, "sound", [])
    assert same(c.kernel.body, result.claim.kernel.body)
    assert c.digest == d["digest"]
    assert size(c.derivation) == size(result.derivation) == len(d["derivation"])
    ledger, oracle = Ledger(), Oracles()
    theorem = check(c.derivation, RULE_SETS[c.rules], c.context, oracle, ledger)
    again = claim(c.kernel, theorem, c.context, oracle, ledger, c.sums)
    assert again.pre == result.claim.pre
    assert theorem.judgement == result.claim.theorem.judgement
    assert len(ledger.discharged) == len(c.evidence) == len(result.ledger.discharged)


def test_prices_are_kept_whole_or_not() -> None:
    """Fractions are written and read as they are, and the second checker judges by them."""
    d, result, context = made("halves")
    assert d["metric"]["counted"] == {
        "gread": ["3/2", "-1/2"],
        "gwrite": ["1", "5/2"],
        "sread": ["2", "0"],
        "swrite": ["1/2", "-3"],
    }
    c = read(canonical(d), "c.json")
    assert (c.context, c.context.metric) == (context, HALVES)
    oracle = Oracles()
    theorem = check(c.derivation, RULE_SETS[c.rules], c.context, oracle, Ledger())
    assert result.claim is not None
    assert theorem.judgement == result.claim.theorem.judgement
    assert recheck(d).verdict == "valid"


def test_the_places_of_the_source_are_kept() -> None:
    _, result, _ = made()
    root = read(canonical(made()[0]), "c.json").derivation
    assert result.derivation is not None
    pairs, places = [(root, result.derivation)], 0
    while pairs:
        a, b = pairs.pop()
        assert a.rule == b.rule
        assert (a.loc and (a.loc.line, a.loc.column)) == (b.loc and (b.loc.line, b.loc.column))
        places += a.loc is not None
        pairs += zip(a.premises, b.premises, strict=True)
    assert places > 20


def test_the_bytes_are_the_same_every_time() -> None:
    first = canonical(made()[0])
    made.cache_clear()
    assert canonical(made()[0]) == first
    assert json.loads(first) == made()[0]
    assert first.isascii()
    assert " " not in first.replace("warpbound certificate", "").replace("z3 ", "")


def test_the_digest_is_of_the_content_alone() -> None:
    d = document()
    assert d["digest"] == digest(d)
    assert digest({**d, "digest": "sha256:0"}) == d["digest"]
    shuffled = dict(reversed(d.items()))
    assert digest(shuffled) == d["digest"]


def leaves_of(x: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of everything in a document."""
    yield path
    for key, inner in x.items() if isinstance(x, dict) else enumerate(x) if isinstance(x, list) else ():
        yield from leaves_of(inner, (*path, key))


PATHS = st.deferred(lambda: st.sampled_from([p for p in leaves_of(made()[0]) if p and p != ("digest",)]))
"""The paths of a certificate, which is made where the first test asks for it, not where tests are collected."""


def changed(path: tuple[Any, ...], change: Callable[[Any], Any]) -> dict[str, Any]:
    d = document()
    inner: Any = d
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = change(inner[path[-1]])
    return d


@given(PATHS)
def test_any_change_changes_the_digest(path: tuple[Any, ...]) -> None:
    d = changed(path, lambda x: [x, 1])
    assert digest(d) != d["digest"]
    with pytest.raises(BadCertificate, match="was changed: its digest"):
        read(canonical(d), "c.json")


def test_a_derivation_without_a_digest_is_a_persons() -> None:
    d = document()
    del d["digest"]
    assert read(canonical(d), "c.json").digest == ""
    wrongs: list[Any] = [None, "", "sha256:0", 1, []]
    for wrong in wrongs:
        with pytest.raises(BadCertificate, match="was changed: its digest"):
            read(canonical({**d, "digest": wrong}), "c.json")


# --- what is none -----------------------------------------------------------------------------------------------------

JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 99),
    st.just(2.5),
    st.just(float("nan")),
    st.sampled_from(
        ["", "x", "?i0", "tid.x", "1/0", "-1", "0.5", "1e9", "sound", "Q:Skip", "+", "global", "\ud800", "é"]
    ),
    st.lists(st.integers(0, 3), max_size=3),
    st.just({}),
    st.just([[]]),
    st.just(["var", "x"]),
    st.just(["const", ["int", "int", 4], True]),
)


@examples(30, 2000)
@given(PATHS, st.one_of(JUNK, st.sampled_from(["delete", "twice", "wrap"])))
def test_a_changed_document_is_refused_or_judged(path: tuple[Any, ...], junk: Any) -> None:
    """Under its own digest: BadCertificate with one sentence, a refusal by the kernel, or another valid proof."""
    if junk == "delete":
        d = document()
        inner: Any = d
        for key in path[:-1]:
            inner = inner[key]
        del inner[path[-1]]
    else:
        d = changed(path, lambda x: [x, x] if junk == "twice" else [x] if junk == "wrap" else junk)
    assert fate(text(d)).startswith(("'c.json' ", "refused: ", "accepted"))


def fate(document_text: str) -> str:
    """What becomes of a document. Any other exception ends the test."""
    try:
        c = read(document_text, "c.json")
        ledger, oracle = Ledger(), Oracles(limit=0.05)
        theorem = check(c.derivation, RULE_SETS["sound"], c.context, oracle, ledger)
        claim(c.kernel, theorem, c.context, oracle, ledger)
    except BadCertificate as problem:
        return problem.message
    except Rejected as problem:
        return f"refused: {sentence(problem.refusal)}"
    return "accepted"


def bad(d: Any) -> str:
    with pytest.raises(BadCertificate) as caught:
        read(text(d), "c.json")
    return caught.value.message


@pytest.mark.parametrize("source", ["", "{", "nul", "[" * 100_000, '{"a":' * 3000 + "1" + "}" * 3000, "1" * 5000])
def test_what_is_no_json(source: str) -> None:
    with pytest.raises(BadCertificate, match=r"^'c.json' is no "):
        read(source, "c.json")


def test_a_field_that_occurs_twice() -> None:
    with pytest.raises(BadCertificate, match=r"^'c.json' is no JSON document$"):
        read(text(document())[:-1] + ',"version":3}', "c.json")


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (("hardware", "sector"), 10**12, "'sector' of the hardware"),
        (("hardware", "banks"), 1025, "'banks' of the hardware"),
        (
            ("hardware",),
            {"sector": 32, "banks": 32, "word": 4, "warp": 32, "alignment": 256} | {"phase": 1025},
            "'phase' of the hardware",
        ),
        (("kernel", "arrays", 0, 3), 0, "a size of an array"),
        (("kernel", "arrays", 0, 4), -1, "a size of an array"),
        (("kernel", "arrays", 0, 5), 10**13, "a size of an array"),
        (("launch", "grid"), [None, None, 1 << 40], "a size"),
        (("launch", "assumptions"), [["op", "<", ["param", "gridDim.x"], ["param", "gridDim.y"]]] * 300, "the number"),
        (("potentials", 0), [[str(10**100), []]], "no rational"),
        (("potentials", 0), [["1", [["param", "n"]] * 65]], "the degree of a monomial"),
        (("potentials", 0), [["1", [["floor", [], 10**90]]]], "a divisor"),
        (("expressions", 0), ["const", ["int", "int", 4], -(10**90)], "a literal"),
        (("expressions", 0), ["const", ["base", "float", 1 << 20], "1"], "the size of a type"),
    ],
)
def test_what_would_take_too_long_is_not_read(path: tuple[Any, ...], value: Any, told: str) -> None:
    """The second checker has the same limits, and says so of the same document."""
    d = changed(path, lambda _: value)
    d["hardware"]["name"] = "own"
    assert told in bad(d)
    assert recheck(json.loads(text(d))).verdict == "invalid"


def test_a_program_that_is_long_where_it_is_written_out_is_not_read() -> None:
    """Each statement has the one before in it twice."""
    d = document()
    first = len(d["statements"])
    d["statements"] += [["skip"], *(["if", 0, i, i] for i in range(first, first + 30))]
    assert "the length of a program" in bad(d)


@pytest.mark.parametrize(
    ("table", "row"),
    [
        ("expressions", ["op", "neg", ["var", "i"]]),
        ("potentials", [["1", [["param", "n"]]]]),
        ("assertions", [0, 0, 0]),
        ("statements", ["if", 0, 0, 0]),
    ],
)
def test_reading_has_its_budget_of_work(table: str, row: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificate, "MAX_WORK", 2000)
    d = document()
    assert read(text(d), "c.json").kernel.name == "k"
    d[table] += [row] * 1000
    assert "too much work" in bad(d)
    monkeypatch.setattr(certificate, "MAX_WORK", 20_000)
    assert read(text(d), "c.json").kernel.name == "k"


def test_names_that_statements_write_are_work() -> None:
    """Each of these writes what the ones before do, and one more: sets of 16 million names in all."""
    d = document()
    first, names = len(d["statements"]), [f"more{i}" for i in range(4000)]
    d["kernel"]["locals"] += [[name, ["int", "int", 4]] for name in names]
    one = len(d["expressions"])
    d["expressions"] += [["const", ["int", "int", 4], 1]]
    d["statements"] += [row for name in names for row in (["set", name, one], ["if", 0, 0, 0])]
    for i in range(first + 1, len(d["statements"]), 2):
        d["statements"][i] = ["if", 0, i - 1, i - 2 if i > first + 2 else i - 1]
    assert len(text(d)) < 300_000
    assert "too much work" in bad(d)
    report = recheck(json.loads(text(d)))
    assert report.problem == "too much work: this is not decided"


def test_what_is_written_the_same_is_one_object() -> None:
    """Kernel and search compare by identity first: statements written out may be long."""
    d = document()
    d["statements"] += copy.deepcopy(d["statements"])
    d["expressions"] += copy.deepcopy(d["expressions"])
    half = len(d["expressions"]) // 2
    d["statements"] += [["if", i, 0, 0] for i in (0, half)] + [["if", 0, 1, 0]]
    reader = certificate._Reader(d)
    n = (len(reader.statements) - 3) // 2
    assert all(reader.statements[i] is reader.statements[n + i] for i in range(n))
    assert reader.statements[-3] is reader.statements[-2] is not reader.statements[-1]
    assert read(text(d), "c.json").kernel == read(text(document()), "c.json").kernel


def test_the_limits_are_those_of_the_second_checker() -> None:
    from checker import recheck

    for name in ("LARGEST", "MAX_SIZE", "MAX_UNIT", "MAX_DEGREE", "MAX_ASSUMED", "MAX_WORK"):
        assert getattr(certificate, name) == getattr(recheck, name)
    assert next(shape for shape in recheck.DIMS[0] if shape).stop == certificate.MAX_EXTENT + 1
    for digits in (certificate.MAX_DIGITS, certificate.MAX_DIGITS + 1):
        assert (recheck.PRICE.fullmatch("1" * digits) is None) == (digits > certificate.MAX_DIGITS)


def test_literals_can_be_printed() -> None:
    d = document()
    (i,) = [i for i, e in enumerate(d["expressions"]) if e == ["param", "g"]]
    d["expressions"][i] = ["const", ["base", "float", 4], "1\x1b[2J"]
    assert "other than printable ASCII" in bad(d)


@pytest.mark.parametrize("source", ["1", "[]", "{}", '"x"', "null", '{"format": "other"}', '{"format": []}'])
def test_what_is_no_certificate(source: str) -> None:
    with pytest.raises(BadCertificate, match=r"^'c.json' is no certificate$"):
        read(source, "c.json")


def test_a_broken_text_has_its_place() -> None:
    with pytest.raises(BadCertificate) as caught:
        read('{\n  "a": ]', "c.json")
    assert (str(caught.value.loc), caught.value.advice) == (
        "c.json:2:8",
        "Give a file that `bound --certificate` wrote.",
    )


@pytest.mark.parametrize("version", [0, 1, "2", None, [2]])
def test_other_versions(version: Any) -> None:
    assert "certificate version" in bad({**document(), "version": version})


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("rules",), ["sound"]),
        (("scope",), None),
        (("admitted",), "none"),
        (("evidence",), {}),
        (("launch", "block"), [32]),
        (("launch", "block"), [32.0, 1, 1]),
        (("launch", "block"), [True, 1, 1]),
        (("launch", "grid"), [1, 1, 1, 1]),
        (("launch", "assumptions"), [["var"]]),
        (("hardware", "warp"), "32"),
        (("hardware", "warp"), 32.0),
        (("hardware", "warp"), 0),
        (("hardware", "bogus"), 1),
        (("metric", "fixed"), {"if": 1}),
        (("metric", "fixed"), {"if": "0.5"}),
        (("metric", "fixed"), {"if": "1e99999999"}),
        (("metric", "fixed"), {"if": "-1"}),
        (("metric", "fixed"), {"bogus": "1"}),
        (("metric", "counted"), {"gread": ["-1", "0"]}),
        (("metric", "counted"), {"gread": ["1/0", "0"]}),
        (("metric", "name"), 1),
        (("kernel", "name"), ["k"]),
        (("kernel", "body"), True),
        (("kernel", "body"), -1),
        (("kernel", "body"), 10**6),
        (("kernel", "params"), [["n", ["int", "int", 4]], ["n", ["int", "int", 4]]]),
        (("kernel", "params"), [["?i", ["int", "int", 4]]]),
        (("kernel", "params"), [["tid.x", ["int", "int", 4]]]),
        (("kernel", "params"), [[1, ["int", "int", 4]]]),
        (("kernel", "params"), [["n", ["real", "int", 4]]]),
        (("kernel", "arrays"), [["A", "global", ["int", "int", 4], 0, 0, 4, None]]),
        (("kernel", "arrays"), [["A", "global", ["int", "int", 4], 4, 0, 4, "9"]]),
        (("kernel", "arrays"), [["A", "constant", ["int", "int", 4], 4, 0, 4, None]]),
        (("derivation", 0, "rule"), ["OQ:Var"]),
        (("derivation", 0, "from"), [0]),
        (("derivation", 0, "from"), [-1]),
        (("derivation", 0, "at"), ["1", 2]),
        (("derivation", 0, "at"), [1]),
        (("derivation",), []),
        (("statements", 0), ["goto", 0]),
        (("expressions", 0), ["op", "+", 1]),
        (("potentials", 0), [["x", []]]),
    ],
)
def test_a_document_that_is_not_well_formed(path: tuple[Any, ...], value: Any) -> None:
    d = document()
    inner: Any = d
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    assert bad(d).startswith("'c.json' is not well formed: ")


def test_a_premise_is_used_once() -> None:
    """Else sixty rows could stand for a derivation of 2^60 applications."""
    row: dict[str, Any] = {"rule": "EQ:Op", "with": {}, "at": None}
    rows: list[Any] = [{"rule": "OQ:Const", "with": {}, "at": None, "from": []}]
    rows += [{**row, "from": [i, i]} for i in range(60)]
    assert "a premise is used twice" in bad({**document(), "derivation": rows})
    rows = [rows[0], rows[0], {**row, "from": [0]}, {**row, "from": [1, 0]}]
    assert "a premise is used twice" in bad({**document(), "derivation": rows})
    assert "not one tree" in bad({**document(), "derivation": [rows[0], rows[0]]})


def test_a_certificate_of_other_rules_is_read_and_not_believed(tmp_path: Path) -> None:
    d = document()
    d["rules"] = "paper"
    c = read(text(d), str(tmp_path))
    assert c.rules == "paper"
    ledger = Ledger()
    with pytest.raises(Rejected):
        claim(
            c.kernel,
            check(c.derivation, RULE_SETS[c.rules], c.context, Oracles(), ledger),
            c.context,
            Oracles(),
            ledger,
        )


def test_a_smaller_bound_is_not_believed() -> None:
    """Every potential less one: the derivation proves something else, or nothing."""
    d = document()
    d["potentials"] = [[["-1", []], *rows] if not rows or rows[0][1] else rows for rows in d["potentials"]]
    c = read(text(d), "c.json")
    with pytest.raises(Rejected):
        claim(
            c.kernel,
            check(c.derivation, RULE_SETS["sound"], c.context, Oracles(), Ledger()),
            c.context,
            Oracles(),
            Ledger(),
        )


def test_terms_that_are_equal_need_not_be_written_alike() -> None:
    """In Python true is 1: which of them comes first may not decide how the other is written."""
    writer = certificate._Writer()
    equal = [Const(True), Const(1), Const(True)]
    rows = [writer.expression(e) for e in equal]
    assert equal[0] == equal[1]
    assert [writer.expressions.rows[i][2] is True for i in rows] == [True, False, True]
    assert rows[0] == rows[2]
