"""Random questions, and every state of a small world: what is proved has no counterexample, what is refuted has one."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from checker.oracles import Oracles
from logic.assertions import AtLeast, AtMost, Context, Entails, Launch, P, Proved, Refuted, Uniform, conj
from logic.metrics import METRICS, Hardware, conflicts, sectors
from logic.operators import Value, denote
from logic.potentials import Leaf, Poly, const, evaluate, floor_div, log2, max0, sym
from logic.syntax import BOOL, BUILTINS, FLOAT, INT, Array, Const, Expr, Op, Param, Read, Tid, Var, show
from logic.typing import Signature
from tests.examples import LONG

TINY = Hardware("tiny", sector=8, banks=4, word=4, warp=4, alignment=32)
ARRAYS = (
    Array("A", "global", INT, 4),
    Array("B", "global", BOOL, 1),
    Array("D", "shared", FLOAT, 8),
    Array("F", "global", INT, 12, 4, 4),
    Array("H", "shared", INT, 2),
)
SIGMA = Signature(
    dict.fromkeys(("i", "j", "k"), INT) | {"u": BOOL},
    dict.fromkeys((*BUILTINS, "n", "m"), INT),
    {a.name: a for a in ARRAYS},
)
X = frozenset({"k"})
BLOCKS = ((4, 1, 1), (8, 1, 1), (6, 2, 1), (2, 2, 2), (3, 3, 1), (1, 5, 1), (4, 3, 2), (5, 1, 1))


def op(name: str, *args: Expr | int) -> Op:
    return Op(name, tuple(Const(a) if isinstance(a, int) else a for a in args))


class Reads:
    """What each occurrence of a read returns: a function of its place in the expression, its warp and its index."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.table: dict[tuple[object, ...], int] = {}

    def __call__(self, *key: object) -> int:
        return self.table.setdefault(key, self.rng.randrange(-3, 9))


def at(e: Expr, store: dict[str, Value], reads: Reads | None = None, key: tuple[object, ...] = ()) -> Value:
    match e:
        case Const(value, _):
            assert not isinstance(value, str)
            return value
        case Var(name) | Param(name):
            return store[name]
        case Tid(axis):
            return store[f"tid.{axis}"]
        case Read(array, index):
            assert reads is not None
            value = reads(array, key, at(index, store, reads, (*key, "[]")))
            return value > 0 if array == "B" else value
        case Op(name, args):
            return denote(name, tuple(at(a, store, reads, (*key, place)) for place, a in enumerate(args)))


LEAVES: tuple[Expr, ...] = (Tid("x"), Tid("x"), Tid("y"), Tid("z"), Param("n"), Param("m"), Var("k"), Var("i"))


def integer(rng: Random, depth: int, leaves: tuple[Expr, ...] = LEAVES, reads: bool = False) -> Expr:
    if depth == 0 or rng.random() < 0.15:
        return rng.choice(leaves) if rng.random() < 0.7 else Const(rng.randrange(-4, 10))

    def sub() -> Expr:
        return integer(rng, depth - 1, leaves, reads)

    match rng.randrange(16 if reads else 15):
        case 0 | 1 | 2:
            return op("+", sub(), sub())
        case 3 | 4:
            return op("-", sub(), sub())
        case 5:
            return op("*", sub(), sub())
        case 6:
            return op("*", sub(), rng.choice((-3, -1, 2, 4, 8)))
        case 7:
            return op(rng.choice("/%"), sub(), rng.choice((-3, -2, 0, 1, 2, 3, 4, 8)))
        case 8:
            return op(rng.choice("/%"), sub(), sub())
        case 9:
            return op(rng.choice(("<<", ">>")), sub(), rng.randrange(-1, 4))
        case 10:
            return op(rng.choice("&|^"), sub(), rng.choice((-2, 0, 1, 3, 4, 6, 7)))
        case 11:
            return op(rng.choice("&|^"), sub(), sub())
        case 12:
            return op(rng.choice(("min", "max")), sub(), sub())
        case 13:
            return op(rng.choice(("neg", "~", "abs")), sub())
        case 14:
            return op("?:", boolean(rng, 1, leaves), sub(), sub())
    return Read("A", sub())


def boolean(rng: Random, depth: int, leaves: tuple[Expr, ...] = LEAVES) -> Expr:
    if depth > 0 and rng.random() < 0.3:
        return op(rng.choice(("&&", "||")), boolean(rng, depth - 1, leaves), boolean(rng, depth - 1, leaves))
    if rng.random() < 0.2:
        return op(rng.choice(("==", "!=")), op("%", integer(rng, 1, leaves), rng.choice((2, 4, 8))), rng.randrange(2))
    return op(
        rng.choice(("<", "<=", ">", ">=", "==", "==", "!=")), integer(rng, depth, leaves), integer(rng, 1, leaves)
    )


def condition(rng: Random) -> P:
    """Some of: a definition of i, a range of k, divisibility of a parameter, anything."""
    parts: list[Expr] = []
    if rng.random() < 0.5:
        parts.append(op("==", Var("i"), integer(rng, 2, LEAVES[:-1])))
    if rng.random() < 0.3:
        parts.append(op("==", op("-", Var("i"), 1), op("+", Var("j"), rng.choice(LEAVES[:-1]))))
    if rng.random() < 0.4:
        parts += [op(">=", Var("k"), 0), op("<", Var("k"), rng.randrange(1, 6))]
    if rng.random() < 0.4:
        parts.append(op("==", op("%", rng.choice(LEAVES[4:7]), rng.choice((2, 3, 4, 8))), rng.randrange(3)))
    if rng.random() < 0.5:
        parts.append(op(">=", rng.choice(LEAVES[4:7]), rng.randrange(3)))
    if rng.random() < 0.4:
        parts.append(boolean(rng, 1))
    if rng.random() < 0.2:
        parts.append(op("==", Var("k"), rng.choice((op("/", Tid("x"), 4), op("+", Param("n"), 1), Tid("y")))))
    return conj(parts, SIGMA)


def launch(rng: Random) -> tuple[Launch, tuple[int, int, int]]:
    block = rng.choice(BLOCKS)
    pick = rng.random()
    if pick < 0.7:
        return Launch(block), block
    if pick < 0.8:
        return Launch((None, None, None)), block
    if pick < 0.9:
        return Launch((None, 1, 1)), (block[0], 1, 1)
    divides = op("==", op("%", Param("blockDim.x"), TINY.warp), 0)
    return Launch((None, None, None), assumptions=(divides,)), (rng.choice((4, 8)), block[1], block[2])


def worlds(rng: Random, p: P, block: tuple[int, int, int], count: int) -> list[list[list[dict[str, Value]]]]:
    """States of the block: for each, the active threads of every warp. The locals i, j differ between threads."""
    found = []
    width, height, depth = block
    launch = {f"blockDim.{a}": d for a, d in zip("xyz", block, strict=True)} | {"warpSize": TINY.warp}
    defined = [c.args for c in p if isinstance(c, Op) and c.op == "=="]
    for _ in range(count):
        shared: dict[str, Value] = {**launch, **{name: rng.randrange(-6, 13) for name in ("n", "m", "k")}}
        shared |= {f"blockIdx.{a}": 0 for a in "xyz"} | {f"gridDim.{a}": 1 for a in "xyz"}
        if rng.random() < 0.6:
            shared |= {name: abs(int(shared[name])) for name in "nmk"}
        threads: list[dict[str, Value] | None] = []
        for z, y, x in product(range(depth), range(height), range(width)):
            thread = {**shared, "tid.x": x, "tid.y": y, "tid.z": z, "u": rng.random() < 0.5}
            chosen: dict[str, Value] | None = None
            for _ in range(6):
                thread |= {"i": rng.randrange(-8, 9), "j": rng.randrange(-8, 9)}
                for a, b in defined:
                    for left, right in ((a, b), (b, a)):
                        if left == Var("i"):
                            thread["i"] = at(right, thread)
                        elif left == op("-", Var("i"), 1):
                            thread["j"] = int(thread["i"]) - 1 - int(at(op("-", right, Var("j")), thread))
                if all(at(c, thread) for c in p):
                    chosen = thread
                    break
            threads.append(dict(chosen) if chosen else None)
        size = TINY.warp
        warps = [[t for t in threads[s : s + size] if t] for s in range(0, len(threads), size)]
        found.append([w for w in warps if w])
    return found


def counted(what: str, array: Array, index: Expr, warp: list[dict[str, Value]], reads: Reads) -> int:
    addresses = [array.stride * int(at(index, t, reads)) + array.offset for t in warp]
    return (sectors if what == "MemReads" else conflicts)(addresses, array.width, TINY)


def context(where: Launch, scope: str = "warp") -> Context:
    return Context(SIGMA, METRICS["sectors"], TINY, where, "block" if scope == "block" else "warp")


@pytest.mark.parametrize("seed", range(60 if LONG else 24))
def test_counts_are_never_below_what_a_warp_touches(seed: int) -> None:
    rng = Random(seed)
    oracles = Oracles(limit=0.3)
    where, block = launch(rng)
    p = condition(rng)
    what = rng.choice(("MemReads", "Conflicts"))
    array = rng.choice(ARRAYS)
    index = integer(rng, rng.randrange(1, 4), reads=rng.random() < 0.3)
    ctx = context(where, rng.choice(("warp", "block")))
    n = oracles.least("MemReads" if what == "MemReads" else "Conflicts", p, X, array.name, index, ctx)
    for warps in worlds(rng, p, block, 40):
        reads = Reads(rng)
        for warp in warps:
            real = counted(what, array, index, warp, reads)
            assert real <= n, f"{block} {[show(c) for c in p]} {array.name}[{show(index)}]: {real} > {n} at {warp}"
    claim = AtMost("MemReads" if what == "MemReads" else "Conflicts", p, X, array.name, index, n)
    assert isinstance(oracles(claim, ctx), Proved)


@pytest.mark.parametrize("scope", ["warp", "block"])
@pytest.mark.parametrize("seed", range(40 if LONG else 16))
def test_what_is_called_uniform_never_differs(seed: int, scope: str) -> None:
    rng = Random(seed + 1000)
    oracles = Oracles(limit=0.3)
    where, block = launch(rng)
    p = condition(rng)
    leaves = rng.choice((LEAVES, (Tid("y"), Param("n"), Var("k"), Var("i")), (Tid("x"), Param("n"), Var("k"))))
    e = boolean(rng, 2, leaves) if rng.random() < 0.5 else integer(rng, 2, leaves, reads=True)
    verdict = oracles(Uniform(p, X, e), context(where, scope))
    if isinstance(verdict, Proved):
        for warps in worlds(rng, p, block, 40):
            reads = Reads(rng)
            values = [{at(e, t, reads, (w if scope == "block" else 0,)) for t in ts} for w, ts in enumerate(warps)]
            if scope == "block":
                values = [set().union(*values)]
            claim = f"{verdict.engine} {block} {scope} {[show(c) for c in p]} {show(e)}"
            assert all(len(v) <= 1 for v in values), claim
    elif isinstance(verdict, Refuted):
        differ(e, p, where, scope, verdict.witness)


def differ(e: Expr, p: P, where: Launch, scope: str, witness: dict[str, int]) -> None:
    """The witness holds two threads of the launch that satisfy P, agree on X, and differ on e."""
    two = [
        {name.removesuffix(t): value for name, value in witness.items() if name.endswith(t) or "@" not in name}
        for t in ("@1", "@2")
    ]
    assert "k@1" not in witness
    assert all(at(c, t) for c in (*p, *where.assumptions) for t in two)
    numbers = [t["tid.x"] + t["blockDim.x"] * (t["tid.y"] + t["blockDim.y"] * t["tid.z"]) for t in two]
    assert all(0 <= t[f"tid.{a}"] < t[f"blockDim.{a}"] for t in two for a in "xyz")
    assert scope == "block" or numbers[0] // TINY.warp == numbers[1] // TINY.warp
    assert at(e, dict(two[0])) != at(e, dict(two[1]))


SCALARS: tuple[Expr, ...] = (Var("i"), Var("j"), Param("n"))


def potential(rng: Random) -> Poly:
    """A small potential over i, j and n."""

    def leaf() -> Poly:
        return sym(rng.choice((Var("i"), Var("j"), Param("n"))))

    def line() -> Poly:
        return leaf() * rng.randrange(-2, 3) + leaf() + rng.randrange(-3, 4)

    total = const(rng.randrange(-1, 4))
    for _ in range(rng.randrange(1, 4)):
        match rng.randrange(5):
            case 0:
                total = total + line()
            case 1:
                total = total + max0(line()) * rng.randrange(1, 3)
            case 2:
                total = total + floor_div(line(), rng.choice((2, 3, 4)))
            case 3:
                total = total + log2(line())
            case 4:
                total = total + max0(line()) * leaf()
    return total


BOX = list(product(range(-5, 9), repeat=3))


@pytest.mark.parametrize("seed", range(50 if LONG else 20))
def test_entailments_agree_with_a_box_of_states(seed: int) -> None:
    rng = Random(seed + 2000)
    oracles = Oracles(limit=0.3)
    p = conj((boolean(rng, 1, SCALARS) for _ in range(rng.randrange(4))), SIGMA)
    weaker = rng.random() < 0.4 and p
    goal = conj([op("||", rng.choice(p), boolean(rng, 1, SCALARS)) if weaker else boolean(rng, 1, SCALARS)], SIGMA)
    verdict = oracles(Entails(p, goal), context(Launch()))
    if isinstance(verdict, Proved):
        states = [dict(zip(("i", "j", "n"), values, strict=True)) for values in BOX]
        broken = [s for s in states if all(at(c, dict(s)) for c in p) and not all(at(g, dict(s)) for g in goal)]
        assert not broken, f"{verdict} {[show(c) for c in (*p, *goal)]} {broken[:1]}"
    if isinstance(verdict, Refuted):
        s = dict(verdict.witness)
        assert all(at(c, {"i": 0, "j": 0, "n": 0} | s) for c in p)
        assert not all(at(g, {"i": 0, "j": 0, "n": 0} | s) for g in goal)


@pytest.mark.parametrize("seed", range(50 if LONG else 20))
def test_potentials_agree_with_a_box_of_states(seed: int) -> None:
    rng = Random(seed + 3000)
    oracles = Oracles(limit=0.3)
    p = conj((boolean(rng, 1, SCALARS) for _ in range(rng.randrange(4))), SIGMA)
    q = potential(rng)
    r = q - max0(potential(rng)) if rng.random() < 0.3 else potential(rng)
    verdict = oracles(AtLeast(p, frozenset({"i", "j"}), q, r), context(Launch()))

    def below(i: int, j: int, n: int) -> bool:
        values: dict[Leaf, int] = {Var("i"): i, Var("j"): j, Param("n"): n}
        holds = all(at(c, {"i": i, "j": j, "n": n}) for c in p)
        return holds and evaluate(q, values) < evaluate(r, values)

    if isinstance(verdict, Proved):
        for place in BOX:
            assert not below(*place), f"{verdict} {[show(c) for c in p]} {q} >= {r} at {place}"
    if isinstance(verdict, Refuted):
        assert below(*(int(verdict.witness.get(name, 0)) for name in "ijn"))
