"""The expressions that walks over a kernel make: each is made once, and what is known of it is found by its number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from logic.operators import ARITHMETIC, COMPARISONS, CONNECTIVES
from logic.syntax import BOOL, INT, Const, Expr, Op, Param, Tid, Var, subterms
from logic.typing import Signature, type_of
from semantics.cuda.modular import Integer, Reduced, masked, small, stripped
from semantics.cuda.stores import steady
from semantics.cuda.sums import Leaf, Sum, leaf_of, single

Choice = tuple[tuple[Expr, Expr | None], ...]


@dataclass(frozen=True, slots=True)
class Made:
    """The expressions that walks over one kernel make: each is made once, so that what is known of it is found by its
    number. What a number stands for is kept beside it."""

    sigma: Signature
    built: dict[tuple[int, ...], tuple[Op, Op]] = field(default_factory=dict)
    bare: dict[tuple[int, int], tuple[Expr, Expr]] = field(default_factory=dict)
    kinds: dict[int, tuple[Expr, tuple[Expr, ...]]] = field(default_factory=dict)
    masks: dict[tuple[int, Integer], tuple[Expr, Expr]] = field(default_factory=dict)
    ints: dict[int, tuple[Expr, bool]] = field(default_factory=dict)
    still: dict[int, tuple[Expr, bool]] = field(default_factory=dict)
    reals: dict[int, tuple[Expr, bool]] = field(default_factory=dict)
    names: dict[int, tuple[Expr, Leaf, Sum]] = field(default_factory=dict)
    chains: dict[int, tuple[Expr, Choice]] = field(default_factory=dict)

    def leaf(self, e: Leaf) -> tuple[Leaf, Sum]:
        """A name as tables have it, and as a sum."""
        if id(e) not in self.names:
            own = leaf_of(e)
            self.names[id(e)] = e, own, single(own)
        _, own, alone = self.names[id(e)]
        return own, alone

    def rebuilt(self, e: Op, args: Sequence[Expr]) -> Op:
        """An operator with other operands."""
        key = (id(e), *map(id, args))
        if key not in self.built:
            same = all(a is b for a, b in zip(args, e.args, strict=True))
            self.built[key] = e, e if same else Op(e.op, tuple(args), e.loc)
        return self.built[key][1]

    def stripped(self, e: Expr, bits: int) -> Expr:
        """`modular.stripped`"""
        key = id(e), bits
        if key not in self.bare:
            self.bare[key] = e, stripped(e, bits)
        return self.bare[key][1]

    def forms(self, e: Reduced) -> tuple[Expr, ...]:
        """The expressions that a reduction may be of: without those in it, with small numbers, and as it is."""
        if id(e) not in self.kinds:
            once = stripped(e.inner, e.to.bits)
            less = small(once, e.to.bits)
            found = [once, *([less] if less is not once else []), *([e.inner] if once is not e.inner else [])]
            self.kinds[id(e)] = e, tuple(found)
        return self.kinds[id(e)][1]

    def masked(self, e: Expr, t: Integer) -> Expr:
        """`modular.masked`"""
        key = id(e), t
        if key not in self.masks:
            self.masks[key] = e, masked(e, t)
        return self.masks[key][1]

    def is_int(self, e: Expr) -> bool:
        """Whether a well-typed expression is an integer."""
        if id(e) not in self.ints:
            self.ints[id(e)] = e, is_int(e, self.sigma)
        return self.ints[id(e)][1]

    def real(self, e: Expr) -> bool:
        """Whether a well-typed expression is a float with no reductions in it: nothing there depends on ranges."""
        if id(e) not in self.reals:
            plain = not any(isinstance(t, Reduced) for t in subterms(e))
            self.reals[id(e)] = e, plain and type_of(e, self.sigma) not in (INT, BOOL)
        return self.reals[id(e)][1]

    def choice(self, e: Op) -> Choice:
        """The names and numbers of which a `?:` is one by the value of another: `x == 0 ? a : x == 1 ? b : c`, from
        within, each with the `?:` that it is the last one of. Nothing for what is no such choice, and where a test says
        more of what is chosen."""
        if id(e) not in self.chains:
            self.chains[id(e)] = e, self._choice(e)
        return self.chains[id(e)][1]

    def _choice(self, e: Op) -> Choice:
        found, by = list[tuple[Expr, Expr | None]](), set[Expr]()
        last: Expr = e
        while isinstance(last, Op) and last.op == "?:":
            here, (test, one, last) = last, last.args
            match test:
                case Op("==", (Var() | Param() | Tid() as x, Const(int()))) if self.is_int(x):
                    by.add(x)
                case _:
                    return ()
            found.append((one, here if here is not e and self.steady(here) else None))
        names = (last, *(one for one, _ in found))
        tested = len(by) == 1 and all(isinstance(e, Var | Param | Tid | Const) and self.is_int(e) for e in names)
        return ((last, None), *reversed(found)) if tested and by.isdisjoint(names) else ()

    def steady(self, e: Expr) -> bool:
        """`stores.steady`"""
        if id(e) not in self.still:
            self.still[id(e)] = e, steady(e)
        return self.still[id(e)][1]


def is_int(e: Expr, sigma: Signature) -> bool:
    """Whether a well-typed expression is an integer: most operators give what their last operand is."""
    while isinstance(e, Op) and (e.op in ARITHMETIC or e.op in ("neg", "~", "?:")):
        e = e.args[-1]
    if isinstance(e, Op) and (e.op in COMPARISONS or e.op in CONNECTIVES):
        return False
    return type_of(e, sigma) == INT
