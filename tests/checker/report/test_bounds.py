"""The report of `bound`: values, assumptions, explanations."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest

from checker.certificates.claims import value_at
from checker.notation import parse_kernel
from checker.notation.words import number
from checker.oracles import Oracles
from checker.report.bounds import as_json, as_text, assumptions, explanation, parameters
from checker.report.verdicts import EXIT
from checker.synthesis.bound import Result, find_bounds
from checker.synthesis.outline import Outline, bare
from logic.assertions import AtLeast, Context, Launch
from logic.contracts import Contract
from logic.metrics import HARDWARE, METRICS
from logic.potentials import ELEMENT, ZERO, element_of, of_expr, sym
from logic.refusals import Refusal
from logic.source import Loc
from logic.syntax import Const, Kernel, Op, Param
from logic.typing import check_kernel
from tests.logic.rules.applications import CONTEXT, facts, pot

TEXT = """kernel k
param int n;
global int A[];
local int x;
begin
  if (tid.x < 8) { A[tid.x] <- 1; }
  x <- 0;
  while (x < n) { A[32 * x] <- 2; x <- x + 1; }
end"""


@cache
def results() -> tuple[Kernel, Context, tuple[Result, ...]]:
    k = parse_kernel(TEXT, "k.mc")
    context = Context(check_kernel(k), METRICS["sectors"], HARDWARE["nvidia"], Launch((32, 1, 1)))
    metrics = (METRICS["sectors"], METRICS["divwarps"])
    return k, context, tuple(find_bounds(Outline(k, context, bare(k.body)), metrics, Oracles()))


def test_values_fill_in_what_the_launch_fixes() -> None:
    q = sym(Param("blockDim.x")) * sym(Param("n")) + sym(Param("warpSize")) + sym(Param("gridDim.x"))
    assert value_at(q, CONTEXT, {"n": 2}) == (None, ["gridDim.x"])
    assert value_at(q, CONTEXT, {"n": 2, "gridDim.x": 1}) == (Fraction(97), [])
    assert value_at(q, CONTEXT, {}) == (None, ["gridDim.x", "n"])
    assert value_at(q, CONTEXT, {"n": 2, "gridDim.x": 1, "blockDim.x": 1}) == (Fraction(97), [])
    assert value_at(pot("n/3"), CONTEXT, {"n": 2}) == (Fraction(2, 3), [])
    assert (number(Fraction(2, 3)), number(Fraction(4, 2))) == ("2/3", 2)


def test_elements_that_contracts_give_need_no_value() -> None:
    """Those without variables; what is said at the point goes before them."""
    row = [Op(f"{ELEMENT}row", (e,)) for e in (Param("n"), Const(0), Param("m"))]
    ends = (Contract((), Op("==", (row[0], Param("nnz")))), Contract((), Op("==", (Const(3), row[1]))))
    rising = Contract(((Const(0), Param("n")),), Op("==", (Op(f"{ELEMENT}row", (Param("?i0"),)), Const(7))))
    context = replace(CONTEXT, launch=replace(CONTEXT.launch, contracts=(*ends, rising)))
    first, last, other = (element_of(e.op, of_expr(e.args[0]) or ZERO) for e in (row[1], row[0], row[2]))
    assert value_at(last - first, context, {"n": 9, "nnz": 50}) == (Fraction(47), [])
    assert value_at(last - first, context, {"n": 9}) == (None, ["row[9]"])
    assert value_at(last, context, {"n": 9, "nnz": 50, "row[9]": 4}) == (Fraction(4), [])
    assert value_at(other, context, {"n": 9, "nnz": 50, "m": 5}) == (None, ["row[5]"])


def test_what_a_bound_rests_on_is_listed_once_each() -> None:
    context = Context(
        CONTEXT.sigma, CONTEXT.metric, CONTEXT.hardware, Launch((32, 1, 1), assumptions=facts("n > 0", "m % 8 == 0"))
    )
    found = assumptions(results()[0], context, ["a note"])
    assert found[:3] == ["given: m % 8 == 0", "given: n > 0", "blocks of 32"]
    assert found[3].startswith("custom metric primes (const 2, div 11, ")
    assert found[4] == "a note"
    wide = replace(context, hardware=replace(context.hardware, name="wide", sector=128))
    told = assumptions(results()[0], wide)[4]
    assert told == "custom hardware wide (sector 128, word 4, alignment 256, banks 32, warp 32)"
    symbolic = replace(context, launch=Launch((None, 8, 1), (2, 1, 1)))
    assert assumptions(results()[0], symbolic)[:2] == ["blocks of any x 8", "a grid of 2"]
    assert sum("256 bytes" in a for a in found) == 1
    assert sum("overflow" in a for a in found) == 1


def test_a_row() -> None:
    k, context, (sectors, _) = results()
    row = as_json(k, context, sectors, "warp", {"n": 3}, ["a note"], "sha256:0")
    assert (row["kernel"], row["metric"], row["bound"], row["value"]) == ("k", "sectors", "1 + max(0, n)", 4)
    assert (row["verdict"], row["certificate"]) == ("certified", "sha256:0")
    assert "a note" in row["assumptions"]
    assert "problem" not in row


@pytest.mark.parametrize(
    ("size", "block"), [("blockDim.x", " Or give the block's size, such as --block 256."), ("n", "")]
)
def test_a_potential_that_is_too_low_is_told_in_a_sentence(size: str, block: str) -> None:
    k, context, (sectors, _) = results()
    asked = AtLeast((), frozenset(), sym(Param(size)) * 2, pot("20"))
    problem = Refusal("side condition", obligation=asked, name="Q:Weak", loc=Loc("k.cu", 3, 5))
    row = as_json(k, context, replace(sectors, claim=None, verdict="not-proved", problem=problem), "warp", {}, [], None)
    told = f"k.cu:3:5: the potential here could not be shown to be enough: 2*{size} has to be at least 20."
    advice = 'Say --assume "e", with a fact that makes it so, or state //@ loop potential q; of an earlier loop.'
    assert row["problem"] == f"{told} {advice}{block}"


def test_text_with_values() -> None:
    k, context, found = results()
    lines = as_text(k, context, found, {"n": 3}, False).splitlines()
    assert lines[0] == "k, every warp (block 32)"
    assert lines[2].startswith("  sectors   <= 1 + max(0, n)  certified")
    assert lines[2].endswith("= 4")
    assert lines[3].startswith("  divwarps  <= 1              certified")


def test_an_explanation_names_each_access_loop_and_branch() -> None:
    _, context, found = results()
    text = "\n".join(explanation(found, context))
    assert "6:20" in text
    assert "A[tid.x]" in text
    assert "A[32 * x]" in text
    assert "MemReads <= 1" in text
    assert text.index("A[tid.x]") < text.index("A[32 * x]") < text.index("Loops and branches:")
    assert "Q:If4, the warp may diverge" in text
    assert "Q:While1" in text
    assert text.count("invariant") == 1
    assert "sectors left, once inside: max(0, n - x)" in text
    assert "divwarps left, once inside: 0" in text


def test_an_explanation_of_nothing() -> None:
    assert explanation((), CONTEXT) == []


def test_parameters_in_a_sentence() -> None:
    k, _, _ = results()
    assert parameters(k) == "Its parameters: n."
    assert parameters(parse_kernel("kernel k\nbegin\nskip;\nend", "k")) == "It has no scalar parameters."


@pytest.mark.parametrize("verdict", ["certified", "holey", "not-proved", "refuted", "unsupported"])
def test_every_verdict_has_its_exit_code(verdict: str) -> None:
    assert EXIT[verdict] == {"certified": 0, "holey": 1, "not-proved": 1, "refuted": 3, "unsupported": 2}[verdict]
