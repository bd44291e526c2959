"""Kernels and proof outlines as text (.qhl)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from checker.notation.contracts import is_contract, parse_contract
from checker.notation.expressions import Scope, fact, integer, parse_assumption, to_expr
from checker.notation.parser import parse
from checker.notation.potentials import to_poly
from checker.notation.problem import Place, SyntaxProblem, shortened, trees, words
from checker.notation.profiles import SUFFIX, read_hardware, read_metric
from checker.synthesis.outline import Block, Branch, Item, Loop, Outline, Partial, Plain, Split, strip, without
from logic.assertions import MAX_BLOCK, Context, Dim, Launch, conj
from logic.assertions import Scope as Span
from logic.contracts import Contract, arrays_of
from logic.metrics import HARDWARE, METRICS, Hardware, Metric
from logic.rules import SOUND, RuleSet
from logic.source import Loc
from logic.stable import unwritten
from logic.syntax import (
    BOOL,
    BUILTINS,
    DOUBLE,
    FLOAT,
    GHOST,
    INT,
    Array,
    Assign,
    Assume,
    Const,
    Decl,
    Expr,
    Kernel,
    Op,
    Skip,
    Space,
    Sync,
    Type,
    Write,
    seq,
    statements,
)
from logic.typing import Signature, TypeProblem, check_kernel, signature, type_of

if TYPE_CHECKING:
    from lark import Token, Tree

    from checker.notation.problem import Node

SCALARS: Final = {"int": INT, "bool": BOOL, "float": FLOAT, "double": DOUBLE}
"""Names of types; any other base type is written with its size in bytes, `float4(16)`."""

ELEMENTS: Final = {
    **{name: (type_, type_.size) for name, type_ in SCALARS.items()},
    "char": (INT, 1),
    "short": (INT, 2),
    "long": (INT, 8),
}
"""Names of element types: the type of the value and the bytes it takes in memory."""

RULES: Final = {
    "branch": tuple(name for name, rule in SOUND.rules.items() if rule.shape == "if"),
    "loop": tuple(name for name, rule in SOUND.rules.items() if rule.turns and rule.printed),
}
"""The rules that an outline may choose, with or without what stands before the colon."""

_PREFIXES: Final = frozenset({"tid", "threadIdx", "blockIdx", "blockDim", "gridDim"})
_OF_OUTLINES: Final = {
    **{kind: kind for kind in ("metric", "hardware", "scope", "block", "grid")},
    "requires": "requirements",
    "rule": "rules",
    "condition": "conditions",
    "split": "splits",
}
LARGEST: Final = 2**31 - 1
ASSUMED: Final = "--assume"
"""Where what an option assumes is said to stand."""
_COMMENT: Final = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_REQUIRED: Final = re.compile(r"\brequires\b([^;]*);|\bbegin\b")


def parse_kernel(text: str, file: str) -> Kernel:
    """The well-typed miniCUDA program that a text is, with nothing of an outline. Raises SyntaxProblem, TypeProblem."""
    place = Place(file)
    tree = parse(text, "outline", place)
    for node in sorted(tree.find_pred(lambda t: t.data in _OF_OUTLINES), key=place.of):
        raise SyntaxProblem(f"a program has no {_OF_OUTLINES[node.data]}", place.of(node), "An outline has.")
    header = _declarations(tree, place)
    for ghost in header.ghosts:
        raise SyntaxProblem("a program has no ghosts", ghost.loc, "An outline has.")
    return _read(tree, place, header)[0]


def parse_outline(text: str, file: str, assumed: Sequence[str] = (), rules: RuleSet = SOUND) -> Outline:
    """The proof outline that a .qhl text is, with more that is assumed: well-typed, each place known. It may name rules
    of the set. Raises SyntaxProblem and TypeProblem."""
    place = Place(file)
    text, stated = _contracts(text, file)
    tree = parse(text, "outline", place)
    header = _declarations(tree, place)
    for kind in ("metric", "hardware", "scope", "block", "grid"):
        for again in header.settings.get(kind, [])[1:]:
            raise SyntaxProblem(f"a second '{kind}'", place.of(again), "Keep one of them.")
    if "metric" not in header.settings:
        begin = next(t for t in words(tree.children) if t.type == "BEGIN")
        raise SyntaxProblem("no metric is named", place.of(begin), f"Add 'metric' and one of: {', '.join(METRICS)}.")
    metric = _profile("metric", header, place, METRICS, read_metric)
    hardware = _profile("hardware", header, place, HARDWARE, read_hardware)
    span: Span = "block" if _choice("scope", header, place, ("warp", "block")) == "block" else "warp"
    block, grid = _extents("block", header, place), _extents("grid", header, place)
    more = [(one, Loc(ASSUMED, 1, 1)) for one in assumed if is_contract(one)]
    kernel, body, sigma, contracts = _read(tree, place, header, (*stated, *more), rules)
    scope = Scope(sigma, place, "assumption")
    facts = [fact(node.children[1], scope) for node in header.settings.get("requires", [])]
    facts += [parse_assumption(one, sigma, ASSUMED) for one in assumed if not is_contract(one)]
    launch = Launch(block, grid, conj(facts, sigma), contracts)
    return Outline(kernel, Context(sigma, metric, hardware, launch, span), body)


def _contracts(text: str, file: str) -> tuple[str, list[tuple[str, Loc]]]:
    """The text without the contracts on data in its head, whose grammar is another, and these."""
    found: list[tuple[str, Loc]] = []
    kept, end = "", 0
    text = _COMMENT.sub(lambda comment: re.sub(r"[^\n]", " ", comment[0]), text)
    for match in _REQUIRED.finditer(text):
        if match[0] == "begin":
            break
        told = match[1] or ""
        if is_contract(told.strip()):
            start = match.start(1) + len(told) - len(told.lstrip())
            before = text[:start]
            found.append((told.strip(), Loc(file, before.count("\n") + 1, start - (before.rfind("\n") + 1) + 1)))
            kept += text[end : match.start()] + re.sub(r"[^\n]", " ", match[0])
            end = match.end()
    return kept + text[end:], found


def _stable(stated: Sequence[tuple[str, Loc]], kernel: Kernel) -> tuple[Contract, ...]:
    """The contracts that texts are, on arrays that a kernel does not write. Raises SyntaxProblem and TypeProblem."""
    sigma, found = signature(kernel), dict[Contract, None]()
    for text, loc in stated:
        one = parse_contract(text, sigma, loc.file or "", loc)
        for array in sorted(one.arrays - unwritten(kernel)):
            sentence = f"the kernel may write to '{array}', so a contract cannot say what it holds"
            raise SyntaxProblem(sentence, loc, "Copy it, or leave out the contract.")
        found |= {c: None for c in one.contracts if c.quantities}
    return tuple(found)


# --- the header ------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Header:
    """The declarations of a text, and its settings by kind."""

    params: list[Decl] = field(default_factory=list)
    arrays: list[Array] = field(default_factory=list)
    locals: list[Decl] = field(default_factory=list)
    ghosts: list[Decl] = field(default_factory=list)
    settings: dict[str, list[Tree[Token]]] = field(default_factory=dict)
    taken: dict[str, Token] = field(default_factory=dict)

    def declare(self, name: Token, place: Place) -> str:
        if name in self.taken:
            first = place.of(self.taken[name])
            sentence = f"{shortened(name)} is declared twice"
            raise SyntaxProblem(sentence, place.of(name), f"It is declared in line {first.line}, too.")
        dotted = name.partition(".")[0] in _PREFIXES and "." in name
        if name in BUILTINS or dotted:
            raise SyntaxProblem(f"{shortened(name)} has a meaning of its own", place.of(name), "Choose another name.")
        self.taken[name] = name
        return str(name)


def _declarations(tree: Tree[Token], place: Place) -> _Header:
    header = _Header()
    for node in trees(tree.children):
        inner = trees(node.children)
        match str(node.data):
            case "scalars":
                keyword, *names = words(node.children)
                type_ = _scalar_type(inner[0], place)
                for name in names:
                    ghost = name.startswith(GHOST)
                    if ghost and (keyword == "param" or type_ != INT):
                        raise SyntaxProblem(f"a ghost is a local int, {shortened(name)} is not", place.of(name))
                    target = header.params if keyword == "param" else header.ghosts if ghost else header.locals
                    target.append(Decl(header.declare(name, place), type_, place.of(name)))
            case "arrays":
                space: Space = "global" if node.children[0] == "global" else "shared"
                header.arrays += [_array(space, inner[0], array, header, place) for array in inner[1:]]
            case "metric" | "hardware" | "scope" | "block" | "grid" | "requires" as kind:
                header.settings.setdefault(kind, []).append(node)
    return header


def _base_type(spec: Tree[Token], place: Place) -> Type | None:
    """The type `name(bytes)`; None where no size is written."""
    name, *size = words(spec.children)
    if not size:
        return None
    if name in ELEMENTS and ELEMENTS[name][0].kind != "base":
        raise SyntaxProblem(f"'{name}' has a fixed size", place.of(name), "Only base types are written with a size.")
    return Type("base", str(name), _positive(size[0], place))


def _scalar_type(spec: Tree[Token], place: Place) -> Type:
    name = str(spec.children[0])
    type_ = _base_type(spec, place) or SCALARS.get(name)
    if type_ is not None:
        return type_
    if name in ELEMENTS:
        raise SyntaxProblem(f"'{name}' is a type of array elements only", place.of(spec), "The value in it is an int.")
    raise _unknown_type(spec, place)


def _unknown_type(spec: Tree[Token], place: Place) -> SyntaxProblem:
    name = str(spec.children[0])
    advice = f"There are {', '.join(ELEMENTS)}; others are written with their size in bytes, such as float4(16)."
    return SyntaxProblem(f"no type is called {shortened(name)}", place.of(spec), advice)


def _array(space: Space, spec: Tree[Token], node: Tree[Token], header: _Header, place: Place) -> Array:
    base = _base_type(spec, place)
    if base is None and spec.children[0] not in ELEMENTS:
        raise _unknown_type(spec, place)
    elem, width = (base, base.size) if base else ELEMENTS[str(spec.children[0])]
    token, *size = words(node.children)
    name = header.declare(token, place)
    length = _positive(size[0], place) if size else None
    layout: dict[str, int] = {}
    for key, value in (words(part.children) for part in trees(node.children)):
        if key in layout:
            raise SyntaxProblem(f"a second '{key}'", place.of(key), "Keep one of them.")
        layout[str(key)] = _positive(value, place, least=0 if key == "offset" else 1)
    width = layout.get("width", width)
    return Array(name, space, elem, layout.get("stride", width), layout.get("offset", 0), width, length)


def _positive(token: Token, place: Place, least: int = 1, most: int = LARGEST) -> int:
    value = integer(token, place)
    if not least <= value <= most:
        sentence = f"{shortened(token)} is not between {least} and {most}"
        raise SyntaxProblem(sentence, place.of(token), "Give a number in that range.")
    return value


def _choice(kind: str, header: _Header, place: Place, known: tuple[str, ...]) -> str:
    """The name that a setting gives, the first of those known where there is no such setting."""
    for node in header.settings.get(kind, []):
        _, name = words(node.children)
        if name not in known:
            sentence = f"no {kind} is called {shortened(name)}"
            raise SyntaxProblem(sentence, place.of(name), f"Known: {', '.join(known)}.")
        return str(name)
    return known[0]


_Profile = TypeVar("_Profile", Metric, Hardware)


def _profile(
    kind: str, header: _Header, place: Place, known: dict[str, _Profile], read: Callable[[Path, Loc], _Profile]
) -> _Profile:
    """The metric or hardware that a setting names: one of those known, or a file beside the outline."""
    for node in header.settings.get(kind, []):
        _, name = words(node.children)
        if name.endswith(SUFFIX):
            return read(Path(place.file).parent / name, place.of(name))
    return known[_choice(kind, header, place, tuple(known))]


def _extents(kind: str, header: _Header, place: Place) -> Dim:
    """The sizes after `block` or `grid`: `_` is symbolic, a missing one is 1; all symbolic where nothing is said."""
    for node in header.settings.get(kind, []):
        tokens = words(node.children)[1:]
        if len(tokens) > 3:
            sentence = f"a {kind} has at most three sizes"
            raise SyntaxProblem(sentence, place.of(tokens[3]), f"Two of them are written {kind} 16,16.")
        most = MAX_BLOCK if kind == "block" else LARGEST
        sizes = [None if t.type == "HOLE" else _positive(t, place, most=most) for t in tokens]
        if kind == "block" and prod(n for n in sizes if n is not None) > MAX_BLOCK:
            raise SyntaxProblem(f"a block has at most {MAX_BLOCK} threads", place.of(tokens[0]), "CUDA allows no more.")
        x, y, z, *_ = (*sizes, 1, 1)
        return x, y, z
    return None, None, None


# --- the body --------------------------------------------------------------------------------------------------------


def _read(
    tree: Tree[Token],
    place: Place,
    header: _Header,
    stated: Sequence[tuple[str, Loc]] = (),
    rules: RuleSet = SOUND,
) -> tuple[Kernel, Block, Signature, tuple[Contract, ...]]:
    """The kernel, well-typed and without ghosts, its annotated body, the signature with them, and contracts on arrays
    of which the body may speak."""
    name = tree.children[1]
    declared = Kernel(
        str(name), tuple(header.params), tuple(header.arrays), tuple(header.locals), Skip(), place.of(name)
    )
    sigma = signature(declared)
    sigma = replace(sigma, locals={**sigma.locals, **{ghost.name: ghost.type for ghost in header.ghosts}})
    writes = {str(node.children[0]) for node in tree.find_data("write")}
    contracts = _stable(stated, replace(declared, body=seq(*(Write(a, Const(0), Const(0)) for a in sorted(writes)))))
    sigma = replace(sigma, stable=arrays_of(contracts))
    body = _items(tree.children, Scope(sigma, place, rules=rules))
    written = program = strip(body)
    for ghost in header.ghosts:
        program = without(program, ghost.name)
    kernel = replace(declared, body=program)
    check_kernel(kernel)
    for s in statements(written):
        match s:
            case Assign(x, e) if x.startswith(GHOST) and (got := type_of(e, sigma)) != INT:
                raise TypeProblem(f"'{x}' is int, the value is {got}", s.loc, "Convert the value.")
    return kernel, body, sigma, contracts


_ITEMS: Final = ("condition", "split", "assign", "write", "skip", "sync", "assume", "branch", "loop")


def _items(nodes: list[Node], scope: Scope) -> Block:
    items: list[Item] = []
    for node in nodes:
        if not isinstance(node, str) and node.data in _ITEMS:
            items.append(_item(node, scope))  # noqa: PERF401 a comprehension is one more frame a level
    return tuple(items)


def _item(node: Tree[Token], scope: Scope) -> Item:
    loc, parts = scope.place.of(node), node.children
    match str(node.data):
        case "condition":
            return _condition(node, scope)
        case "split":
            return Split(fact(parts[1], Scope(scope.sigma, scope.place, "condition")), loc)
        case "assign":
            return Plain(Assign(str(parts[0]), to_expr(parts[1], scope), loc))
        case "write":
            return Plain(Write(str(parts[0]), to_expr(parts[1], scope), to_expr(parts[2], scope), loc))
        case "skip":
            return Plain(Skip(loc))
        case "sync":
            return Plain(Sync(loc))
        case "assume":
            return Plain(Assume(to_expr(parts[1], scope), loc))
    rule = None
    if not isinstance(parts[1], str) and parts[1].data == "rule":
        (name,) = words(parts[1].children)
        rule = _rule(name, str(node.data), scope)
        parts = parts[1:]
    cond = to_expr(parts[1], scope)
    blocks = trees(parts[2:])
    if node.data == "loop":
        invariant = _condition(blocks[0], scope) if len(blocks) == 2 else Partial()
        return Loop(cond, invariant, _items(blocks[-1].children, scope), rule, loc)
    then = _items(blocks[0].children, scope)
    orelse: Block = ()
    if len(blocks) == 2:
        chained = blocks[1].data == "branch"
        orelse = (_item(blocks[1], scope),) if chained else _items(blocks[1].children, scope)
    return Branch(cond, then, orelse, rule, loc)


def _rule(token: Token, kind: str, scope: Scope) -> str:
    statement = "if" if kind == "branch" else "while"
    own = (r.name for r in scope.rules.rules.values() if r not in SOUND.rules.values() and r.shape == statement)
    known = dict.fromkeys((*RULES[kind], *own))
    name = next((name for name in known if token in (name, name.partition(":")[2])), None)
    if name is None:
        sentence = f"no rule for '{statement}' is called {shortened(token)}"
        raise SyntaxProblem(sentence, scope.place.of(token), f"There are {', '.join(known)}.")
    return name


def _condition(node: Tree[Token], scope: Scope) -> Partial:
    formula, potential, uniform = node.children
    sigma, about = scope.sigma, Scope(scope.sigma, scope.place, "condition")
    p = None if _is_hole(formula) else conj(_conjuncts(fact(formula, about)), sigma)
    q = None if _is_hole(potential) else to_poly(potential, about)
    x = None if isinstance(uniform, str) else frozenset(_uniform(words(uniform.children), about))
    return Partial(p, q, x, scope.place.of(node))


def _conjuncts(e: Expr) -> list[Expr]:
    """The conjuncts, for `conj` one by one: of `b && false` it would keep `false` alone, and so not what was shown."""
    match e:
        case Op("&&", (a, b)):
            return [*_conjuncts(a), *_conjuncts(b)]
    return [e]


def _is_hole(node: Node) -> bool:
    return isinstance(node, str) and node.type == "HOLE"


def _uniform(names: list[Token], scope: Scope) -> list[str]:
    """The local variables among the names; parameters are uniform in any case."""
    for name in names:
        if name not in scope.sigma.locals and name not in scope.sigma.params:
            sentence = f"no local variable is called {shortened(name)}"
            known = ", ".join(sorted(scope.sigma.locals)) or "none"
            raise SyntaxProblem(sentence, scope.place.of(name), f"Uniform can be: {known}.")
    return [str(name) for name in names if name in scope.sigma.locals]


def element_name(array: Array) -> tuple[str, int]:
    """The name of an array's element type, and the width that the name stands for."""
    for name, (type_, width) in ELEMENTS.items():
        if (type_, width) == (array.elem, array.width):
            return name, width
    return type_name(array.elem), array.elem.size


def type_name(t: Type) -> str:
    """The type as it is written."""
    return t.name if SCALARS.get(t.name) == t else f"{t.name}({t.size})"
