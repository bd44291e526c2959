"""CUDA C to miniCUDA: a file and a kernel's name to a `logic.syntax.Kernel`."""

from __future__ import annotations

import operator
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Final

from logic.source import Loc
from logic.syntax import (
    INT,
    TRUE,
    Assign,
    Const,
    Expr,
    If,
    Kernel,
    Op,
    Param,
    Read,
    Seq,
    Stmt,
    While,
    Write,
    mapped,
    seq,
    show,
)
from logic.typing import TypeProblem, check_kernel, signature
from semantics.cuda.alike import anywhere
from semantics.cuda.arguments import Launched, launched
from semantics.cuda.blocks import sized
from semantics.cuda.calls import call, construct, destroy
from semantics.cuda.clang import Node
from semantics.cuda.classes import check_objects
from semantics.cuda.declarations import declaration, listed
from semantics.cuda.diagnostics import check
from semantics.cuda.errors import CudaError, unsupported
from semantics.cuda.expressions import condition, discard, expr
from semantics.cuda.functions import function_type, passed
from semantics.cuda.halved import with_limits
from semantics.cuda.held import Held
from semantics.cuda.jumps import check_labels
from semantics.cuda.lambdas import in_fields, of_host
from semantics.cuda.launches import Extent, sizes_of
from semantics.cuda.parse import STD, Parsed, Request, asks, find, in_its_language, parse, parsed_for_host, stands_for
from semantics.cuda.places import check_lengths, parameter
from semantics.cuda.pointers import point
from semantics.cuda.ranges import Types
from semantics.cuda.records import copy, declared, loaded, set_parts
from semantics.cuda.regions import unit
from semantics.cuda.scan import count_changes, loop_counters
from semantics.cuda.scopes import scoped
from semantics.cuda.settle import settled, shortened
from semantics.cuda.state import DEEPEST, Address, Frame, Moving, Parts, Plan, Replan, State, too_deep
from semantics.cuda.statements import block
from semantics.cuda.stores import Range, Sizes
from semantics.cuda.tables import check_unwritten
from semantics.cuda.templates import kernels, qualified, told


@dataclass(frozen=True, slots=True)
class Reading:
    """A kernel as read; `block` and `grid` are those of the file's launches, `remarks` are assumptions for the ledger.

    The kernel is right for launches that satisfy `facts`, which are about parameters and sizes alone; in others some of
    its unsigned values wrap around. `written` is its body with every reduction modulo 2^bits that C makes, `types` are
    those of its integers. `launched` are the launches that the file shows; `sized` says of parameters that all of these
    pass the size of the block. `rows` has the bytes of a row (what the last index runs over) of the shared arrays with
    several dimensions, by their names, `tables` what arrays in constant memory are declared to hold. `one_row` says
    that the kernel counts the blocks of its grid as if they were in a row. `spans` are limits of the elements of
    arrays, within which the kernel is right, too: of those that contracts speak of (`under`). `passed` are the names of
    what the kernel is passed, in order; what has none is "". `fields` are the numbers in the structures among that: of
    each the byte that it begins at, and its size. `symbol` is the kernel's name in compiled code. `unsteady` is the
    memory that is read as what others may change meanwhile: as volatile, or atomically.
    """

    kernel: Kernel
    block: Extent | None
    grid: Extent | None
    remarks: tuple[str, ...]
    facts: tuple[Expr, ...]
    written: Stmt
    types: Types
    rows: Mapping[str, int] = field(default_factory=dict)
    tables: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    one_row: bool = False
    spans: tuple[tuple[str, Range], ...] = ()
    passed: tuple[str, ...] = ()
    fields: Mapping[str, Mapping[str, tuple[int, int]]] = field(default_factory=dict)
    symbol: str = ""
    unsteady: frozenset[str] = frozenset()
    launched: tuple[Launched, ...] = ()
    sized: tuple[Expr, ...] = ()

    @property
    def launches(self) -> tuple[tuple[Extent | None, Extent | None], ...]:
        """The grid and the block of every launch that the file shows a size of, where these do not agree, too."""
        return tuple(dict.fromkeys((found.grid, found.block) for found in self.launched if found.grid or found.block))

    @property
    def usual_grid(self) -> Extent | None:
        """The grid that is assumed of a kernel which counts its blocks as if they were in a row, where no launch shows
        another one; None for other kernels."""
        others = any(grid is not None and grid[1:] != (1, 1) for grid, _ in self.launches)
        return (None, 1, 1) if self.one_row and not others else None

    @property
    def notes(self) -> tuple[str, ...]:
        """All that is assumed, for the ledger."""
        kinds = "unsigned and short values" if shortened(self.written) else "unsigned values"
        return (*self.remarks, *(f"given, as {kinds} wrap around if not: {show(e)}" for e in self.facts))

    def under(
        self,
        given: Sequence[Expr] = (),
        block: Sizes = (None, None, None),
        grid: Sizes = (None, None, None),
        assume: bool = True,
        split: bool = True,
        data: Sequence[Held] = (),
        warp: int | None = None,
    ) -> Reading:
        """The same kernel for launches with blocks and a grid of these sizes, of which what is `given` holds, on arrays
        of which `data` do, and where warps have so many lanes. Unless it may `assume` facts, it is right for all of
        them; unless comparisons are `split`, it takes no more operators."""
        with _deep_recursion():
            sigma = signature(self.kernel)
            body = self.written if warp is None else mapped(self.written, partial(_of_lanes, warp=warp))
            passed = [dict(one.numbers) for one in self.launched]
            found = settled(body, self.types, sigma, given, block, grid, assume, split, data, passed)
        kernel = replace(self.kernel, body=found.body)
        return replace(self, kernel=kernel, facts=found.facts, spans=found.spans)


def read_cuda(
    path: str,
    name: str | None = None,
    includes: Sequence[str] = (),
    defines: Sequence[str] = (),
    std: str = STD,
    instantiate: str | None = None,
    shared_block: tuple[int | None, ...] | None = None,
    settle: bool = True,
) -> Reading:
    """Read a kernel from a CUDA file: the one called `name`, which may be an instance of a template, else the only one.

    `includes`, `defines` and `std` are what `-I`, `-D` and `--std` give a compiler; `instantiate` is a template
    instance (`k<float,256>`); `shared_block` has the known block sizes, for `__shared__ int s[blockDim.x]`. Who asks at
    once what it is `under` some launches need not `settle` which reductions it has in all: then it has each of them.
    Raises CudaError for anything that can't be read, at its place.
    """
    same = name is not None and instantiate is not None and name.replace(" ", "") == instantiate.replace(" ", "")
    if name is not None and "<" in name and (instantiate is None or same):
        name, instantiate = None, name
    request = in_its_language(Request(path, tuple(includes), tuple(defines), std, instantiate, shared_block))
    program = _program(request, name)
    found = _reading(request, program)
    if asks(request):
        _check_answers(found, program, request, name)
    assumed = [f"the header '{h}' is taken as included by one that was not found" for h in request.more]
    taken = ((macro, stands_for(macro)[1]) for macro in request.dispatches)
    assumed += (f"the macro '{macro}' of a header that was not found is taken for {what}" for macro, what in taken)
    if request.std != std:
        assumed.append(f"the source is read as {request.std.upper()}")
    found = replace(found, remarks=(*assumed, *found.remarks))
    return found.under() if settle else found


INSTANCES: Final = 3
"""The most instances of templates that stand in the name of a kernel."""

_INSTANCE: Final = re.compile(r"[A-Za-z_]\w*<[\w ,:*&()./\[\]<>-]{0,400}>", re.ASCII)


def _of_lanes(e: Expr, warp: int) -> Expr:
    """An expression with a number in place of warpSize."""
    match e:
        case Param("warpSize"):
            return Const(warp, loc=e.loc)
        case Op(_, args):
            parts = tuple(_of_lanes(a, warp) for a in args)
            return e if all(map(operator.is_, parts, args)) else replace(e, args=parts)
        case Read(array, index):
            inner = _of_lanes(index, warp)
            return e if inner is index else Read(array, inner, e.loc)
    return e


def _name(kernel: Node) -> str:
    """The name of a kernel, of an instance with its arguments, `k<float, 256>`, as far as certificates have them."""
    full = re.sub(r"^(\w+::)+", "", told(kernel))
    named = _INSTANCE.fullmatch(full) and full.count("<") == full.count(">") <= INSTANCES
    return full if named else kernel.name


@dataclass(frozen=True, slots=True)
class _Program:
    """A kernel as it is lowered, with each reduction modulo 2^bits, and what that leaves to look at."""

    parsed: Parsed
    node: Node
    notes: tuple[str, ...]
    kernel: Kernel
    state: State
    types: Types


def _check_answers(found: Reading, program: _Program, request: Request, name: str | None) -> None:
    """Raises where another program is read if all functions may be called from everywhere. What is not executed may
    call them, and CUDA's compiler chooses templates by that; clang by what may be called from where they are used, and
    it keeps what it first said of a concept. The classes of our headers that are unlike the library's are others in it,
    too, which is seen by their sizes and by how they are written."""
    same = False
    with suppress(CudaError), _deep_recursion():
        everywhere = replace(request, together=True)
        other = _program(everywhere, name, program.parsed.begun)
        same = (anywhere(other.kernel), other.types) == (anywhere(program.kernel), program.types)
        if not same:
            one, two = found.under(), _reading(everywhere, other).under()
            same = (anywhere(one.kernel), one.facts) == (anywhere(two.kernel), two.facts)
        same = same and (other.state.tables, other.state.rows) == (program.state.tables, program.state.rows)
    if not same:
        told = "a template is chosen by what may be called, or by a class of a library: which is not known"
        advice = "Declare with __host__ __device__ what it asks for; use no traits or sizes of a library's classes."
        raise CudaError(told, found.kernel.loc, advice)


def _program(request: Request, name: str | None, begun: bytes | None = None) -> _Program:
    """A kernel from a file as it is requested; `begun` is as in `parse`."""
    parsed = parse(request, begun)
    node = find(parsed, request, name)
    notes = check(parsed.unit, node)
    if request.instantiate is None and (own := told(node)) != qualified(node):
        notes += (f"the kernel is the instance {own} of a template",)
    with _deep_recursion():
        kernel, st = _lower(parsed, node)
    kernel = replace(kernel, name=_name(node), removed=tuple(parsed.whole.removed(node.loc.file) if node.loc else ()))
    limits = {name: (min(table), max(table)) for name, table in st.tables.items()}
    types = Types(st.integers, {name: frozenset(own) for name, own in st.elements.items()}, limits)
    return _Program(parsed, node, notes, kernel, st, types)


def _reading(request: Request, program: _Program) -> Reading:
    """The reading of a kernel with each reduction, and with what the file says of its launches."""
    parsed, node, kernel, st = program.parsed, program.node, program.kernel, program.state
    host = cache(lambda: parsed_for_host(request, parsed.whole.data))
    grid, block = sizes_of(parsed.whole, host, node)
    remarks = (*program.notes, *st.notes)
    found = Reading(kernel, block, grid, remarks, (), kernel.body, program.types, st.rows, st.tables, st.one_row)
    passed = tuple(p.name for p in node.arguments)
    fields = {p.name: dict(_fields(p, p.name, 0)) for p in node.arguments if p.type.kind == "record"}
    unsteady = frozenset(st.unsteady)
    found = replace(found, passed=passed, fields=fields, symbol=node.symbol, unsteady=unsteady)
    parameters = sized(parsed.whole, host, node, kernel.body)
    return replace(found, launched=launched(parsed.whole, host, node), sized=parameters)


def _fields(of: Node, name: str, start: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """The numbers in a structure that begins at a byte, without bit-fields and what unions have."""
    for f in () if of.type_decl.kind == "UNION_DECL" else of.fields:
        at, own = start + f.field_offset, f"{name}.{f.name}"
        if f.type.kind == "record":
            yield from _fields(f, own, at)
        elif f.type.kind in ("int", "bool", "base") and not f.is_bitfield:
            yield own, (at, f.type.size)


def kernel_names(path: str, includes: Sequence[str] = (), defines: Sequence[str] = (), std: str = STD) -> list[str]:
    """The names of the kernels in a file, in source order. Raises CudaError where it can't be read."""
    parsed = parse(in_its_language(Request(path, tuple(includes), tuple(defines), std)))
    return list(dict.fromkeys(k.name for k in kernels(parsed.unit)))


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Room for the recursion over a tree of bounded depth (`scan.DEEPEST_TREE`)."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 20_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _lower(parsed: Parsed, node: Node) -> tuple[Kernel, State]:
    """A kernel, lowered by the plans that one after another leads to."""
    plan = Plan()
    while True:
        st = State(
            call=call,
            expr=expr,
            condition=condition,
            discard=discard,
            construct=construct,
            declaration=declaration,
            copy=copy,
            destroy=destroy,
            listed=listed,
            unknown_lengths=parsed.unknown_lengths,
            plan=plan,
            ordered=parsed.ordered,
        )
        try:
            return _lowered(node, st)
        except CudaError:
            if not st.borrowed:
                raise
            plan = replace(plan, borrows=False)
        except Replan as found:
            if found.plan == plan:
                raise found.otherwise from None
            plan = found.plan


def _lowered(node: Node, st: State) -> tuple[Kernel, State]:
    body = node.children[-1]
    if body.kind != "COMPOUND_STMT":
        raise unsupported(f"the form of the kernel '{node.name}'", node.loc)
    check_objects(node)
    check_labels(body)
    check_lengths(st, node)
    count_changes(body, st.changed)
    st.counters |= loop_counters(body)
    st.taken.update(p.name for p in node.arguments)
    st.frames.append(Frame(node.name, loc=node.loc))
    named = set[str]()
    for p in node.arguments:
        _parameter(st, p, st.fresh(p.name) if p.name in named else p.name)  # those of a pack have one name
        named.add(p.name)
    with st.captured() as stmts:
        block(st, scoped(st, body), frozenset({"return"}))
    if st.frame.live:
        st.emit(Assign(st.frame.live, TRUE, node.loc))
    whole = seq(*st.out, *stmts)
    _check_depth(whole)
    whole = with_limits(whole, st.integers)
    check_unwritten(st, whole)
    arrays = tuple(st.sigma.arrays.values())
    kernel = Kernel(node.name, tuple(st.params), arrays, tuple(st.locals), whole, node.loc, st.exchanges)
    try:
        check_kernel(kernel)
    except TypeProblem as e:
        raise CudaError(f"in miniCUDA {e.message}", e.loc, e.advice) from e
    return kernel, st


def _parameter(st: State, p: Node, name: str) -> None:
    """Bind a parameter of the kernel; one that is assigned is copied to a variable at the start."""
    t = p.type
    if not p.name:
        return  # nobody can mention it
    if t.kind == "pointer" and t.inner is not None and t.inner.kind == "other":
        if function_type(p) and not st.changed[p.identity]:
            passed(st, p, name)
        return  # else an error where it is used, since nothing binds it
    if of_host(st, p, p.name):
        st.bindings[p.identity] = Parts(p.name, ())
        return
    in_fields(st, p, name)
    place = parameter(st, name, t, p.loc)
    if not st.changed[p.identity] or st.borrows(place):
        st.bindings[p.identity] = place
        return
    match place:
        case Param(name):
            local = st.declare(name, st.sigma.params[name], p.loc, first=0, of=t)
            st.emit(Assign(local.name, Param(name, p.loc), p.loc))
            st.bindings[p.identity] = local
        case Address() if t.inner is not None:
            offset = st.declare(name, INT, p.loc, first=0)
            as_number = unit(t.inner) if p.loc in st.plan.adrift else 0
            st.bindings[p.identity] = Moving(place, t.inner.size, offset.name, 0, p.loc, unit=as_number)
            point(st, p.identity, place, p.loc)
        case _:
            st.bindings[p.identity] = made = declared(st, name, p)
            set_parts(st, made, loaded(st, place, p), p)


def _check_depth(s: Stmt) -> None:
    """Raise where statements and expressions nest deeper than all that reads them can take."""
    stack: list[tuple[Stmt | Expr, int, Loc | None]] = [(s, 0, None)]
    while stack:
        here, depth, loc = stack.pop()
        loc = here.loc or loc
        if depth > DEEPEST:
            raise too_deep(loc)
        inner: tuple[Stmt | Expr, ...] = ()
        match here:
            case Seq(stmts):
                stack.extend((t, depth, loc) for t in stmts)
            case If(c, a, b):
                stack.append((c, 0, loc))
                inner = (a, b)
            case While(c, body):
                stack.append((c, 0, loc))
                inner = (body,)
            case Assign(_, e):
                stack.append((e, 0, loc))
            case Write(_, i, e):
                stack.extend(((i, 0, loc), (e, 0, loc)))
            case Op(_, args):
                inner = args
            case Read(_, i):
                inner = (i,)
        stack.extend((t, depth + 1, loc) for t in inner)
