"""What is in the way of a bound: who looks at how much of a loop for that. What is told is in `test_search`."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

import pytest

from checker.notation import parse_outline
from checker.oracles import Oracles
from checker.synthesis import hindrance
from checker.synthesis.bound import find_bounds
from checker.synthesis.walk import Stuck, Told
from logic.metrics import METRICS
from logic.source import Loc


def looks(count: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """The looks at who assigns to a variable, in a loop that ends by what so many variables hand on."""
    chain = " ".join(f"x{i} <- x{i - 1};" for i in range(1, count))
    names = ", ".join(f"x{i}" for i in range(count))
    begin = " ".join(f"x{i} <- 0;" for i in range(count))
    body = f"{begin} while (x{count - 1} != 3) {{ x0 <- A[x{count - 1}]; {chain} }}"
    text = f"kernel k\nmetric sectors\nblock 32\nglobal int A[];\nlocal int {names};\nbegin\n{body}\nend"
    made, own = list[str](), hindrance._assignments

    def counted(flow: Any, name: str, apart: bool = False) -> Iterator[Any]:
        made.append(name)
        return own(flow, name, apart)

    with monkeypatch.context() as patch:
        patch.setattr(hindrance, "_assignments", counted)
        (found,) = find_bounds(parse_outline(text, "k"), (METRICS["sectors"],), Oracles())
    assert isinstance(found.problem, Stuck)
    assert f"until 'x{count - 1}', which is read from 'A'" in found.problem.message
    return len(made)


def test_twice_as_long_a_chain_takes_twice_as_many_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert looks(8, monkeypatch) <= 2 * looks(4, monkeypatch)


def test_why_is_found_out_once_somebody_asks() -> None:
    asked: list[str] = []

    def why() -> Told:
        asked.append("why")
        return "no potential was found", Loc("k.qhl", 3, 5), "State one."

    stuck = Stuck(why, rule="Q:While1")
    assert not asked
    assert (str(stuck), stuck.message, stuck.loc, stuck.advice) == (*why()[:1], *why())
    assert len(asked) == 3
    copied = copy(stuck)
    assert (copied.told, copied.rule) == (stuck.told, "Q:While1")


@pytest.mark.parametrize("bits", [32, 64])
def test_sums_of_unsigned_numbers_may_begin_at_0_again(bits: int) -> None:
    """A limit that half of the numbers keep to is the advice; a mask that is no type's says nothing of the kind."""
    text = "kernel k\nmetric sectors\nblock 32\nparam int n;\nglobal int A[];\nlocal int i;\nbegin\n{}\nend"
    loop = "i <- 0; while (i < n) {{ A[0] <- i; i <- (i + 1) & {}; }}"
    told = []
    for mask in (2**bits - 1, 2**bits + 1):
        outline = parse_outline(text.format(loop.format(mask)), "k")
        (found,) = find_bounds(outline, (METRICS["sectors"],), Oracles())
        assert isinstance(found.problem, Stuck)
        told.append((f"may be {2**bits} or more" in found.problem.message, found.problem.advice))
    assert told[0] == (True, f'Say --assume "n <= {2 ** (bits - 1) - 1}", or compute it in a wider type.')
    assert not told[1][0]


@pytest.mark.parametrize(("ends", "told"), [("i", True), ("j", True), ("k", False)])
def test_what_wraps_around_is_told_where_it_ends_the_loop(ends: str, told: bool) -> None:
    """By itself or by what is made of it; a sum that nothing tests is not in the way."""
    text = f"""kernel k
metric sectors
block 32
param int n;
global int A[];
local int i, j, k;
begin
  i <- 0; j <- 0; k <- 0;
  while ({ends} < n) {{ A[0] <- i; i <- (i + 1) & 4294967295; j <- i; k <- k ^ n; }}
end"""
    (found,) = find_bounds(parse_outline(text, "k"), (METRICS["sectors"],), Oracles())
    assert isinstance(found.problem, Stuck)
    assert ("where an unsigned number begins at 0 again" in found.problem.message) == told
