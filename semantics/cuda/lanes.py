"""Values that lanes get from others of their warp: shuffles, votes, matches and reductions (`semantics.exchange`).

Each is one operator, however wide what is passed: some value for bounds, and for runs what `State.exchanges` says of
it. Of a structure each part is passed by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from logic.syntax import INT, TRUE, Const, Exchange, Expr, Op, Param, Type
from logic.typing import type_of
from semantics import exchange
from semantics.cuda.clang import Node
from semantics.cuda.ctype import scalar
from semantics.cuda.errors import unsupported
from semantics.cuda.expressions import expr
from semantics.cuda.modular import operation, stripped
from semantics.cuda.places import TIDS, anything, evaluate, store
from semantics.cuda.pointers import address, place
from semantics.cuda.records import declared, set_parts, values
from semantics.cuda.sequence import Unordered, within
from semantics.cuda.shapes import bare
from semantics.cuda.state import Address, Place, State, Use

_X, _Y, _Z = TIDS
_ROW: Final = Op("+", (_Y, Op("*", (Param("blockDim.y"), _Z))))
THREAD: Final = Op("+", (_X, Op("*", (Param("blockDim.x"), _ROW))))
"""The number of a thread in its block."""

WARP: Final = Op("/", (THREAD, Param("warpSize")))
"""The number of a thread's warp in its block."""

_WIDTHS: Final = tuple(1 << i for i in range(6))


def of_lanes(st: State, node: Node, name: str, use: Use) -> Expr | Place:
    """A function of what other lanes of the warp pass. All arguments are evaluated; what they say of it is passed to
    runs."""
    given, masked, kind = node.arguments, name.endswith("_sync"), exchange.FUNCTIONS[name]
    told = given[-1] if kind == "match_all" else None
    rest = given[masked:] if told is None else given[masked:-1]
    whole = rest[0] if rest and rest[0].type.kind == "record" else None
    parts, inner = Unordered(st), within(use)
    mask = [stripped(parts.part(expr(st, e, inner)), 32) for e in given[:masked]]
    if whole is not None:
        fields = parts.part(values(st, whole, inner))
        passed = [e for e in fields if not isinstance(e, Address)]
        if len(passed) != len(fields) or kind not in exchange.SHUFFLES:
            raise unsupported(f"this structure in '{name}'", node.loc, "Pass its fields one by one.")
    else:
        passed = [parts.part(expr(st, e, inner)) for e in rest[:1]] or [TRUE]
    asked = [stripped(parts.part(expr(st, e, inner)), 32) for e in rest[1:]]
    parts.check(node.loc)
    mask, passed, asked = ([evaluate(st, e) for e in part] for part in (mask, passed, asked))
    if whole is not None:
        made = declared(st, "t", node, settled=True)
        set_parts(st, made, [_got(st, node, name, e, [*mask, *asked], type_of(e, st.sigma)) for e in passed], node)
        return made
    got = _got(st, node, name, passed[0], [*mask, *asked], scalar(node.type) or INT)
    if told is not None:
        _tell(st, told, got)
    return operation(got, node.type) if kind in exchange.REDUCTIONS else got


def _got(st: State, node: Node, name: str, passed: Expr, asked: Sequence[Expr], type_: Type) -> Expr:
    """The values that lanes get that pass this. They depend on nothing else than where lanes get the same."""
    kind, masked = exchange.FUNCTIONS[name], name.endswith("_sync")
    mask, rest, on = asked[:masked], asked[masked:], list[Expr](TIDS)
    if kind in (*exchange.VOTES, *exchange.REDUCTIONS, "match_all"):
        st.note(f"for bounds {name} may give any value, the same at the lanes of a warp that pass the same mask")
        on = [*mask, WARP]
    elif kind == "shfl" and rest[1] in (Const(0), *map(Const, _WIDTHS)):  # 0 for the whole warp, as the shim has it
        st.note(f"for bounds {name} may give any value, the same at the lanes of a warp that ask for the same lane")
        part = [Op("/", (Op("%", (THREAD, Param("warpSize"))), rest[1]))] if rest[1] != Const(0) else []
        on = [rest[0], WARP, *part]
    else:
        st.note(f"for bounds {name} may give any value at each lane")
    e = anything(st, name, on, type_, node.loc)
    by, width = (*rest, None, None)[:2]
    st.exchanges[st.unknowns] = Exchange(passed, by, width, *mask)
    return st.saved(e, type_)  # here and now: who is active matters, and what is passed


def _tell(st: State, pointer: Node, got: Expr) -> None:
    """Emit what `__match_all_sync` says by its pointer: whether all lanes pass the same."""
    inner = bare(pointer)
    own = inner.kind == "UNARY_OPERATOR" and inner.operator == "&"
    where: Place = place(st, inner.children[0]) if own else address(st, pointer).plus(4, Const(0))
    t = pointer.type.inner
    if t is not None:
        store(st, where, Op("int", (Op("!=", (got, Const(0)), pointer.loc),), pointer.loc), t, pointer.loc)
