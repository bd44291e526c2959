"""Values of many lanes at once: `semantics.values`, on arrays.

The integers of miniCUDA are mathematical. They are kept in 64 bits together with bounds, which say before an operation
whether its results fit; where they might not, the bounds are taken anew from the values, and `Unsupported` is raised
where they do not. Arithmetic on `float` is done in single precision: for +, -, * and / that is the same as rounding
the result of double precision (2 * 24 + 2 <= 53 bits). Functions that are not correctly rounded go through the scalar
code, once for every distinct operand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from logic.source import Loc
from logic.syntax import Op, Type
from semantics import exchange
from semantics.values import Value, ValueProblem, operation

Data = NDArray[Any]
"""A matrix, a row a warp and a column a lane; an axis along which nothing changes may have the length 1."""

Mask = NDArray[np.bool_] | None
"""The active lanes; None: all."""

MAX_BITS: Final = 53
"""Of an integer that a double holds."""

LIMIT: Final = 2**62
"""No integer beyond this is computed, so sums of two never overflow."""


class Unsupported(Exception):
    """This engine cannot do something exactly, which the reference can."""


class Val(NamedTuple):
    """The values of lanes; integers are from `lo` to `hi` in all lanes, the inactive ones too."""

    data: Data
    lo: int = 0
    hi: int = 0


def dtype(type_: Type) -> type[Any]:
    """The numpy type in which values of a type are kept."""
    match type_.kind:
        case "int":
            return np.int64
        case "bool":
            return np.bool_
        case "base":
            return np.float32 if type_.name == "float" else np.float64


def uniform(value: Value, type_: Type) -> Val:
    """One value for all lanes. Raises Unsupported for an integer that is too large."""
    if type_.kind != "int":
        return Val(np.full((1, 1), value, dtype(type_)))
    n = int(value)
    if abs(n) > LIMIT:
        raise Unsupported
    return Val(np.full((1, 1), n, np.int64), n, n)


def tight(v: Val, mask: Mask) -> Val:
    """The integers v with the closest bounds; 0 in inactive lanes."""
    data = v.data if mask is None else np.where(mask, v.data, 0)
    return Val(data, int(data.min()), int(data.max()))


Lanewise = Callable[[tuple[Val, ...], Mask], Val]


def lanewise(op: str, operands: tuple[Type, ...], result: Type, loc: Loc | None) -> Lanewise:
    """The function on lanes that an operator denotes. Raises ValueProblem as `semantics.values.operation` does."""
    operand = operands[-1]
    scalar = operation(op, operand, result, loc)
    if op in ("int", "bool") or op.startswith("as:"):
        return _conversion(operand, result)
    if op.startswith("call:"):
        plain = op.removeprefix("call:").removeprefix("__")
        exact = _EXACT.get(plain) or _EXACT.get(plain.removesuffix("f"))
        if exact is None or len(operands) != 1:
            return lambda args, _: _each(scalar, args, result)
        function = exact
        return lambda args, _: Val(function(args[0].data.astype(np.float64)).astype(dtype(result)))
    if op == "?:":
        return lambda args, _: Val(
            np.where(args[0].data, args[1].data, args[2].data),
            min(args[1].lo, args[2].lo),
            max(args[1].hi, args[2].hi),
        )
    if op in _COMPARE:
        compare = _COMPARE[op]
        return lambda args, _: Val(compare(args[0].data, args[1].data))
    if operand.kind == "base":
        arithmetic = _FLOATS[op]
        return lambda args, _: Val(arithmetic(*(a.data for a in args)))
    if op in _LOGICAL:
        logical = _LOGICAL[op]
        return lambda args, _: Val(logical(*(a.data for a in args)))
    return _on_integers(_INTEGERS[op])


def passed(e: Op, value: Val, asked: tuple[Val, Val, Val | None], active: Mask, warp: int) -> Data:
    """The values that lanes get from others. Raises Unsupported unless all lanes ask alike for a shuffle, for what is
    defined and for numbers of no more than MAX_BITS bits."""
    if warp > MAX_BITS or (value.data.dtype.kind == "i" and (np.abs(value.data) >> MAX_BITS).any()):
        raise Unsupported
    name, (by, width, mask) = exchange.kind(e), asked
    shuffles = name in exchange.SHUFFLES
    if shuffles and (width.data.size > 1 or (mask is not None and mask.data.size > 1)):
        raise Unsupported
    if name != "shfl" and by.data.size > 1:
        raise Unsupported
    there: Data = np.array(True) if active is None else active
    masks: Data = np.array(0) if mask is None else mask.data
    shape = np.broadcast_shapes(value.data.shape, by.data.shape, (1, warp), there.shape, masks.shape)
    data, there = np.broadcast_to(value.data, shape), np.broadcast_to(there, shape)
    if not shuffles:
        if mask is not None and masks.size == 1:
            there = there & ((masks >> np.arange(warp)) & 1).astype(np.bool_)
        return _voted(name, data, there, None if masks.size == 1 else np.broadcast_to(masks, shape))
    wide, far = int(width.data.flat[0]) or warp, by.data % warp
    same = 0 if far.size > 1 else int(far.flat[0])
    known = [exchange.source(name, lane, same, wide, warp) for lane in range(warp)]
    if None in known:
        raise Unsupported
    sources = np.broadcast_to(np.array(known) + (far % wide if far.size > 1 else 0), shape)
    if not (np.take_along_axis(there, sources, 1) | ~there).all():
        raise Unsupported
    return np.take_along_axis(data, sources, 1)


def _voted(name: str, data: Data, there: Data, masks: Data | None) -> Data:
    """The values of a vote, a match or a reduction for each lane: `masks` has what each asks with, if not all the
    same."""
    lanes = np.arange(data.shape[1])
    asks: Data = there[:, None, :]  # warps, lanes that ask, lanes that are asked
    if masks is not None:
        asks = asks & ((masks[:, :, None] >> lanes) & 1).astype(np.bool_)
    yes = data.astype(np.bool_)[:, None, :] if name not in exchange.REDUCTIONS else there[:, None, :]
    match name:
        case "any":
            found = (yes & asks).any(axis=2)
        case "all":
            found = (yes | ~asks).all(axis=2)
        case "match_any" | "match_all":
            if data.dtype.kind == "f":
                raise Unsupported
            alike = (data[:, None, :] == data[:, :, None]) & asks
            found = (alike.astype(np.int64) << lanes).sum(axis=2)
            if name == "match_all":
                found = np.where((alike == asks).all(axis=2), found, 0)
        case reduction if reduction in exchange.REDUCTIONS:
            start, ufunc = _REDUCED[reduction]
            found = np.where(asks.any(axis=2), ufunc.reduce(np.where(asks, data[:, None, :], start), axis=2), 0)
        case _:
            found = ((yes & asks).astype(np.int64) << lanes).sum(axis=2)
    return np.asarray(np.broadcast_to(found, data.shape))


_LARGE: Final = 1 << MAX_BITS
_REDUCED: Final[dict[str, tuple[int, np.ufunc]]] = {
    "reduce_add": (0, np.add),
    "reduce_min": (_LARGE, np.minimum),
    "reduce_max": (-_LARGE, np.maximum),
    "reduce_and": (-1, np.bitwise_and),
    "reduce_or": (0, np.bitwise_or),
    "reduce_xor": (0, np.bitwise_xor),
}
"""Reductions with what changes none."""


# --- integers --------------------------------------------------------------------------------------------------------

Bounds = tuple[int, int]


def _on_integers(integers: Callable[..., tuple[Bounds, Callable[[], Data]]]) -> Lanewise:
    """An operator whose bounds are checked before it computes."""

    def apply(args: tuple[Val, ...], mask: Mask) -> Val:
        (lo, hi), compute = integers(*args)
        if lo < -LIMIT or hi > LIMIT:
            (lo, hi), compute = integers(*(tight(a, mask) for a in args))
            if lo < -LIMIT or hi > LIMIT:
                raise Unsupported
        return Val(compute(), lo, hi)

    return apply


def _add(a: Val, b: Val) -> tuple[Bounds, Callable[[], Data]]:
    return (a.lo + b.lo, a.hi + b.hi), lambda: a.data + b.data


def _subtract(a: Val, b: Val) -> tuple[Bounds, Callable[[], Data]]:
    return (a.lo - b.hi, a.hi - b.lo), lambda: a.data - b.data


def _multiply(a: Val, b: Val) -> tuple[Bounds, Callable[[], Data]]:
    corners = (a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi)
    return (min(corners), max(corners)), lambda: a.data * b.data


def _divide(a: Val, b: Val) -> tuple[Bounds, Callable[[], Data]]:
    """C's a / b; 0 where b is 0."""
    if a.lo >= 0 and b.lo > 0:
        shift = _power(b)
        return (0, a.hi // b.lo), lambda: a.data // b.data if shift is None else a.data >> shift
    most = max(abs(a.lo), abs(a.hi))
    return (-most, most), lambda: _quotient(a.data, b.data)


def _quotient(a: Data, b: Data) -> Data:
    q = np.abs(a) // np.where(b == 0, 1, np.abs(b))
    return np.where(b == 0, 0, np.where((a < 0) == (b < 0), q, -q))


def _modulo(a: Val, b: Val) -> tuple[Bounds, Callable[[], Data]]:
    """C's a % b; a where b is 0."""
    if a.lo >= 0 and b.lo > 0:
        shift = _power(b)
        return (0, min(a.hi, b.hi - 1)), lambda: a.data % b.data if shift is None else a.data & (2**shift - 1)
    most = max(abs(a.lo), abs(a.hi))
    return (-most, most), lambda: a.data - b.data * _quotient(a.data, b.data)


def _power(b: Val) -> int | None:
    """k where b is 2**k in all lanes."""
    return b.lo.bit_length() - 1 if b.lo == b.hi and b.lo & (b.lo - 1) == 0 else None


def _left(a: Val, b: Val) -> tuple[Bounds, Callable[[], Data]]:
    """a << b; 0 where b is negative."""
    if b.hi > 62 and (a.lo, a.hi) != (0, 0):
        return (-2 * LIMIT, 2 * LIMIT), lambda: a.data
    most = min(max(b.hi, 0), 62)
    by = np.clip(b.data, 0, 62)
    return (min(a.lo, 0) << most, max(a.hi, 0) << most), lambda: np.where(b.data >= 0, a.data << by, 0)


def _right(a: Val, b: Val) -> tuple[Bounds, Callable[[], Data]]:
    """a >> b; 0 where b is negative."""
    if b.lo == b.hi >= 0:
        by = min(b.lo, 63)
        return (a.lo >> by, a.hi >> by), lambda: a.data >> by
    return (min(a.lo, 0), max(a.hi, 0)), lambda: np.where(b.data >= 0, a.data >> np.clip(b.data, 0, 63), 0)


def _bits(a: Val, b: Val) -> Bounds:
    width = max(n.bit_length() for n in (a.lo, a.hi, b.lo, b.hi))
    return (0 if a.lo >= 0 and b.lo >= 0 else -(2**width)), 2**width - 1


def _and(a: Val, b: Val) -> tuple[Bounds, Callable[[], Data]]:
    nonnegative = [v.hi for v in (a, b) if v.lo >= 0]
    return (0, min(nonnegative)) if nonnegative else _bits(a, b), lambda: a.data & b.data


_INTEGERS: Final[dict[str, Callable[..., tuple[Bounds, Callable[[], Data]]]]] = {
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    "/": _divide,
    "%": _modulo,
    "<<": _left,
    ">>": _right,
    "&": _and,
    "|": lambda a, b: (_bits(a, b), lambda: a.data | b.data),
    "^": lambda a, b: ((min(_bits(a, b)[0], 0), _bits(a, b)[1]), lambda: a.data ^ b.data),
    "min": lambda a, b: ((min(a.lo, b.lo), min(a.hi, b.hi)), lambda: np.minimum(a.data, b.data)),
    "max": lambda a, b: ((max(a.lo, b.lo), max(a.hi, b.hi)), lambda: np.maximum(a.data, b.data)),
    "neg": lambda a: ((-a.hi, -a.lo), lambda: -a.data),
    "~": lambda a: ((~a.hi, ~a.lo), lambda: ~a.data),
    "abs": lambda a: ((0, max(abs(a.lo), abs(a.hi))), lambda: np.abs(a.data)),
}

# --- booleans and floats ---------------------------------------------------------------------------------------------

_COMPARE: Final[dict[str, Callable[..., Data]]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}

_LOGICAL: Final[dict[str, Callable[..., Data]]] = {
    "&&": np.logical_and,
    "||": np.logical_or,
    "!": np.logical_not,
}


def _quotient_of_floats(a: Data, b: Data) -> Data:
    q = a / b
    return q if b.all() else np.where((b == 0) & np.isnan(q), q.dtype.type(np.nan), q)


def _least(a: Data, b: Data) -> Data:
    return np.where(np.isnan(a) | (b < a), b, a)


def _most(a: Data, b: Data) -> Data:
    return np.where(np.isnan(a) | (b > a), b, a)


_FLOATS: Final[dict[str, Callable[..., Data]]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": _quotient_of_floats,
    "min": _least,
    "max": _most,
    "neg": np.negative,
    "abs": np.abs,
}

_EXACT: Final[dict[str, Callable[[Data], Data]]] = {
    "sqrt": np.sqrt,
    "fabs": np.abs,
    "abs": np.abs,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "rint": np.rint,
}
"""Functions whose result is the same however many lanes are computed at once: IEEE 754 rounds them correctly."""


def _conversion(operand: Type, result: Type) -> Lanewise:
    match result.kind:
        case "bool":
            return lambda args, _: Val(args[0].data != 0)
        case "base":
            # An integer is rounded to double precision first, as in the scalar code.
            return lambda args, _: Val(args[0].data.astype(np.float64).astype(dtype(result)))
    if operand.kind != "base":
        return lambda args, _: Val(args[0].data.astype(np.int64), args[0].lo, max(args[0].hi, 1))

    def truncated(args: tuple[Val, ...], mask: Mask) -> Val:
        x = args[0].data.astype(np.float64)
        x = np.where(np.isfinite(x), x, 0.0)
        if mask is not None:
            x = np.where(mask, x, 0.0)
        if (np.abs(x) >= float(LIMIT)).any():
            raise Unsupported
        data = x.astype(np.int64)
        return Val(data, int(data.min()), int(data.max()))

    return truncated


def _each(function: Callable[[tuple[Value, ...]], Value], args: tuple[Val, ...], result: Type) -> Val:
    """The scalar function for every distinct tuple of operands; the bits tell 0.0 from -0.0. Raises Unsupported for
    integers that no double holds, and where its value is not known: it may be so in lanes alone that are inactive."""
    if any(a.data.dtype.kind == "i" and (np.abs(a.data) >> MAX_BITS).any() for a in args):
        raise Unsupported
    columns = np.broadcast_arrays(*(a.data.astype(np.float64) for a in args))
    shape = columns[0].shape
    bits = np.stack([np.ascontiguousarray(c).ravel().view(np.int64) for c in columns])
    distinct, where = np.unique(bits, axis=1, return_inverse=True)
    operands = zip(*(np.ascontiguousarray(row).view(np.float64).tolist() for row in distinct), strict=True)
    try:
        results = np.array([function(o) for o in operands], dtype(result))
    except ValueProblem as e:
        raise Unsupported from e
    return Val(results[where.reshape(-1)].reshape(shape))
