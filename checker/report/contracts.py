"""Contracts on data as a function that a host program calls before a launch: in C++ or in Python.

The function says which contract is broken first, and at which indices, too where an array has no element that it
speaks of there; nothing, or an empty text, where all are kept.
Integers are those of the contract: C++ has 64 bits, and throws std::range_error past them, Python any. What divides is
written as a call, as C's division and remainder are not Python's, and a divisor may be 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from keyword import iskeyword
from typing import Final, Literal

from checker.notation.contracts import Contract
from checker.notation.problem import OptionProblem
from logic.syntax import Const, Expr, Kernel, Op, Param, Read, Var, subterms

Language = Literal["c++", "python"]

_PYTHON: Final = {"&&": "and", "||": "or"}
_CALLED: Final = {"/": "quotient", "%": "remainder", "<<": "left", ">>": "right", "min": "least", "max": "most"}
_CHECKED: Final = {"+": "sum", "-": "difference", "*": "product", "neg": "difference", "/": "quotient"}
"""What may leave 64 bits, and is a call in C++; so is `left`, which is a product."""

_HELPERS: Final = {
    "c++": {
        "sum": """static long long sum_(long long a, long long b) {
    if (b > 0 ? a > LLONG_MAX - b : a < LLONG_MIN - b) throw std::range_error(past_);
    return a + b;
}""",
        "difference": """static long long difference_(long long a, long long b) {
    if (b < 0 ? a > LLONG_MAX + b : a < LLONG_MIN + b) throw std::range_error(past_);
    return a - b;
}""",
        "product": """static long long product_(long long a, long long b) {
    if (a > 0 ? (b > LLONG_MAX / a || b < LLONG_MIN / a)
              : (a < -1 && (b > LLONG_MIN / a || b < LLONG_MAX / a)) || (a == -1 && b == LLONG_MIN))
        throw std::range_error(past_);
    return a * b;
}""",
        "quotient": """static long long quotient_(long long a, long long b) {
    if (a == LLONG_MIN && b == -1) throw std::range_error(past_);
    return b ? a / b : 0;
}""",
        "remainder": "static long long remainder_(long long a, long long b) { return b == -1 ? 0 : b ? a % b : a; }",
        "left": """static long long left_(long long a, long long k) {
    if (a == 0 || k < 0) return 0;
    if (k > 62) throw std::range_error(past_);
    return product_(a, 1LL << k);
}""",
        "right": "static long long right_(long long a, long long k) { return k < 0 ? 0 : a >> (k > 63 ? 63 : k); }",
        "least": "static long long least_(long long a, long long b) { return a < b ? a : b; }",
        "most": "static long long most_(long long a, long long b) { return a < b ? b : a; }",
    },
    "python": {
        "quotient": "def quotient_(a, b):\n    return 0 if b == 0 else a // b if (a < 0) == (b < 0) else -(-a // b)",
        "remainder": "def remainder_(a, b):\n"
        "    return a if b == 0 else a - b * (a // b if (a < 0) == (b < 0) else -(-a // b))",
        "left": "def left_(a, k):\n    return 0 if k < 0 else a << k",
        "right": "def right_(a, k):\n    return 0 if k < 0 else a >> k",
        "least": "least_ = min",
        "most": "most_ = max",
    },
}


_AT: Final = """static const char *const past_ = "a number past 64 bits: contracts are tested in 64 bits";
template <typename T>
static long long at_(const char *name, const T *array, std::size_t length, long long i) {
    static_assert(std::is_integral<T>::value, "contracts are about arrays of integers");
    if (i < 0 || i >= (long long)length)
        throw std::out_of_range(std::string("'") + name + "' has no element " + std::to_string(i));
    if (array[i] > T(0) && (unsigned long long)array[i] > 9223372036854775807ULL)
        throw std::range_error(past_);
    return (long long)array[i];
}"""
_AT_PYTHON: Final = """from operator import index


def at_(name, array, i):
    if not 0 <= i < len(array):
        raise IndexError(f"'{name}' has no element {i}")
    return index(array[i])"""
"""An element. That there is none breaks a contract. What is no integer is an error, and never rounded."""


def as_code(kernel: Kernel, contracts: Sequence[Contract], language: Language) -> str:
    """The function `check_KERNEL` as a source text: of the parameters that contracts mention, then of their arrays, in
    C++ each with its length. Raises OptionProblem for arrays that are fields of structures."""
    named = dict.fromkeys(name for c in contracts for name in _names(c))
    own = [a.name for a in kernel.arrays if a.name in named]
    if fields := [name for name in own if "." in name]:
        told = f"a contract on '{fields[0]}', a field of a structure, is no function of an array"
        raise OptionProblem(told, kernel.loc, "Test it with --array.")
    arrays, params = ([_identifier(name) for name in names] for names in (own, [n for n in named if n not in own]))
    python = language == "python"
    name = f"check_{kernel.name.rpartition('::')[2].partition('<')[0]}"
    used = dict.fromkeys(call for c in contracts for call in _calls(c, python))
    lines = [_HELPERS[language][call] for call in used]
    if python:
        lines = [*([_AT_PYTHON] if arrays else []), *lines]
        lines += [*(["", ""] if lines else []), f"def {name}({', '.join((*params, *arrays))}):"]
    else:
        given = [f"long long {p}" for p in params]
        given += [part for a in arrays for part in (f"const T_{a} *{a}", f"std::size_t {a}_length")]
        types = ", ".join(f"typename T_{a}" for a in arrays)
        lines = [_AT, *lines, "", f"template <{types}>", f"std::string {name}({', '.join(given)}) {{"]
    for c in contracts:
        lines += _loops(c, python)
    lines += ["    return None"] if python else ['    return "";', "}"]
    head = (
        []
        if python
        else [
            "#include <algorithm>",
            "#include <climits>",
            "#include <cstddef>",
            "#include <stdexcept>",
            "#include <string>",
            "#include <type_traits>",
            "",
        ]
    )
    return "\n".join([*head, *lines]) + "\n"


def _identifier(name: str) -> str:
    """A name that Python has for nothing else: CUDA may call an array `in` or `from`. Our own end by _, too."""
    return f"{name}_" if iskeyword(name) or name == "len" else name.replace(".", "_")


def _terms(c: Contract) -> Iterator[Expr]:
    """All terms of a contract."""
    for e in (c.fact, *(e for _, *ends in c.ranges for e in ends if e is not None)):
        yield from subterms(e)


def _names(c: Contract) -> Iterator[str]:
    own = {name for name, *_ in c.ranges}
    for t in _terms(c):
        match t:
            case Read(array, _):
                yield array
            case Var(name) | Param(name) if name not in own:
                yield name


def _calls(c: Contract, python: bool) -> Iterator[str]:
    """The helpers that a contract needs, in the order in which they may be written."""
    ops = [t.op for t in _terms(c) if isinstance(t, Op)]
    checked = ["*" if op == "<<" else op for op in ops if op in _CHECKED or op == "<<"]
    yield from (_CHECKED[op] for op in checked if not python)
    yield from (_CALLED[op] for op in ops if op in _CALLED)


def _loops(c: Contract, python: bool) -> Iterator[str]:
    """A loop for each variable, and the test inside."""
    pad = "    "
    arrays = sorted(map(_identifier, c.arrays))
    lengths = [f"len({a})" if python else f"(long long){a}_length" for a in arrays]
    for variable, low, high in c.ranges:
        name = _identifier(variable)
        first = "0" if low is None else _text(low, python)
        if high is not None:
            last = _text(high, python)
        elif python:
            last = f"min({', '.join(lengths)})" if len(lengths) > 1 else lengths[0]
        else:
            last = f"std::min({{{', '.join(lengths)}}})" if len(lengths) > 1 else lengths[0]
        if python:
            yield f"{pad}for {name} in range({first}, {last}):"
        else:
            yield f"{pad}for (long long {name} = {first}; {name} < {last}; {name}++)"
        pad += "    "
    text, fact = c.text, _text(c.fact, python)
    if python:
        at = ", ".join(f"{name} = {{{_identifier(name)}}}" for name, *_ in c.ranges)
        told = f' + f", at {at}"' if at else ""
        yield f"{pad}try:"
        yield f"{pad}    kept_ = {fact}"
        yield f"{pad}except IndexError as outside_:"
        yield f'{pad}    return "{text}"{told} + f": {{outside_}}"'
        yield f"{pad}if not kept_:"
        yield f'{pad}    return "{text}"{told}'
    else:
        heads = [", at ", *[", "] * len(c.ranges)]
        at = "".join(
            f' + "{head}{name} = " + std::to_string({_identifier(name)})'
            for head, (name, *_) in zip(heads, c.ranges, strict=False)
        )
        yield f"{pad}try {{"
        yield f"{pad}    if (!({fact}))"
        yield f'{pad}        return std::string("{text}"){at};'
        yield f"{pad}}} catch (const std::out_of_range &outside_) {{"
        yield f'{pad}    return std::string("{text}"){at} + ": " + outside_.what();'
        yield f"{pad}}}"


def _text(e: Expr, python: bool) -> str:
    match e:
        case Const(bool() as value):
            return str(value) if python else str(value).lower()
        case Const(value):
            return f"{value}" if python else f"{value}LL"
        case Var(name) | Param(name):
            return _identifier(name)
        case Read(name, index):
            array, i = _identifier(name), _text(index, python)
            return f'at_("{name}", {array}, {i})' if python else f'at_("{name}", {array}, {array}_length, {i})'
        case Op(op, args):
            parts = [_text(a, python) for a in args]
            if op in _CHECKED and not python:
                return f"{_CHECKED[op]}_({', '.join(['0LL', *parts] if op == 'neg' else parts)})"
            match op, parts:
                case "neg", [a]:
                    return f"(-{a})"
                case "!", [a]:
                    return f"(not {a})" if python else f"(!{a})"
                case "?:", [a, b, c]:
                    return f"({b} if {a} else {c})" if python else f"({a} ? {b} : {c})"
                case _, [a]:
                    return f"({op}{a})" if op == "~" else f"{op}({a})"
                case _, [a, b] if op in _CALLED:
                    return f"{_CALLED[op]}_({a}, {b})"
                case _, [a, b]:
                    return f"({a} {_PYTHON.get(op, op) if python else op} {b})"
    raise ValueError(f"a contract has no {e}")
