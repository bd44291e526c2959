"""The kernel: instantiate a rule by an explicit substitution, compare, discharge, mint. Nothing else makes a `Theorem`.

It sees `logic` and the standard library, gets its oracles as an argument, and is total: every derivation, however deep
or wrong, ends in a theorem or in a `Rejected` that says where and why. Python cannot seal an object, so the second
checker reads certificates on its own; this file is what a person reads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import InitVar, dataclass, field, replace
from fractions import Fraction
from typing import Final, cast

from logic.assertions import (
    FRESH,
    AtLeast,
    AtMost,
    Condition,
    Context,
    Cost,
    Entails,
    Judgement,
    Obligation,
    P,
    Proved,
    Triple,
    Uniform,
    Verdict,
    X,
    abstracted,
    assigned,
    assume,
    conj,
    opaque,
)
from logic.barriers import unproved_barriers
from logic.contracts import arrays_of, elements, elements_in
from logic.derivation import Derivation, Value
from logic.potentials import ZERO, Poly, ceil_div, const, is_canonical, leaves, of_expr, substitute, sym, variables
from logic.refusals import Refusal, Rejected
from logic.rules import SOUND, RuleSet
from logic.schema import Term, kind
from logic.source import Loc, SourceError
from logic.stable import of_grid, unwritten
from logic.syntax import (
    BOOL,
    GHOST,
    INT,
    WARP_INDEX,
    Assign,
    Assume,
    Const,
    Expr,
    If,
    Kernel,
    Op,
    Param,
    Read,
    Skip,
    Stmt,
    Sync,
    Tid,
    Var,
    While,
    Write,
    local_vars,
    same,
    seq,
    subterms,
    written,
)
from logic.syntax import Seq as SeqStmt
from logic.typing import check_kernel, type_of

Oracle = Callable[[Obligation, Context], Verdict]

_MINT: Final = object()


@dataclass(frozen=True, slots=True)
class Theorem:
    """A judgement that the kernel has derived in a context: `check` is the only maker."""

    judgement: Judgement
    rules: RuleSet
    context: Context
    mint: InitVar[object]

    def __post_init__(self, mint: object) -> None:
        if mint is not _MINT:
            raise TypeError("a Theorem is minted by the kernel only")


@dataclass(frozen=True, slots=True)
class Discharged:
    """A side condition and the oracle's yes to it: a line of the ledger."""

    obligation: Obligation
    verdict: Proved
    rule: str
    loc: Loc | None
    seconds: float


@dataclass(slots=True)
class Ledger:
    """The ledger of a claim, which lists all that it rests on: discharged side conditions, and the numbers of barriers
    (from 0, in program order) that a part of a block might reach without the rest."""

    discharged: list[Discharged] = field(default_factory=list)
    barriers: list[int] = field(default_factory=list)


def check(root: Derivation, rules: RuleSet, context: Context, oracle: Oracle, ledger: Ledger) -> Theorem:
    """The theorem that a derivation proves under a rule set. Raises Rejected.

    Works through the tree without recursion, premises first, so a derivation may be as deep as memory allows.
    """
    work: list[tuple[Derivation, bool]] = [(root, False)]
    proved: list[Theorem] = []
    known: Known = {}
    while work:
        node, expanded = work.pop()
        if not expanded:
            work.append((node, True))
            work.extend((premise, False) for premise in reversed(node.premises))
            continue
        premises = [proved.pop() for _ in node.premises][::-1]
        try:
            proved.append(_guarded(node, premises, rules, context, oracle, ledger, known))
        except Rejected as error:
            place = replace(error.refusal, name=node.rule, path=_path(root, node), loc=node.loc)
            raise Rejected(replace(place, rule=rules.rules.get(node.rule), substitution=node.substitution)) from None
    return proved.pop()


Known = dict[tuple[str, int], tuple[Value, Value]]
"""Values of metavariables, and facts, by their kind and identity, and what was made of them: nodes share them."""


def _guarded(
    node: Derivation,
    premises: list[Theorem],
    rules: RuleSet,
    context: Context,
    oracle: Oracle,
    ledger: Ledger,
    known: Known,
) -> Theorem:
    """`_apply`, with a refusal of terms that are nested too deeply to be looked at."""
    try:
        return _apply(node, premises, rules, context, oracle, ledger, known)
    except RecursionError:
        raise Rejected(Refusal("depth")) from None


def _path(root: Derivation, target: Derivation) -> tuple[int, ...]:
    """The indices of premises that lead from the root to a node."""
    stack: list[tuple[Derivation, int, int]] = [(root, 0, 0)]
    way: list[int] = []
    while stack:
        node, depth, index = stack.pop()
        way[depth:] = [index]
        if node is target:
            break
        stack.extend((premise, depth + 1, i) for i, premise in enumerate(node.premises))
    return tuple(way[1:])


def _apply(
    node: Derivation,
    premises: list[Theorem],
    rules: RuleSet,
    context: Context,
    oracle: Oracle,
    ledger: Ledger,
    known: Known,
) -> Theorem:
    """One rule application: the whole of what the kernel does."""
    rule = rules.rules.get(node.rule)
    if rule is None:
        raise Rejected(Refusal("rule", about=rules.name))
    if set(node.substitution) != set(rule.metavariables):
        raise Rejected(Refusal("letters", expected=rule.metavariables, got=tuple(node.substitution)))
    env = {letter: _once(letter, value, context, known) for letter, value in node.substitution.items()}
    if len(premises) != len(rule.premises):
        raise Rejected(Refusal("count", expected=len(rule.premises), got=len(premises)))
    for schema, theorem in zip(rule.premises, premises, strict=True):
        wanted = judgement_of(schema, env, context)
        if not _agree(wanted, theorem.judgement):
            raise Rejected(Refusal("premise", schema, expected=wanted, got=theorem.judgement))
    for schema in rule.side_conditions:
        for obligation in obligations_of(schema, env, context):
            refusal = Refusal("side condition", schema, obligation=obligation)
            _discharge(obligation, refusal, rule.name, node.loc, context, oracle, ledger)
    conclusion = judgement_of(rule.conclusion, env, context)
    if isinstance(conclusion, Triple):
        for condition in () if rules.unrestricted else (conclusion.pre, conclusion.post):
            _well_formed(condition, context)
    return Theorem(conclusion, rules, context, _MINT)


def _discharge(
    obligation: Obligation,
    refusal: Refusal,
    rule: str,
    loc: Loc | None,
    context: Context,
    oracle: Oracle,
    ledger: Ledger,
) -> None:
    """Ask the oracle; only Proved lets the derivation go on, else there is the refusal."""
    start = time.perf_counter()
    verdict = oracle(obligation, context)
    if not isinstance(verdict, Proved):
        raise Rejected(replace(refusal, verdict=verdict))
    ledger.discharged.append(Discharged(obligation, verdict, rule, loc, time.perf_counter() - start))


# --- substitutions ---------------------------------------------------------------------------------------------------

_CLASSES: Final[dict[str, tuple[type, ...]]] = {
    "assertion": (tuple,),
    "potential": (Poly,),
    "variables": (frozenset,),
    "statement": (Skip, SeqStmt, Assign, Write, If, While, Sync, Assume),
    "expression": (Var, Param, Const, Tid, Op, Read),
    "variable": (str,),
    "parameter": (str,),
    "literal": (Const,),
    "axis": (str,),
    "operator": (str,),
    "array": (str,),
    "global array": (str,),
    "shared array": (str,),
    "cost": (Fraction,),
    "count": (int,),
}


def _once(letter: str, value: Value, context: Context, known: Known) -> Value:
    """`_checked`, once for each value: `known` keeps the value itself, too, so that its identity stays its own."""
    key = kind(letter), id(value)
    if key not in known:
        known[key] = value, _checked(letter, value, context, known)
    return known[key][1]


def _checked(letter: str, value: Value, context: Context, known: Known) -> Value:
    """The value of a metavariable, if it is of the metavariable's kind; assertions are brought to canonical form."""
    sigma, what = context.sigma, kind(letter)
    if not isinstance(value, _CLASSES[what]) or isinstance(value, bool):
        raise Rejected(Refusal("kind", letter=letter, expected=what, got=value))
    fits = True
    try:
        match what:
            case "assertion":
                for fact in (fact for fact in cast(P, value) if ("fact", id(fact)) not in known):
                    if type_of(fact, sigma) != BOOL:
                        raise Rejected(Refusal("truth", letter=letter, got=fact))
                    _no_fresh(fact, letter)
                    known["fact", id(fact)] = fact, fact
                return conj(cast(P, value), sigma)
            case "potential" if not is_canonical(cast(Poly, value)):
                raise Rejected(Refusal("canonical", letter=letter, got=value))
            case "expression":
                type_of(cast(Expr, value), sigma)
                _no_fresh(cast(Expr, value), letter)
            case "variable":
                fits = value in sigma.locals
            case "variables":
                fits = cast(X, value) <= sigma.locals.keys()
            case "parameter":
                fits = value in sigma.params
            case "axis":
                fits = value in ("x", "y", "z")
            case "array" | "global array" | "shared array":
                array = sigma.arrays.get(cast(str, value))
                fits = array is not None and what.startswith((array.space, "array"))
            case "cost":
                fits = cast(Fraction, value) >= 0
            case "count":
                fits = cast(int, value) >= 0
    except SourceError as error:
        raise Rejected(Refusal("type", letter=letter, about=error.message, got=value)) from None
    if not fits:
        raise Rejected(Refusal("domain", letter=letter, got=value))
    return value


def _no_fresh(e: Expr, letter: str) -> None:
    if any(name.startswith(FRESH) for name in local_vars(e)):
        raise Rejected(Refusal("reserved", letter=letter, got=e))


def _well_formed(condition: Condition, context: Context) -> None:
    """vars(Q) <= X u Params (section 5): Q has one value for all active threads."""
    if not variables(condition.q) <= condition.x:
        raise Rejected(Refusal("uniform", expected=condition.x, got=condition.q))
    for a in (a for a in elements_in([condition.q]) if a.op not in context.sigma.elements):
        raise Rejected(Refusal("integer", about=a.op, got=condition.q))
    for leaf in leaves(condition.q):
        if isinstance(leaf, Tid):
            raise Rejected(Refusal("thread", got=condition.q))
        declared = (context.sigma.locals if isinstance(leaf, Var) else context.sigma.params).get(leaf.name)
        if declared != INT:
            raise Rejected(Refusal("integer", about=leaf.name, got=condition.q))


# --- instantiation ---------------------------------------------------------------------------------------------------

Env = dict[str, Value]
"""The terms that metavariables stand for. The functions below turn a schema into the term that it then is, or
reject."""


def assertion_of(t: Term, env: Env, context: Context) -> P:
    match t.head:
        case "true":
            return ()
        case "meta":
            return cast(P, env[t.name()])
        case "and":
            return assume(assertion_of(t.at(0), env, context), expression_of(t.at(1), env, context), context.sigma)
        case "and-not":
            return assume(
                assertion_of(t.at(0), env, context), expression_of(t.at(1), env, context), context.sigma, False
            )
        case "assign":
            x, e = cast(str, env[t.name(1)]), expression_of(t.at(2), env, context)
            return assigned(assertion_of(t.at(0), env, context), x, e, context.sigma)
    raise Rejected(Refusal("term", t, about="assertion"))


def potential_of(t: Term, env: Env, context: Context) -> Poly:
    match t.head:
        case "zero":
            return ZERO
        case "meta":
            return cast(Poly, env[t.name()])
        case "constant":
            return const(cast(Fraction, env[t.name()]))
        case "price":
            return const(context.metric.cost(t.name()))
        case "count":
            return const(context.metric.count(t.name(), cast(int, env[t.name(1)])))
        case "plus":
            return potential_of(t.at(0), env, context) + potential_of(t.at(1), env, context)
        case "assign":
            x, e = cast(str, env[t.name(1)]), expression_of(t.at(2), env, context)
            return updated(potential_of(t.at(0), env, context), x, e, context)
    raise Rejected(Refusal("term", t, about="potential"))


def updated(q: Poly, x: str, e: Expr, context: Context) -> Poly:
    """Q[x <- e]. A part of e that is opaque, or that no base function can say, stands for all the values it may
    have."""
    if x not in variables(q):
        return q
    value = of_expr(abstracted(e, context.sigma))
    return substitute(q, {Var(x): sym(Var(f"{FRESH}i")) if value is None else value})


def variables_of(t: Term, env: Env, context: Context) -> X:
    match t.head:
        case "empty":
            return frozenset()
        case "meta":
            return cast(X, env[t.name()])
        case "singleton":
            return frozenset((cast(str, env[t.name()]),))
        case "written":
            return written(cast(Stmt, env[t.name()]))
        case "vars":
            return variables(cast(Poly, env[t.name()]))
        case "intersect":
            return variables_of(t.at(0), env, context) & variables_of(t.at(1), env, context)
        case "union":
            return variables_of(t.at(0), env, context) | variables_of(t.at(1), env, context)
        case "minus":
            return variables_of(t.at(0), env, context) - variables_of(t.at(1), env, context)
    raise Rejected(Refusal("term", t, about="variables"))


def expression_of(t: Term, env: Env, context: Context) -> Expr:
    match t.head:
        case "meta" | "literal":
            return cast(Expr, env[t.name()])
        case "local":
            return Var(cast(str, env[t.name()]))
        case "param":
            return Param(cast(str, env[t.name()]))
        case "tid":
            return Tid(env[t.name()])  # type: ignore[arg-type]
        case "read":
            return Read(cast(str, env[t.name()]), expression_of(t.at(1), env, context))
        case "op":
            args = tuple(expression_of(t.at(i), env, context) for i in range(1, len(t.parts)))
            return Op(cast(str, env[t.name()]), args)
    raise Rejected(Refusal("term", t, about="expression"))


def statement_of(t: Term, env: Env, context: Context) -> Stmt:
    match t.head:
        case "meta":
            return cast(Stmt, env[t.name()])
        case "skip":
            return Skip()
        case "sync":
            return Sync()
        case "assume":
            return Assume(expression_of(t.at(0), env, context))
        case "seq":
            return seq(statement_of(t.at(0), env, context), statement_of(t.at(1), env, context))
        case "set":
            return Assign(cast(str, env[t.name()]), expression_of(t.at(1), env, context))
        case "write":
            index, value = expression_of(t.at(1), env, context), expression_of(t.at(2), env, context)
            return Write(cast(str, env[t.name()]), index, value)
        case "if":
            cond = expression_of(t.at(0), env, context)
            return If(cond, statement_of(t.at(1), env, context), statement_of(t.at(2), env, context))
        case "while":
            return While(expression_of(t.at(0), env, context), statement_of(t.at(1), env, context))
    raise Rejected(Refusal("term", t, about="statement"))


def judgement_of(t: Term, env: Env, context: Context) -> Judgement:
    def condition(i: int) -> Condition:
        p, q, x = t.at(i), t.at(i + 1), t.at(i + 2)
        return Condition(assertion_of(p, env, context), potential_of(q, env, context), variables_of(x, env, context))

    if t.head == "triple":
        return Triple(condition(0), statement_of(t.at(3), env, context), condition(4))
    p, x, e = (
        assertion_of(t.at(0), env, context),
        variables_of(t.at(1), env, context),
        expression_of(t.at(2), env, context),
    )
    cost = potential_of(t.at(3), env, context)
    if not cost.is_constant:
        raise Rejected(Refusal("cost", t, got=cost))
    return Cost(p, x, e, cost.constant)


def _agree(a: Judgement, b: Judgement) -> bool:
    """Whether two judgements are the same; conditions and costs are canonical, statements compare at any depth."""
    match a, b:
        case Triple(pre, s, post), Triple(other_pre, other_s, other_post):
            return pre == other_pre and post == other_post and same(s, other_s)
        case Cost(), Cost():
            return a == b
    return False


# --- side conditions -------------------------------------------------------------------------------------------------


def obligations_of(t: Term, env: Env, context: Context) -> Iterator[Obligation]:
    """The obligations of a side condition, which the oracle has to prove; purely syntactic conditions are decided
    here."""
    sigma = context.sigma
    match t.head:
        case "entails":
            yield Entails(assertion_of(t.at(0), env, context), assertion_of(t.at(1), env, context))
        case "holds" | "refutes":
            e = expression_of(t.at(1), env, context)
            if opaque(e, sigma):
                raise Rejected(Refusal("opaque", t, got=e))
            yield Entails(assertion_of(t.at(0), env, context), assume((), e, sigma, t.head == "holds"))
        case "uniform":
            yield Uniform(*_sequent(t, env, context), expression_of(t.at(2), env, context))
        case "all-uniform":
            p, x = _sequent(t, env, context)
            for name in sorted(variables_of(t.at(2), env, context) - x):
                yield Uniform(p, x, Var(name))
        case "at-most":
            p, x = assertion_of(t.at(1), env, context), variables_of(t.at(2), env, context)
            access = expression_of(t.at(3), env, context)
            if not isinstance(access, Read) or t.name(0) not in ("MemReads", "Conflicts"):
                raise Rejected(Refusal("access", t))
            yield AtMost(t.name(0), p, x, access.array, access.index, cast(int, env[t.name(4)]))  # type: ignore[arg-type]
        case "at-least":
            q, r = potential_of(t.at(2), env, context), potential_of(t.at(3), env, context)
            yield AtLeast(*_sequent(t, env, context), q, r)
        case "subset":
            small, large = variables_of(t.at(0), env, context), variables_of(t.at(1), env, context)
            if not small <= large:
                raise Rejected(Refusal("condition", t, expected=large, got=small))
        case "nonnegative":
            if cast(Fraction, env[t.name()]) < 0:
                raise Rejected(Refusal("condition", t, got=env[t.name()]))
        case "erased":
            s, ghostly = (statement_of(Term("meta", (t.name(i),)), env, context) for i in (0, 1))
            if not same(s, _erased(ghostly, cast(str, env[t.name(2)]), context)):
                raise Rejected(Refusal("condition", t, expected=s, got=ghostly))
        case "ghost":
            ghost = cast(str, env[t.name()])
            for i in range(1, len(t.parts)):
                value = env[t.name(i)]
                inside = variables(value) if isinstance(value, Poly) else _names(cast(P, value))
                if ghost in inside:
                    raise Rejected(Refusal("ghost", t, letter=t.name(i), about=ghost, got=value))
        case _:
            raise Rejected(Refusal("unknown", t))


def _names(p: P) -> frozenset[str]:
    return frozenset[str]().union(*map(local_vars, p))


def _erased(s: Stmt, x: str, context: Context) -> Stmt:
    """s without its assignments to the ghost x, which nothing else in s may use."""
    if not x.startswith(GHOST):
        raise Rejected(Refusal("ghost name", got=x))

    def free(e: Expr) -> None:
        if x in local_vars(e):
            raise Rejected(Refusal("ghost read", about=x, got=e))

    match s:
        case Assign(y, e) if y == x:
            if type_of(e, context.sigma) != INT:
                raise Rejected(Refusal("ghost type", about=x, got=e))
            return Skip()
        case Assign(_, e) | Assume(e):
            free(e)
        case Write(_, index, e):
            free(index)
            free(e)
        case SeqStmt(parts):
            erased = [(part, _erased(part, x, context)) for part in parts]
            return seq(*(left for part, left in erased if not (isinstance(part, Assign) and part.var == x)))
        case If(e, s1, s2):
            free(e)
            return If(e, _erased(s1, x, context), _erased(s2, x, context), s.loc)
        case While(e, body):
            free(e)
            return While(e, _erased(body, x, context), s.loc)
    return s


def _sequent(t: Term, env: Env, context: Context) -> tuple[P, X]:
    return assertion_of(t.at(0), env, context), variables_of(t.at(1), env, context)


# --- claims ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Claim:
    """Every warp (or block) of every launch that the context allows, started in a state of `pre`, costs at most pre.q:
    pre body {P'; Q'; X'} with Q' >= 0 (Theorem 1, p. 14). The kernel is its only maker.

    With `sums`, `bound` is on what all warps of a block cost together, or all of a grid; else it is pre.q.
    """

    kernel: Kernel
    context: Context
    pre: Condition
    theorem: Theorem
    bound: Poly
    sums: tuple[tuple[str, Poly], ...]
    mint: InitVar[object]

    def __post_init__(self, mint: object) -> None:
        if mint is not _MINT:
            raise TypeError("a Claim is made by the kernel only")

    @property
    def unconditional(self) -> bool:
        """Whether the claim holds for every store: pre is {true; Q; {}}, so Q is over parameters only."""
        return not self.pre.p and not self.pre.x

    @property
    def per(self) -> str:
        """The subject of the bound: `warp`, `block` or `grid`."""
        return {0: "warp", 1: "block"}.get(len(self.sums), "grid")


def _sensible(context: Context) -> None:
    """A launch has positive sizes and assumptions about parameters only: one about tid would leave out threads."""
    launch = context.launch
    if any(
        d is not None and (type(d) is not int or d < 1) for d in (*launch.block, *launch.grid)
    ) or context.scope not in ("warp", "block"):
        raise Rejected(Refusal("launch", got=launch))
    for fact in launch.assumptions:
        about_others = any(isinstance(t, Var | Tid | Read) or t == Param(WARP_INDEX) for t in subterms(fact))
        odd = about_others or elements(fact) or opaque(fact, context.sigma)
        if odd or type_of(fact, context.sigma) != BOOL:
            raise Rejected(Refusal("assumption", got=fact))
    for c in (c for c in launch.contracts if not of_grid(c, context.sigma)):
        raise Rejected(Refusal("contract", got=str(c)))


INDICES: Final = (WARP_INDEX, "blockIdx.x", "blockIdx.y", "blockIdx.z")
"""The indices that costs are summed over, in this order: the first makes a warp's bound a block's, the others a
grid's."""


def _summed(
    pre: Condition,
    sums: tuple[tuple[str, Poly], ...],
    loc: Loc | None,
    context: Context,
    oracle: Oracle,
    ledger: Ledger,
) -> Poly:
    """The sum of what the warps cost, q, over the indices, by telescoping. Each index i has an F, and for i = 0 .. N-1

    F - F[i <- i+1] >= q
    -----------------------------------
    sum over i of q <= F[i <- 0] - F[i <- N]
    """
    if sums and (context.scope != "warp" or tuple(name for name, _ in sums) not in (INDICES[:1], INDICES)):
        raise Rejected(Refusal("sums", got=sums))
    if sums and (pre.p or pre.x):
        raise Rejected(Refusal("summand", got=pre))
    q = pre.q
    for name, f in sums:
        i = Param(name)
        if not is_canonical(f):
            raise Rejected(Refusal("sum canonical", got=f))
        _well_formed(Condition((), f, frozenset()), context)
        if any(i in subterms(fact) for fact in context.launch.assumptions):
            raise Rejected(Refusal("sum assumption", about=name))
        obligation = AtLeast((), frozenset(), f - substitute(f, {i: sym(i) + 1}), q)
        refusal = Refusal("sum", about=name, obligation=obligation)
        _discharge(obligation, refusal, "claim", loc, context, oracle, ledger)
        q = substitute(f, {i: ZERO}) - substitute(f, {i: extent(name, context)})
    return q


def extent(index: str, context: Context) -> Poly:
    """The number of warps of a block, or of blocks of the grid along an axis."""

    def size(name: str, known: int | None) -> Poly:
        return sym(Param(name)) if known is None else const(known)

    if index != WARP_INDEX:
        axis = index[-1]
        return size(f"gridDim.{axis}", context.launch.grid["xyz".index(axis)])
    x, y, z = (size(f"blockDim.{axis}", d) for axis, d in zip("xyz", context.launch.block, strict=True))
    return ceil_div(x * y * z, context.hardware.warp)


def claim(
    kernel: Kernel,
    theorem: Theorem,
    context: Context,
    oracle: Oracle,
    ledger: Ledger,
    sums: tuple[tuple[str, Poly], ...] = (),
) -> Claim:
    """The bound on a kernel's cost that a theorem about its body gives, with `sums` for a block or a grid. Raises
    Rejected, for terms that are nested too deeply to be looked at, too."""
    try:
        return _claim(kernel, theorem, context, oracle, ledger, sums)
    except RecursionError:
        raise Rejected(Refusal("depth")) from None


def _claim(
    kernel: Kernel,
    theorem: Theorem,
    context: Context,
    oracle: Oracle,
    ledger: Ledger,
    sums: tuple[tuple[str, Poly], ...],
) -> Claim:
    judgement = theorem.judgement
    if theorem.rules is not SOUND:
        raise Rejected(Refusal("rules", expected=SOUND.name, got=theorem.rules.name))
    if not isinstance(judgement, Triple):
        raise Rejected(Refusal("triple", got=judgement))
    if theorem.context != context:
        raise Rejected(Refusal("context"))
    try:
        _sensible(context)
        sigma = check_kernel(kernel)
    except SourceError as error:
        raise Rejected(Refusal("ill-typed", about=error.message)) from None
    ghosts = {x: t for x, t in context.sigma.locals.items() if x.startswith(GHOST) and t == INT}
    stable = arrays_of(context.launch.contracts)
    if (name := min(stable - unwritten(kernel), default=None)) is not None:
        raise Rejected(Refusal("contract", about=name))
    if replace(sigma, locals=sigma.locals | ghosts, stable=stable) != context.sigma:
        raise Rejected(Refusal("signature"))
    if not same(judgement.stmt, kernel.body):
        raise Rejected(Refusal("program"))
    post = judgement.post
    obligation = AtLeast(post.p, post.x, post.q, ZERO)
    refusal = Refusal("end", obligation=obligation)
    _discharge(obligation, refusal, "claim", kernel.loc, context, oracle, ledger)
    bound = _summed(judgement.pre, sums, kernel.loc, context, oracle, ledger)
    ledger.barriers.extend(unproved_barriers(kernel.body, stable))
    return Claim(kernel, context, judgement.pre, theorem, bound, sums, _MINT)
