"""C statements to miniCUDA statements.

The rule for all of it: no access is written twice and no lanes that meet are parted, unless every metric is shown to be
no lower for it. Lanes that a branch parts meet at the end of its statement, at a label of a `switch` that some jump to
and others fall into, where a loop or an inlined function ends, and at a statement in the body of a loop without a test
that all pass which leave it (it is outside of the loop, in a graph of the program); those that jump wait where their
jump leads. So each access of the source is one in miniCUDA, done at once by all lanes that get there. What departs:

- the body of a `do` loop, the tests of loops and what comes before a test at the end of a body are written twice, once
  before the loop: the first turn is of all lanes, and what is done in each turn, by whom, is the same;
- lanes that leave a loop at different turns may do each by itself what all do that leave, where it has no branch,
  barrier, access or exchange: the price of all else is the same for some lanes as for all, and paid more often;
- both sides of `&&`, `||`, `?:` are evaluated where that reads nothing, and increments of lanes that leave: more
  operators, no branch;
- lanes that leave a loop by a jump part at its `if` and again at the test of the loop: M.div twice.

What the constructs become:

- `for (init; c; inc) body` is init; while (c) {body; inc}, `do body while (c)` is body; while (c) {body}. Where the
  condition needs statements of its own (it reads an array after `&&`, or has an effect), they come before the loop and
  again at the end of its body. `while (1) {pre; if (c) break; rest}` is pre; while (!c) {rest; pre} (`_loop` says why
  that costs the same), also with `return` for `break` where no other way leads out.
- `if (c) return; rest` is `if (!c) {rest}`: a jump that ends one branch of an `if` puts the rest of the block into the
  other branch, at no cost. Otherwise a bool variable (`live` for return, `go` for break, `next` for continue; one
  assignment to set it, one where it jumps) guards the rest with an `if` and enters the conditions of the loops as
  `go && c`. A `__syncthreads()` after an early return is thus inside an `if`. Where a loop is left, its increment is
  done all the same if it changes nothing but what the loop's init declares, which nobody sees any more: so the counter
  stays the same at all lanes that stay. A lane that leaves alone pays for it.
- `switch (e) {case 0: a; break; default: b;}` is t = e; if (t == 0) {a} else {b}; where sections fall through they are
  one branch, each under its own test (`semantics.cuda.switch`). A `break` that is not the last statement of the last
  of them has a flag as in a loop.
- in `while (1) { .. if (c) {a; break;} .. }` with no other way out, a comes after the loop, with exceptions as above.
- `if (a && b)` without else where b reads an array is `if (a) { if (b) .. }`; an `if` on a constant is its branch.
- a declaration without initialiser is no statement; nor is that of a constant.
- an array of one thread is a variable for each element; one whose index varies is looked for among all of them, `i == 0
  ? a_0 : a_1`, and assigned by assigning all of them. Where there are too many, or they are structures or read as
  another type, nothing is known of the elements: what is evaluated is paid for, each read may give anything.
- a structure of one thread is a variable for each field (`semantics.cuda.records`).
- a pointer that is never assigned is its initialiser wherever it is used (parts that may change are saved in a
  variable first); one that is assigned is an array and an int variable for the offset in it, or a number where it may
  lead into several arrays (`semantics.cuda.regions`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from logic.source import Loc
from logic.syntax import (
    BOOL,
    FALSE,
    INT,
    TRUE,
    Assign,
    Const,
    Expr,
    If,
    Op,
    Skip,
    Stmt,
    Var,
    While,
    local_vars,
    reads_array,
    seq,
    statements,
    substitute,
)
from semantics.cuda.assembly import KINDS as ASSEMBLY
from semantics.cuda.assembly import assembly
from semantics.cuda.clang import Node
from semantics.cuda.copying import source
from semantics.cuda.counted import counted
from semantics.cuda.declarations import declaration, in_braces
from semantics.cuda.downward import downward
from semantics.cuda.errors import CudaError, unsupported
from semantics.cuda.expressions import condition, discard, expr, into
from semantics.cuda.flags import go_flag, label_flag, live_flag, next_flag, opposite, staying
from semantics.cuda.heads import check_condition, check_if, check_range, counts_alone, declared_in, header, in_order
from semantics.cuda.hidden import of_range
from semantics.cuda.implied import implied, kept, told
from semantics.cuda.jumps import (
    Kinds,
    Part,
    acts,
    after_declarations,
    breaks,
    endless,
    ends,
    flat,
    goes_back,
    jump,
    jumps,
    label,
    last_label,
    leaving,
    of_row,
    sole_exit,
    turns_or_jumps,
    way_back,
    way_out_of,
)
from semantics.cuda.modular import Reduced, renamed
from semantics.cuda.parked import left, shows
from semantics.cuda.pointers import address, deliver, place
from semantics.cuda.records import fill, initialised, moved, reference
from semantics.cuda.scan import count_changes
from semantics.cuda.scopes import leave, left_by, scoped
from semantics.cuda.sections import sections
from semantics.cuda.shapes import bare, described, lvalue, temporary
from semantics.cuda.state import DEEPEST, Address, Loop, Parts, Pointer, State, too_deep
from semantics.cuda.switch import switch

MOST_TWICE: Final = 500
"""Of the statements before a loop's test that come before the loop and at the end of its body. Where there are more, a
flag keeps what the test was, and they come once."""

MOST_STATEMENTS: Final = 10_000
"""The most of a `do` loop, whose body comes twice: such loops in one another would grow without limit."""


def block(st: State, parts: tuple[Part, ...], tail: Kinds) -> None:
    """Emit statements in a row. `tail` has the kinds of jump that lead to where the block ends anyway."""
    alive = [*st.alive]
    _row(st, parts, tail)
    st.alive[:] = alive


def _row(st: State, parts: tuple[Part, ...], tail: Kinds) -> None:
    if st.depth > DEEPEST:
        raise too_deep(next((p.loc for p in parts if isinstance(p, Node)), None))
    at = 0
    while at < len(parts):
        if at == 0 and (end := last_label(parts)):  # else none of those behind is jumped to, either
            _up_to(st, parts[:end], parts[end:], tail)
            return
        part, at = parts[at], at + 1
        if not isinstance(part, Node):
            part()
            continue
        if _leave(st, part, parts[at - 1 :]):
            return
        kinds, rest = jumps(part), parts[at:]
        if goes_back((part, *rest)):
            kinds, parts = _looped(st, part, rest)
            if kinds:
                _then(st, kinds, parts, tail, part.loc)
                return
            at = 0
            continue
        if not kinds:
            statement(st, part)
            continue
        if jump(part) is not None:
            _jump(st, part, tail)
            return
        if part.kind in ("COMPOUND_STMT", "UNEXPOSED_STMT", "LABEL_STMT"):
            _check_unexposed(part)
            parts, at = (*scoped(st, part), *rest), 0
            continue
        if _split(st, part, rest, tail):
            return
        if not rest:
            _within(st, part, tail)
            return
        _within(st, part, frozenset())
        _then(st, kinds, rest, tail, part.loc)
        return


def _up_to(st: State, parts: tuple[Part, ...], rest: tuple[Part, ...], tail: Kinds) -> None:
    """Statements before a label that some of them jump to, and those from there on: all lanes meet there that have not
    left by another way."""
    kind = label(rest[0])
    st.frame.labels[kind] = None
    with st.captured() as stmts:
        block(st, parts, frozenset({kind}))
    flag = st.frame.labels.pop(kind)
    loc = rest[0].loc if isinstance(rest[0], Node) else None
    st.emit(*([Assign(flag, TRUE, loc)] if flag else []), *stmts)
    others = of_row(parts) - {kind}
    if not others:
        block(st, rest, tail)
        return
    _then(st, others, rest, tail, loc)


def _then(st: State, kinds: Kinds, rest: tuple[Part, ...], tail: Kinds, loc: Loc | None) -> None:
    """Statements after some which lanes may have left by jumps."""
    after = _block(st, rest, tail)
    if after != Skip():
        st.emit(If(staying(st, kinds), after, Skip(), loc))


def _looped(st: State, part: Node, rest: tuple[Part, ...]) -> tuple[Kinds, tuple[Part, ...]]:
    """Statements from a label on to which some of them jump back: a loop. Gives how it may be left, and what follows
    it. Where a flag has to say whether it goes on, that is all that follows the label."""
    kind, parts = label(part), (*part.children, *rest)
    if (found := way_back(kind, parts)) is not None:
        check_if(found.node)

        def again() -> Expr:
            block(st, found.before, frozenset())
            return condition(st, found.node.children[0], "whole")

        _turns(st, again, found.node.loc, found.body, (), part)
        return leaving(of_row(found.body)), found.rest
    kinds = of_row((part, *rest))
    if kinds & {"break", "continue"}:
        what = f"a way out of a loop between 'goto {part.name}' and its label"
        raise unsupported(what, part.loc, "Write it with loops and 'if'.")
    st.frame.labels[kind] = None
    flag = label_flag(st, kind, part.loc)
    st.loops.append(Loop(len(st.alive)))
    with st.captured() as stmts:
        block(st, parts, frozenset())
    st.loops.pop()
    del st.frame.labels[kind]
    turn = seq(Assign(flag, TRUE, part.loc), *stmts)
    st.emit(Assign(flag, FALSE, part.loc), While(Op("!", (Var(flag),), part.loc), turn, part.loc))
    return frozenset(), ()


def _block(st: State, parts: tuple[Part, ...], tail: Kinds) -> Stmt:
    return st.block(lambda: block(st, parts, tail))


def _leave(st: State, part: Node, parts: tuple[Part, ...]) -> bool:
    """Emit statements that begin at the only way out of a loop. All lanes that leave meet there: where it could be seen
    that they don't, it is after the loop that they are done. Gives whether it was such a way."""
    loop = next((loop for loop in st.loops if loop.exit is part), None)
    kinds = ends(parts) if loop is not None else frozenset()
    if loop is None or not kinds <= {"break", "return"} or ("break" in kinds and loop is not st.loops[-1]):
        return False
    loop.exit = None
    stmts = st.block(lambda: block(st, parts, frozenset()))
    if not shows(stmts):
        st.emit(stmts)
        return True
    loop.parked.append(stmts)
    st.emit(Assign(go_flag(st) if "break" in kinds else live_flag(st), FALSE, part.loc))
    return True


def _split(st: State, node: Node, rest: tuple[Part, ...], tail: Kinds) -> bool:
    """An `if` of which one branch always jumps: what follows it go into the other. Gives whether it was one."""
    if node.kind != "IF_STMT":
        return False
    test, then, *other = _checked_if(st, node)
    leaves = "through" not in ends((then,))
    if not leaves and not (other and "through" not in ends((other[0],))):
        return False
    c = condition(st, test, "whole")
    stay, leave = ((*other, *rest), (then,)) if leaves else ((then, *rest), (other[0],))
    yes, no = (leave, stay) if leaves else (stay, leave)
    c = told(st, c, not leaves) if st.loops else c
    if isinstance(c, Const):
        chosen = yes if c.value else no
        block(st, chosen, tail)
        return True
    _branch(st, c, _block(st, yes, tail), _block(st, no, tail), node.loc)
    return True


def _branch(st: State, c: Expr, then: Stmt, orelse: Stmt, loc: Loc | None) -> None:
    if then == Skip() and orelse != Skip():
        c, then, orelse = opposite(st, c), orelse, then
    st.emit(If(c, then, orelse, loc))


def _jump(st: State, node: Node, tail: Kinds) -> None:
    kind = jump(node)
    if kind is None:
        raise unsupported(described(node), node.loc)
    if kind == "return" and node.children:
        result = st.frame.result
        if result is None:
            discard(st, node.children[0])
        elif isinstance(result, Pointer):
            value = node.children[0]
            deliver(st, result, address(st, value, "whole"), value.type, node.loc)
        elif isinstance(result, Parts | Address):
            fill(st, result, node.children[0], "whole")
            given = source(node.children[0])
            if given.kind == "DECL_REF_EXPR":  # compilers may make it where the result is
                moved(st, place(st, given), given, node.loc)
        else:
            into(st, result, node.children[0], node.loc)
    leave(st, left_by(st, kind))
    if kind not in tail:
        own = {"return": live_flag, "break": go_flag, "continue": next_flag}.get(kind)
        flag = own(st) if own is not None else label_flag(st, kind, node.loc)
        st.emit(Assign(flag, FALSE, node.loc))


def statement(st: State, node: Node) -> None:
    """Emit one statement that no jump leaves."""
    _within(st, node, frozenset())


def _within(st: State, node: Node, tail: Kinds) -> None:
    match node.kind:
        case "COMPOUND_STMT" | "LABEL_STMT":
            block(st, scoped(st, node), tail)
        case "UNEXPOSED_STMT":
            _check_unexposed(node)
            block(st, node.children, tail)
        case "NULL_STMT":
            pass
        case "DECL_STMT":
            _declare(st, node)
        case "IF_STMT":
            _if(st, node, tail)
        case "SWITCH_STMT":
            _switch(st, node, tail)
        case "FOR_STMT":
            _for(st, node, tail)
        case "WHILE_STMT":
            *declared, test, body = node.children
            _loop(st, test, body, None, node, tail, declared=declared)
        case "CXX_FOR_RANGE_STMT":
            _range(st, node)
        case "DO_STMT":
            _do(st, node, tail)
        case kind if kind.endswith(("_EXPR", "_OPERATOR", "_LITERAL")):
            discard(st, node)
        case kind if kind in ASSEMBLY:
            assembly(st, node)
        case _:
            raise unsupported(described(node), node.loc, _INSTEAD.get(node.kind, ""))


_INSTEAD: Final = {
    "GOTO_STMT": "Write it with loops and 'if'.",
}


def _check_unexposed(node: Node) -> None:
    """A statement that libclang has no name for is a pragma or an attribute in front of another one."""
    if node.kind == "UNEXPOSED_STMT" and (len(node.children) != 1 or node.children[0].span[2] != node.span[2]):
        raise unsupported("this statement", node.loc)


def _checked_if(st: State, node: Node) -> tuple[Node, ...]:
    """The test and the branches of an `if`. What is declared before its test is emitted."""
    parts = after_declarations(node)
    if len(parts) < len(node.children):
        for part in in_order(node.children[: -len(parts)], parts):
            _declare(st, part)
        plain = len(parts) == 2 and parts[1].kind.endswith("_STMT")  # no test is a statement
        if not plain and len({part.span[:2] for part in parts}) < len(parts):
            raise unsupported("an 'if' with several of its parts in one macro", node.loc, "Write it out.")
        return parts
    check_if(node)
    return node.children


def _declare(st: State, part: Node) -> None:
    """Emit a declaration in the head of a statement."""
    for decl in part.children if part.kind == "DECL_STMT" else (part,):
        declaration(st, decl)


def _if(st: State, node: Node, tail: Kinds) -> None:
    test, then, *other = _checked_if(st, node)
    if not other:
        _guarded(st, test, lambda: block(st, (then,), tail), node)
        return
    c = condition(st, test, "whole")
    if isinstance(c, Const):
        block(st, (then if c.value else other[0],), tail)
        return
    st.emit(If(c, _block(st, (then,), tail), _block(st, (other[0],), tail), node.loc))


def _late(node: Node) -> bool:
    """Whether an expression looks as if it read an array or changed something. Either answer is right."""
    return any(
        n.kind in ("ARRAY_SUBSCRIPT_EXPR", "COMPOUND_ASSIGNMENT_OPERATOR")
        or (n.kind == "UNARY_OPERATOR" and n.operator in ("x++", "++x", "x--", "--x", "*"))
        or (n.kind == "BINARY_OPERATOR" and n.operator == "=")
        or (n.kind == "CALL_EXPR" and (callee := n.referenced) is not None and callee.definition is not None)
        for n in node.walk()
    )


def _guarded(st: State, test: Node, then: Callable[[], None], node: Node) -> None:
    """`if (test) then`, nested where test is `a && b` and b has to be evaluated after a."""
    inner = bare(test)
    if inner.kind == "BINARY_OPERATOR" and inner.operator == "&&":
        left, right = inner.children
        if _late(right):
            _guarded(st, left, lambda: _guarded(st, right, then, node), node)
            return
    c = condition(st, test, "whole")
    if isinstance(c, Const):
        if c.value:
            then()
        return
    st.emit(If(c, st.block(then), Skip(), node.loc))


def _switch(st: State, node: Node, tail: Kinds) -> None:
    """The sections, each once."""
    if len(node.children) != 2:
        raise unsupported("a declaration in a 'switch'", node.loc, "Declare the variable before.")
    declared = declared_in(node)
    if declared is None:
        check_condition(node)
    else:
        declaration(st, declared)
    found = sections(node)
    for part in found[0].parts:
        if part.kind == "DECL_STMT":
            statement(st, part)
    switch(st, found, expr(st, node.children[0], "whole"), tail, node.loc, block)


# --- loops -----------------------------------------------------------------------------------------------------------


def _for(st: State, node: Node, tail: Kinds) -> None:
    init, test, increment, body = header(node)
    if init is not None:
        statement(st, init)
    _loop(st, test, body, increment, node, tail, unseen=counts_alone(st.counters, init, increment))


def _range(st: State, node: Node) -> None:
    """`for (x : array) body` is `for (i = 0; i < n; i++) {x = array[i]; body}`, with an i that nobody sees; over an
    object it is `for (b = o.begin(), e = o.end(); b != e; ++b) {x = *b; body}`."""
    x, over, body = node.children
    before = declared_in(node)
    if before is None:
        check_range(node)
    else:
        declaration(st, before)
    begin = next((n.referenced for n in x.walk() if n.kind == "DECL_REF_EXPR" and n.name.startswith("__begin")), None)
    listed = over
    while listed.kind == "UNEXPOSED_EXPR" and len(listed.children) == 1:
        listed = listed.children[0]
    t = listed.type if listed.kind == "INIT_LIST_EXPR" else over.type
    parts: tuple[Part, ...]
    if begin is not None and (found := of_range(over) if t.kind == "record" else None) is not None:
        count_changes(found.body, st.changed)
        own = [decl.identity for decl in (found.of, found.begin, found.end)]
        outer = {key: st.bindings[key] for key in own if key in st.bindings}  # of a loop like this one around it
        made = lvalue(over) is None and temporary(over)
        bound = initialised(st, found.of, over, "whole") if made else reference(st, found.of, over, "whole")
        st.bindings[found.of.identity] = bound
        declaration(st, found.begin)
        declaration(st, found.end)
        parts = (lambda: _at_begin(st, begin, found.begin), lambda: declaration(st, x), *flat(body))
        step_ = lambda: discard(st, found.step)  # noqa: E731
        _turns(st, lambda: condition(st, found.test, "whole"), node.loc, parts, (step_,), node)
        st.bindings |= outer
        return
    if begin is None or t.kind != "array" or t.inner is None or not t.count:
        raise unsupported("a range-based 'for' over what is no array", node.loc, "Write it with a counter.")
    array = in_braces(st, listed, node.loc) if listed.kind == "INIT_LIST_EXPR" else address(st, over, "whole")
    i = st.declare(f"{x.name}_at", INT, x.loc)
    st.emit(Assign(i.name, Const(0), node.loc))
    at: Expr = Var(i.name, node.loc)
    st.bindings[begin.identity] = array.plus(t.inner.size, at)
    test = Op("<", (at, Const(t.count)), node.loc)
    step = Assign(i.name, Op("+", (at, Const(1)), node.loc), node.loc)
    parts = (lambda: declaration(st, x), *flat(body))
    _turns(st, lambda: test, node.loc, parts, (lambda: st.emit(step),), node, unseen=True)


def _at_begin(st: State, begin: Node, at: Node) -> None:
    """Let the variable that libclang shows in what a `for` declares be the one that the loop has."""
    st.bindings[begin.identity] = st.bindings[at.identity]


def _loop(
    st: State,
    test: Node | None,
    body: Node,
    increment: Node | None,
    node: Node,
    tail: Kinds,
    unseen: bool = False,
    declared: Sequence[Node] = (),
) -> None:
    """A loop, with its test at its head, or with that of a way out of its body there.

    `while (true) {pre; if (c) break; rest}` is pre; while (!c) {rest; pre}: pre is written twice, and costs the same.
    In both a warp does pre, tests c, leaves the lanes behind that go, and does rest and pre again with the others: at
    any time all lanes that are in the loop stand at one place of it, and those that wait after it are the same. So
    each access is done by the same lanes together, no test parts others, and M.if and M.div are paid as often: at the
    while in place of the if, once more where none is left, as any loop pays. Where other jumps lead out of rest, a
    flag guards the pre at the end, which only the lanes that stay would have come to.
    """
    parts = tuple(flat(body))
    again = None if test is None else lambda: _tested(st, declared, test)
    at = node.loc if test is None else test.loc
    after: tuple[Node, ...] = ()
    free = endless(test) and not declared
    exit_ = sole_exit(parts) if free else None
    if free:
        if increment is None and len(parts) > 1 and breaks(parts[-1]) and not any(map(turns_or_jumps, parts[:-1])):
            _repeat(st, parts[:-1], lambda: _until(st, parts[-1]), node.loc)
            return
        first = next((i for i, part in enumerate(parts) if jumps(part)), 0)
        way_out = way_out_of(parts[first]) if parts else None
        if way_out is not None:
            pre, end, rest = parts[:first], parts[first], (*way_out.stays, *parts[first + 1 :])
            returns = way_out.jump.kind == "RETURN_STMT"
            if not (returns and any(jumps(p) - {"continue"} for p in rest)):
                after = (way_out.jump,) if returns else ()  # there is no other way to what follows
                again, at, parts = lambda: _turned(st, pre, end), end.loc, rest
    inc: tuple[Part, ...] = () if increment is None else (lambda: discard(st, increment),)
    _turns(st, again, at, parts, inc, node, unseen=unseen, exit_=exit_)
    block(st, after, tail)


def _turns(
    st: State,
    again: Callable[[], Expr] | None,
    at: Loc | None,
    parts: tuple[Part, ...],
    inc: tuple[Part, ...],
    node: Node,
    *,
    unseen: bool = False,
    exit_: Node | None = None,
) -> None:
    """A loop by its test, its body and its increment."""
    kinds = of_row(parts)
    st.loops.append(Loop(len(st.alive), exit=exit_))
    leaves = leaving(kinds)
    flags = staying(st, leaves) if leaves else None
    with st.captured() as before:
        c = _loop_condition(st, flags, again, at)
    if st.loops[-1].go:
        st.emit(Assign(st.loops[-1].go, TRUE, node.loc))
    c = _undone(st, before, c)
    c, step = (c, []) if flags else _taken_first(st, before, c)
    c = kept(st, c)  # a loop's test is where bounds come from
    if c == FALSE and flags is None:
        st.loops.pop()
        st.emit(*before, *step)
        return
    with st.captured() as stmts:
        _loop_body(st, parts, inc, kinds, unseen)
    loop = st.loops.pop()
    if loop.next:
        stmts.insert(0, Assign(loop.next, TRUE, node.loc))
    if not before and not step:
        c, stmts = counted(st, *(downward(st, c, stmts) if unseen else (c, stmts)))
    if sum(1 for s in before for _ in statements(s)) > MOST_TWICE:
        on = st.declare("on", BOOL, at)
        turn = seq(*before, Assign(on.name, c, at), If(Var(on.name), seq(*stmts), Skip(), at))
        st.emit(Assign(on.name, TRUE, at), While(Var(on.name), turn, node.loc))
    else:
        st.emit(*before, While(c, seq(*step, *stmts, *before), node.loc), *step)
    left(st, loop, node.loc)


def _tested(st: State, declared: Sequence[Node], test: Node) -> Expr:
    """The test of a loop, which may declare a variable in each turn."""
    for part in declared:
        _declare(st, part)
    return condition(st, test, "whole")


def _until(st: State, node: Node) -> Expr:
    """The condition that `if (c) break;` does not break."""
    c, way_out = condition(st, _checked_if(st, node)[0], "whole"), way_out_of(node)
    return c if way_out is not None and way_out.holds else opposite(st, c)


def _turned(st: State, pre: tuple[Node, ...], end: Node) -> Expr:
    """The beginning of a turn, up to its way out, and the condition that it goes on."""
    block(st, pre, frozenset())
    return _until(st, end)


def _repeat(st: State, parts: tuple[Part, ...], again: Callable[[], Expr], loc: Loc | None) -> None:
    """Statements once, and again as long as the condition holds."""
    st.loops.append(Loop(len(st.alive)))
    with st.captured() as stmts:
        block(st, parts, frozenset({"continue"}))
        c = again()
    flag = st.loops.pop().next
    if flag:
        stmts.insert(0, Assign(flag, TRUE, loc))
    st.emit(*stmts)
    if c != FALSE:
        if sum(1 for t in stmts for _ in statements(t)) > MOST_STATEMENTS:
            problem = f"the body of this loop, which is read twice, has more than {MOST_STATEMENTS} statements"
            raise CudaError(problem, loc, "Write it as a 'while' that begins with its test.")
        st.emit(While(kept(st, c), seq(*stmts), loc))


def _loop_condition(st: State, flags: Expr | None, again: Callable[[], Expr] | None, loc: Loc | None) -> Expr:
    """The condition of a loop; after a jump it is not evaluated any more."""
    if flags is None:
        return TRUE if again is None else again()
    if again is None:
        return flags
    with st.captured() as effects:
        c = again()
    if not effects and not reads_array(c):
        return flags if c == TRUE else Op("&&", (flags, c), c.loc)
    go = go_flag(st)
    st.emit(If(flags, seq(*effects, Assign(go, c, loc)), Skip(), loc))
    on = flags if go in local_vars(flags) else Op("&&", (flags, Var(go)), loc)
    known = implied(st, c)
    return on if known is None else Op("&&", (known, on), loc)


def _undone(st: State, before: list[Stmt], c: Expr) -> Expr:
    """A condition after x changed by a step, as in `x-- > 0`: in terms of the new x. Takes out the copy of the old, if
    it is none of the user's variables, which the body may read."""
    match before:
        case [*_, Assign(t, Var(x)), Assign(y, Op("+" | "-" as op, (Var(old), Const(int()) as k)))] if (
            x == y and old == t and t in st.copies and x not in local_vars(c)
        ):
            before[-2:] = [Assign(x, Op(op, (Var(x), k), before[-1].loc), before[-1].loc)]
            return substitute(c, {t: Op("-" if op == "+" else "+", (Var(x), k), c.loc)})
    return c


def _taken_first(st: State, before: list[Stmt], c: Expr) -> tuple[Expr, list[Stmt]]:
    """A condition on the old value of what is then stepped, as in `n-- > 0` where n has no sign, as one on the value,
    and the step, which follows it either way. Takes both out of what comes before the condition."""
    match before:
        case [Assign(t, Var(x)), Assign(y, Reduced() as value) as step] if (
            x == y and t in st.copies and local_vars(value) == {t} and x not in local_vars(c)
        ):
            before.clear()
            c = substitute(c, {t: Var(x, c.loc)})
            if c == Op("!=", (Var(x), Const(0))):
                c = Op(">", (Var(x), Const(0)), c.loc)
            return c, [Assign(x, renamed(value, t, x), step.loc)]
    return c, []


def _loop_body(st: State, body: tuple[Part, ...], inc: tuple[Part, ...], kinds: Kinds, unseen: bool = False) -> None:
    """The body and the increment, which a `continue` still reaches; the other jumps don't, unless nobody sees it."""
    loc = next((part.loc for part in body if isinstance(part, Node)), None)
    leaves = leaving(kinds)
    if leaves and unseen:
        block(st, body, kinds & {"continue"})
        if not any(loop.parked for loop in st.loops):
            block(st, inc, frozenset())
        elif inc:  # what comes after the loop sees it
            st.emit(If(staying(st, leaves), _block(st, inc, frozenset()), Skip(), loc))
        return
    if "continue" not in kinds:
        block(st, (*body, *inc), frozenset())
        return
    block(st, body, frozenset({"continue"}))
    if not leaves:
        block(st, inc, frozenset())
    elif inc:
        st.emit(If(staying(st, leaves), _block(st, inc, frozenset()), Skip(), loc))


def _do(st: State, node: Node, tail: Kinds) -> None:
    body, test = node.children
    kinds = jumps(body)
    if (
        not kinds & {"break", "continue"} and not any(map(acts, test.walk())) and (test.evaluate() == 0)
    ):  # do { .. } while (0)
        block(st, (body,), frozenset())
        return
    if endless(test):
        _loop(st, None, body, None, node, tail)
        return
    if leaving(kinds) or any(n.kind == "DO_STMT" for n in body.walk()):
        _flagged_do(st, body, test, kinds, node)
        return
    _repeat(st, (body,), lambda: condition(st, test, "whole"), node.loc)


def _flagged_do(st: State, body: Node, test: Node, kinds: Kinds, node: Node) -> None:
    """go <- true; while (go) {body; go <- test}"""
    st.loops.append(Loop(len(st.alive)))
    go = go_flag(st)
    st.emit(Assign(go, TRUE, node.loc))
    leaves = leaving(kinds)

    def again() -> None:
        st.emit(Assign(go, kept(st, condition(st, test, "whole")), test.loc))

    with st.captured() as stmts:
        _loop_body(st, (body,), (again,), kinds)
    flag = st.loops.pop().next
    if flag:
        stmts.insert(0, Assign(flag, TRUE, node.loc))
    c: Expr = Var(go, node.loc)
    if leaves - {"break"}:
        c = Op("&&", (staying(st, leaves - {"break"}), c), node.loc)
    st.emit(While(c, seq(*stmts), node.loc))
