"""The type checker for miniCUDA: Sigma |- e : tau and Sigma |- s, premises of every theorem (section 3).

The paper omits the rules as straightforward; here they are the match arms of `type_of` and `check_kernel`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from logic.operators import ARITHMETIC, COMPARISONS, CONNECTIVES
from logic.source import Loc, SourceError
from logic.syntax import (
    BOOL,
    BUILTINS,
    DOUBLE,
    FLOAT,
    INT,
    WARP_INDEX,
    Array,
    Assign,
    Assume,
    Const,
    Expr,
    If,
    Kernel,
    Op,
    Param,
    Read,
    Tid,
    Type,
    Var,
    While,
    Write,
    show,
    statements,
)


class TypeProblem(SourceError):
    """An ill-typed expression or statement, at its place."""


@dataclass(frozen=True, slots=True)
class Signature:
    """Sigma: the types of local variables, parameters and arrays."""

    locals: dict[str, Type]
    params: dict[str, Type]
    arrays: dict[str, Array]
    stable: frozenset[str] = frozenset()
    """The arrays that contracts speak of, so that conditions may (`logic.contracts`)."""

    @property
    def elements(self) -> frozenset[str]:
        """The operators that give their elements."""
        return frozenset(f"elem:{name}" for name in self.stable)


_NAME: Final = re.compile(r"[^\W\d]\w*(\.\w+)*", re.ASCII)
_PART: Final = r"[\w ,:*&()./\[\]-]"
_KERNEL: Final = re.compile(rf"(?!.{{500}})[^\W\d]\w*(::[^\W\d]\w*)*(<({_PART}|<({_PART}|<{_PART}*>)*>)*>)?", re.ASCII)
"""`k`, `n::k`, and instances of templates, `k<int, 3>`: a name that ends where it ends, so that no claim about a kernel
can be mistaken for another."""

_ASCII: Final = "Names are made of the letters a to z and A to Z, digits, `_` and `.`."

TAKEN: Final = (*BUILTINS, *(f"tid.{axis}" for axis in "xyz"), "true", "false")
"""Names with a meaning of their own. A declared `tid.x`, the member of a structure, would be taken for the thread's."""


def signature(kernel: Kernel) -> Signature:
    """The signature of a kernel.

    Raises TypeProblem where one name is declared twice, is none, or has a meaning of its own, and for an array whose
    elements are not in a memory space or take no bytes.
    """
    if not _KERNEL.fullmatch(kernel.name):
        raise TypeProblem(f"'{kernel.name}' is not a name", kernel.loc, _ASCII)
    seen: set[str] = set()
    declared: list[tuple[str, Loc | None]] = [(d.name, d.loc) for d in (*kernel.params, *kernel.locals)]
    for name, loc in (*declared, *((a.name, kernel.loc) for a in kernel.arrays)):
        if name in TAKEN:
            raise TypeProblem(f"'{name}' has a meaning of its own", loc, "Choose another name.")
        if not _NAME.fullmatch(name):
            raise TypeProblem(f"'{name}' is not a name", loc, _ASCII)
        if name in seen:
            raise TypeProblem(f"'{name}' is declared twice", loc, "Rename one of the two.")
        seen.add(name)
    typed = (*((d.type, d.loc) for d in (*kernel.params, *kernel.locals)), *((a.elem, None) for a in kernel.arrays))
    for t, loc in typed:
        if not t.name.isascii():
            raise TypeProblem(f"'{t.name}' is not a name of a type", loc or kernel.loc, _ASCII)
    for a in kernel.arrays:
        if a.space not in ("global", "shared") or a.stride < 1 or a.width < 1 or a.offset < 0:
            raise TypeProblem(f"'{a.name}' is not laid out as an array", kernel.loc)
    return Signature(
        {d.name: d.type for d in kernel.locals},
        {**dict.fromkeys(BUILTINS, INT), **{d.name: d.type for d in kernel.params}},
        {a.name: a for a in kernel.arrays},
    )


_WRONG: Final = "'{op}' does not take {types}"


def _operator(op: str, types: tuple[Type, ...], loc: Loc | None) -> Type:
    """The result type of an operator on operands of the given types."""
    base = types != () and types[0].kind == "base"
    match op, types:
        case _, (a, b) if op in ARITHMETIC and a == b == INT:
            return INT
        case (("+" | "-" | "*" | "/" | "min" | "max"), (a, b)) if base and a == b:
            return a
        case _, (a, b) if op in COMPARISONS and a == b and (a != BOOL or op in ("==", "!=")):
            return BOOL
        case _, (a, b) if op in CONNECTIVES and a == b == BOOL:
            return BOOL
        case "?:", (c, a, b) if c == BOOL and a == b:
            return a
        case (("neg" | "~" | "abs"), (a,)) if a == INT:
            return INT
        case (("neg" | "abs"), (a,)) if base:
            return a
        case "!", (a,) if a == BOOL:
            return BOOL
        case "int", (a,) if a != INT:
            return INT
        case "bool", (a,) if a != BOOL:
            return BOOL
        case _, _ if op.startswith("call:") and base:
            return types[0]
        case "as:float", (_,):
            return FLOAT
        case "as:double", (_,):
            return DOUBLE
        case _, (a,) if op.startswith("as:") and a.kind == "base":
            return Type("base", op[3:], a.size)
    names = " and ".join(str(t) for t in types)
    raise TypeProblem(_WRONG.format(op=op, types=names), loc, "Operands have to be of one type; convert one of them.")


def type_of(e: Expr, sigma: Signature) -> Type:
    """tau with Sigma |- e : tau. Raises TypeProblem where there is none."""
    match e:
        case Const(value, type_):
            if type(value) is not {"int": int, "bool": bool, "base": str}.get(type_.kind):
                raise TypeProblem(f"the literal {value!r} is not of type {type_}", e.loc)
            return type_
        case Tid():
            return INT
        case Var(name):
            if name not in sigma.locals:
                raise TypeProblem(f"no local variable is called '{name}'", e.loc, _known(sigma))
            return sigma.locals[name]
        case Param(name):
            if name not in sigma.params:
                raise TypeProblem(f"no parameter is called '{name}'", e.loc, _known(sigma))
            return sigma.params[name]
        case Read(array, index):
            _check_index(array, index, sigma, e.loc)
            return sigma.arrays[array].elem
        case Op(op, (index,)) if op.startswith("elem:"):
            if op[5:] not in sigma.stable:
                raise TypeProblem(f"no contract speaks of '{op[5:]}'", e.loc)
            _check_index(op[5:], index, sigma, e.loc)
            return sigma.arrays[op[5:]].elem
        case Op(op, args):
            return _operator(op, tuple(type_of(a, sigma) for a in args), e.loc)


def _known(sigma: Signature) -> str:
    names = sorted((*sigma.locals, *(p for p in sigma.params if p not in BUILTINS)))
    return f"Known here: {', '.join(names)}." if names else ""


def _check_index(array: str, index: Expr, sigma: Signature, loc: Loc | None) -> None:
    if array not in sigma.arrays:
        raise TypeProblem(f"no array is called '{array}'", loc, f"Known here: {', '.join(sorted(sigma.arrays))}.")
    if type_of(index, sigma) != INT:
        raise TypeProblem(f"the index {show(index)} of '{array}' is not an int", index.loc or loc, "Convert it first.")


def check_kernel(kernel: Kernel) -> Signature:
    """Sigma |- s for the kernel's body. Raises TypeProblem at the first ill-typed place."""
    whole = signature(kernel)
    sigma = replace(whole, params={name: t for name, t in whole.params.items() if name != WARP_INDEX})
    for s in statements(kernel.body):
        match s:
            case Assign(x, e):
                if x not in sigma.locals:
                    raise TypeProblem(f"'{x}' is not a local variable", s.loc, _known(sigma))
                if (got := type_of(e, sigma)) != sigma.locals[x]:
                    raise TypeProblem(f"'{x}' is {sigma.locals[x]}, the value is {got}", s.loc, "Convert the value.")
            case Write(array, index, e):
                _check_index(array, index, sigma, s.loc)
                if (got := type_of(e, sigma)) != (want := sigma.arrays[array].elem):
                    raise TypeProblem(f"'{array}' holds {want}, the value is {got}", s.loc, "Convert the value.")
            case If(cond) | While(cond) | Assume(cond):
                if (got := type_of(cond, sigma)) != BOOL:
                    raise TypeProblem(f"the condition {show(cond)} is {got}, not bool", cond.loc or s.loc)
    return whole
