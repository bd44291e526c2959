"""The reader of PTX, as nvcc prints it: a text to a `semantics.ptx.program.Module`."""

from __future__ import annotations

from collections import ChainMap
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from math import prod
from typing import TYPE_CHECKING, Final

from checker.notation.problem import shortened, trees, words
from logic.source import Loc
from semantics.ptx.program import (
    Function,
    Instruction,
    Memory,
    Module,
    Number,
    Operand,
    Pair,
    PtxProblem,
    Register,
    Symbol,
    Variable,
    Vector,
)

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

    from checker.notation.problem import Node

_ADVICE: Final = "It is read as nvcc 13 prints it."


@lru_cache
def _parser() -> Lark:
    from lark import Lark

    grammar = files("checker.notation").joinpath("ptx.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", propagate_positions=True, maybe_placeholders=False)


def read_ptx(text: str, file: str) -> Module:
    """The module that a PTX text is. Raises PtxProblem, at its line of the file, for what is not known."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    try:
        tree = _parser().parse(text)
    except UnexpectedCharacters as error:
        raise _unknown(file, error.line, error.column, _at(text, error.pos_in_stream)) from None
    except UnexpectedToken as error:
        raise _unknown(file, error.token.line or 1, error.token.column or 1, str(error.token)) from None
    parts = trees(tree.children)
    names = {_whole(p.children[0]): str(p.children[1])[1:-1] for p in parts if p.data == "file"}
    version = next((str(p.children[0]) for p in parts if p.data == "version"), "")
    target = next((str(p.children[0]) for p in parts if p.data == "target"), "")
    variables = [v for p in parts if p.data == "variable" for v in _variables(p)]
    functions = [_function(p, names, file) for p in parts if p.data == "function"]
    return Module(version, target, tuple(variables), {f.name: f for f in functions if f is not None})


def _at(text: str, offset: int | None) -> str:
    return text[offset or 0 :][:1]


def _unknown(file: str, line: int, column: int, found: str) -> PtxProblem:
    return PtxProblem(f"{shortened(found)} is not known in PTX here", Loc(file, line, column), _ADVICE)


def _whole(token: Node) -> int:
    return int(str(token).rstrip("U"), 0)


def _bits(token: Token) -> int:
    """The value of a number: of a float its bits."""
    return int(f"0x{token[2:]}", 0) if token.type == "FLOAT" else _whole(token)


# --- variables -------------------------------------------------------------------------------------------------------


def width(type_: str) -> int:
    """The bytes of a PTX type: 4 of `f32`."""
    if type_ in ("pred", "texref", "surfref", "samplerref"):
        return 1 if type_ == "pred" else 8
    return {"f16x2": 4, "bf16": 2}.get(type_) or int(type_.lstrip("busf")) // 8


def _variables(tree: Tree[Token]) -> list[Variable]:
    """The variables of a declaration. Raises PtxProblem for an initial value that is an address."""
    tokens, space, _, elem = _declared(tree)
    qualifiers = [q for t in trees(tree.children) if t.data == "qualifier" for q in words(t.children)]
    align = next((_whole(q) for q in qualifiers if q.type == "NUMBER"), width(elem))
    lanes = next((int(q[2:]) for q in qualifiers if q.type == "VECTOR"), 1)
    data = next((_data(q, width(elem)) for q in trees(tree.children) if q.data == "initial"), b"")
    found = []
    for name, extents in _names(tree):
        unknown = None in extents or (".extern" in tokens and 0 in extents)
        size = None if unknown else width(elem) * lanes * prod(n or 0 for n in extents)
        found.append(Variable(name, space, size, align, data))
    return found


def _declared(tree: Tree[Token]) -> tuple[list[Token], str, list[Tree[Token]], str]:
    tokens = words(tree.children)
    space = next(str(t)[1:] for t in tokens if t.type == "SPACE")
    elem = next((str(t)[1:] for t in tokens if t.type == "TYPE"), "b8")
    return tokens, space, [t for t in trees(tree.children) if t.data == "name_of"], elem


def _names(tree: Tree[Token]) -> list[tuple[str, list[int | None]]]:
    """The names that a declaration has, with their extents; `%r<3>` is three names."""
    found: list[tuple[str, list[int | None]]] = []
    for of in _declared(tree)[2]:
        (name,) = words(of.children)
        counts = [t for t in trees(of.children) if t.data == "count"]
        extents = [_whole(t.children[0]) if t.children else None for t in trees(of.children) if t.data == "extent"]
        names = [f"{name}{n}" for n in range(_whole(counts[0].children[0]))] if counts else [str(name)]
        found += [(own, extents) for own in names]
    return found


def _data(tree: Tree[Token], size: int) -> bytes:
    """The bytes of an initial value. Raises PtxProblem for addresses in it."""
    found = b""
    for part in tree.children:
        if not isinstance(part, str):
            found += _data(part, size)
        elif part.type in ("NUMBER", "FLOAT"):
            found += (_bits(part) % (1 << 8 * size)).to_bytes(size, "little")
        else:
            raise PtxProblem(
                f"the address of '{part}' as an initial value is not known here", Loc("", part.line or 1, 1)
            )
    return found


# --- functions -------------------------------------------------------------------------------------------------------


@dataclass
class _Body:
    """A body that is being read."""

    file: str
    names: dict[int, str]
    registers: dict[str, str] = field(default_factory=dict)
    variables: list[Variable] = field(default_factory=list)
    code: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    targets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    places: tuple[Loc, ...] = ()
    scopes: int = 0


def _function(tree: Tree[Token], names: dict[int, str], file: str) -> Function | None:
    """A function; None for one that is only declared."""
    tokens, parts = words(tree.children), trees(tree.children)
    kind = next(str(t)[1:] for t in tokens if t.type == "KIND")
    name = next(str(t) for t in tokens if t.type == "NAME")
    made = next((p for p in parts if p.data == "body"), None)
    if made is None:
        return None
    groups = [p for p in parts if p.data == "parameters"]
    given = [v for p in trees(groups[-1].children) for v in _variables(p)] if groups else []
    body = _Body(file, names)
    _statements(body, made, ChainMap())
    return Function(
        name,
        kind == "entry",
        tuple(given),
        body.registers,
        tuple(body.variables),
        tuple(body.code),
        body.labels,
        body.targets,
        Loc(file, tree.meta.line, tree.meta.column),
    )


def _statements(body: _Body, tree: Tree[Token], scope: ChainMap[str, str]) -> None:
    for s in trees(tree.children):
        match s.data:
            case "label":
                body.labels[str(s.children[0])] = len(body.code)
            case "instruction":
                body.code.append(_instruction(body, s, scope))
            case "declaration":
                _declaration(body, trees(s.children)[0], scope)
            case "loc":
                body.places = _places(body, s)
            case "targets":
                table, *labels = map(str, s.children)
                body.targets[table] = tuple(labels)
            case "scope":
                body.scopes += 1
                _statements(body, s, scope.new_child())
            case _:
                pass


def _declaration(body: _Body, tree: Tree[Token], scope: ChainMap[str, str]) -> None:
    _, space, _, elem = _declared(tree)
    if space != "reg":
        body.variables += _variables(tree)
        return
    for name, _ in _names(tree):
        own = f"{name}#{body.scopes}" if name in body.registers else name
        scope[name] = own
        body.registers[own] = elem


def _places(body: _Body, tree: Tree[Token]) -> tuple[Loc, ...]:
    """The places of `.loc`; a line of 0 is none, and what comes after it has the last one that was known."""
    tokens = words(tree.children)
    numbers = [_whole(t) for t in tokens if t.type == "NUMBER"]
    file, line, column = numbers[:3]
    if line == 0:
        return body.places[:1]
    here = Loc(body.names.get(file, ""), line, column)
    if len(numbers) < 6:
        return (here,)
    outer, at, col = numbers[-3:]
    around = Loc(body.names.get(outer, str(outer)), at, col)
    return (here, around)


def _instruction(body: _Body, tree: Tree[Token], scope: ChainMap[str, str]) -> Instruction:
    guard, operands, opcode, loc = None, [], "", Loc(body.file, tree.meta.line, tree.meta.column)
    for part in tree.children:
        if isinstance(part, str):
            opcode = str(part)
        elif part.data == "guard":
            *bang, name = map(str, part.children)
            guard = Register(scope.get(name, name), bool(bang))
        else:
            operands.append(_operand(body, part, scope))
    return Instruction(opcode, tuple(operands), guard, loc, body.places)


def _operand(body: _Body, tree: Tree[Token], scope: ChainMap[str, str]) -> Operand:
    tokens = words(tree.children)
    loc = Loc(body.file, tree.meta.line, tree.meta.column)
    match tree.data:
        case "register":
            *bang, name = map(str, tokens)
            return Register(scope.get(name, name), bool(bang))
        case "number":
            return Number(_bits(tokens[0]))
        case "symbol":
            name = str(tokens[0])
            if name in scope:
                return Register(scope[name])
            return Memory(Symbol(name), _whole(tokens[1])) if len(tokens) > 1 else Symbol(name)
        case "pair":
            first, second = map(str, tokens)
            return Pair(Register(scope.get(first, first)), Register(scope.get(second, second)))
        case "memory":
            if trees(tree.children):
                raise PtxProblem("coordinates of a texture are not known here", loc)
            base, *offset = tokens
            by = _whole(offset[0]) if offset else 0
            if base.type == "NUMBER":
                return Memory(None, _whole(base) + by)
            own = scope.get(base, str(base))
            is_register = base.type == "REGISTER" or base in scope
            return Memory(Register(own) if is_register else Symbol(own), by)
        case _:
            return Vector(tuple(_operand(body, part, scope) for part in trees(tree.children)))
