r"""Inference rules as data: their text, in the paper's layout, is the data itself.

    Rule("Q:If2", r'''
        P; X |- e : C    P |- e    {P; Q; X} s1 {P'; Q'; X'}
        ----------------------------------------------------
        {P; Q + M.if + C; X} if (e) s1 else s2 {P'; Q'; X'}
    ''', source="Fig. 4, p. 12")

Premises and side conditions stand above the bar, three spaces or a new line apart. What a letter stands for, its kind,
is told by how it begins:

    P assertion    Q F potential    X set of locals    s statement    e o expression    x local variable    p parameter
    k literal      a axis of tid    op operator        A G S array (any, global, shared)    C c nonnegative rational
    n count

Items:  {p; q; x} s {p; q; x}     p; x |- e : C     p; x |- e unif     p; x |- x unif     p |- p     p |- e     p |- !e
        p; x |- q >= q     p; x |- MemReads(G[o]) <= n     p; x |- Conflicts(S[o]) <= n     x <= x     c >= 0
        s = s without x (the assignments to x erased)     x ghost in P, Q, ... (does not occur there)
Terms:  p ::= P | true | p & e | p & !e | p[x <- e]      q ::= Q | 0 | C | M.if | M.gread(n) | q + q | q[x <- e]
        x ::= X | {} | {x} | x & x | x "|" x | x \ x | W(s) | vars(F)
        s ::= s | skip | sync | s; s | x <- e | A[o] <- e | if (e) s else s | while (e) s | assume e
        e ::= e | x | p | k | tid.a | op e | e op e | op(e, e, e) | G[o]
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from logic.metrics import COUNTED, FIXED


@dataclass(frozen=True, slots=True)
class Term:
    """A node of a schema: what it is, and its parts (names are strings)."""

    head: str
    parts: tuple[Term | str, ...] = ()

    def at(self, i: int) -> Term:
        """Part i as a node; a name becomes a metavariable."""
        part = self.parts[i]
        return part if isinstance(part, Term) else Term("meta", (part,))

    def name(self, i: int = 0) -> str:
        """Part i as a name. Raises TypeError for a node."""
        part = self.parts[i]
        if isinstance(part, Term):
            raise TypeError(f"part {i} of {self.head} is not a name")
        return part


PREMISE_HEADS: Final = ("triple", "cost")

KINDS: Final = {
    "P": "assertion",
    "Q": "potential",
    "F": "potential",
    "X": "variables",
    "s": "statement",
    "e": "expression",
    "o": "expression",
    "x": "variable",
    "p": "parameter",
    "k": "literal",
    "a": "axis",
    "A": "array",
    "G": "global array",
    "S": "shared array",
    "C": "cost",
    "c": "cost",
    "n": "count",
}


def kind(metavariable: str) -> str:
    """The kind of term that a metavariable ranges over. Raises KeyError for a letter that stands for nothing.

    >>> kind("P'"), kind("Q1"), kind("op"), kind("C2")
    ('assertion', 'potential', 'operator', 'cost')
    """
    return "operator" if metavariable == "op" else KINDS[metavariable[0]]


class SchemaError(ValueError):
    """The text of a rule does not parse."""


_TOKEN: Final = re.compile(r"\s*(\|-|<-|>=|<=|[A-Za-z]\w*(?:\.\w+)?'*|[{}()\[\];:&|\\!+,=0])")


class _Reader:
    """One item (or term) of a rule's text, read from left to right.

    A method reads what it is called after, and raises SchemaError where that does not stand there.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[str] = []
        at = 0
        while text[at:].strip():
            found = _TOKEN.match(text, at)
            if not found:
                raise SchemaError(f"cannot read '{text[at:].strip()}' in '{text.strip()}'")
            self.tokens.append(found[1])
            at = found.end()
        self.at = 0

    def peek(self, ahead: int = 0) -> str:
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else ""

    def take(self, *expected: str) -> str:
        token = self.peek()
        if not token or (expected and token not in expected):
            raise SchemaError(
                f"expected {' or '.join(expected) or 'more'} but found '{token}' in '{self.text.strip()}'"
            )
        self.at += 1
        return token

    def name(self, letters: str) -> str:
        token = self.take()
        if token[0] not in letters:
            raise SchemaError(f"'{token}' should begin with one of {letters} in '{self.text.strip()}'")
        return token

    def end(self) -> None:
        if self.peek():
            raise SchemaError(f"'{self.peek()}' is left over in '{self.text.strip()}'")

    def assertion(self) -> Term:
        term = Term("true") if self.peek() == "true" and self.take() else Term("meta", (self.name("P"),))
        while self.peek() in ("&", "["):
            if self.take() == "[":
                x, e = self.update()
                term = Term("assign", (term, x, e))
            elif self.peek() == "!":
                self.take()
                term = Term("and-not", (term, self.expression()))
            else:
                term = Term("and", (term, self.expression()))
        return term

    def update(self) -> tuple[str, Term]:
        """`x <- e]`, after the opening bracket."""
        x = self.name("x")
        self.take("<-")
        e = self.expression()
        self.take("]")
        return x, e

    def potential(self) -> Term:
        term = self.summand()
        while self.peek() == "+":
            self.take()
            term = Term("plus", (term, self.summand()))
        return term

    def summand(self) -> Term:
        token = self.take()
        if token == "0":
            return Term("zero")
        if token.startswith("M."):
            name, counts = token[2:], self.peek() == "("
            if name not in (COUNTED if counts else FIXED):
                known = ", ".join((*(f"M.{m}" for m in FIXED), *(f"M.{m}(n)" for m in COUNTED)))
                raise SchemaError(f"'{token}{'(' * counts}' is no price in '{self.text.strip()}': there are {known}")
            if not counts:
                return Term("price", (name,))
            self.take("(")
            n = self.name("n")
            self.take(")")
            return Term("count", (name, n))
        if token[0] in "Cc":
            return Term("constant", (token,))
        if token[0] not in "QF":
            raise SchemaError(f"'{token}' is no potential in '{self.text.strip()}'")
        term = Term("meta", (token,))
        while self.peek() == "[":
            self.take()
            x, e = self.update()
            term = Term("assign", (term, x, e))
        return term

    def variables(self) -> Term:
        term = self.variables_1()
        while self.peek() in ("&", "|", "\\"):
            head = {"&": "intersect", "|": "union", "\\": "minus"}[self.take()]
            term = Term(head, (term, self.variables_1()))
        return term

    def variables_1(self) -> Term:
        token = self.take()
        if token == "(":
            term = self.variables()
            self.take(")")
            return term
        if token == "{":
            if self.peek() == "}":
                self.take()
                return Term("empty")
            x = self.name("x")
            self.take("}")
            return Term("singleton", (x,))
        if token in ("W", "vars"):
            self.take("(")
            inner = self.name("s" if token == "W" else "QF")
            self.take(")")
            return Term("written" if token == "W" else "vars", (inner,))
        if token[0] != "X":
            raise SchemaError(f"'{token}' is no set of variables in '{self.text.strip()}'")
        return Term("meta", (token,))

    def expression(self) -> Term:
        if self.peek() == "op" and self.peek(1) == "(":
            self.take()
            self.take("(")
            args = [self.expression_1()]
            while self.peek() == ",":
                self.take()
                args.append(self.expression_1())
            self.take(")")
            return Term("op", ("op", *args))
        if self.peek() == "op":
            self.take()
            return Term("op", ("op", self.expression_1()))
        term = self.expression_1()
        if self.peek() == "op":
            self.take()
            return Term("op", ("op", term, self.expression_1()))
        return term

    def expression_1(self) -> Term:
        token = self.take()
        if token.startswith("tid."):
            return Term("tid", (token[4:],))
        if self.peek() == "[" and token[0] in "AGS":
            self.take()
            index = self.expression()
            self.take("]")
            return Term("read", (token, index))
        if token[0] in "eo":
            return Term("meta", (token,))
        if token[0] in "xpk":
            return Term({"x": "local", "p": "param", "k": "literal"}[token[0]], (token,))
        raise SchemaError(f"'{token}' is no expression in '{self.text.strip()}'")

    def statement(self) -> Term:
        term = self.statement_1()
        if self.peek() == ";":
            self.take()
            return Term("seq", (term, self.statement_1()))
        return term

    def statement_1(self) -> Term:
        token = self.take()
        match token:
            case "skip" | "sync":
                return Term(token)
            case "assume":
                return Term("assume", (self.expression(),))
            case "if":
                cond = self.guard()
                then = self.statement_1()
                self.take("else")
                return Term("if", (cond, then, self.statement_1()))
            case "while":
                return Term("while", (self.guard(), self.statement_1()))
        if token[0] == "x":
            self.take("<-")
            return Term("set", (token, self.expression()))
        if token[0] in "AGS":
            self.take("[")
            index = self.expression()
            self.take("]")
            self.take("<-")
            return Term("write", (token, index, self.expression()))
        if token == "(":
            inner = self.statement()
            self.take(")")
            return inner
        if token[0] != "s":
            raise SchemaError(f"'{token}' is no statement in '{self.text.strip()}'")
        return Term("meta", (token,))

    def guard(self) -> Term:
        self.take("(")
        e = self.expression()
        self.take(")")
        return e

    def condition(self) -> tuple[Term, Term, Term]:
        self.take("{")
        p = self.assertion()
        self.take(";")
        q = self.potential()
        self.take(";")
        x = self.variables()
        self.take("}")
        return p, q, x

    def item(self) -> Term:
        first = self.peek()[:1]
        if first == "{" and ";" in self.tokens:
            pre = self.condition()
            s = self.statement()
            term = Term("triple", (*pre, s, *self.condition()))
        elif "|-" in self.tokens:
            term = self.turnstile()
        elif first == "s":
            whole = self.name("s")
            self.take("=")
            ghostly = self.name("s")
            self.take("without")
            term = Term("erased", (whole, ghostly, self.name("x")))
        elif first == "x" and self.peek(1) == "ghost":
            parts = [self.name("x")]
            self.take("ghost")
            self.take("in")
            parts.append(self.name("PQ"))
            while self.peek() == ",":
                self.take()
                parts.append(self.name("PQ"))
            term = Term("ghost", tuple(parts))
        elif first == "c":
            name = self.take()
            self.take(">=")
            self.take("0")
            term = Term("nonnegative", (name,))
        else:
            smaller = self.variables()
            self.take("<=")
            term = Term("subset", (smaller, self.variables()))
        self.end()
        return term

    def turnstile(self) -> Term:
        p = self.assertion()
        x = Term("empty")
        if self.peek() == ";":
            self.take()
            x = self.variables()
        self.take("|-")
        token = self.peek() or self.take()
        if token in ("MemReads", "Conflicts"):
            self.take()
            self.take("(")
            access = self.expression_1()
            self.take(")")
            self.take("<=")
            return Term("at-most", (token, p, x, access, self.name("n")))
        if token == "true" or token[0] == "P":
            return Term("entails", (p, self.assertion()))
        if token[0] in "QF":
            q = self.potential()
            self.take(">=")
            return Term("at-least", (p, x, q, self.potential()))
        if token[0] == "X" or token == "(" or token == "vars":
            inner = self.variables()
            self.take("unif")
            return Term("all-uniform", (p, x, inner))
        if token == "!":
            self.take()
            return Term("refutes", (p, self.expression()))
        e = self.expression()
        if self.peek() == ":":
            self.take()
            return Term("cost", (p, x, e, self.potential()))
        if self.peek() == "unif":
            self.take()
            return Term("uniform", (p, x, e))
        return Term("holds", (p, e))


def parse_item(text: str) -> Term:
    """One premise, side condition or conclusion. Raises SchemaError.

    >>> parse_item("P |- e").head
    'holds'
    >>> parse_item("P |- e &")
    Traceback (most recent call last):
        ...
    logic.schema.SchemaError: '&' is left over in 'P |- e &'
    """
    return _Reader(text).item()


_BAR: Final = re.compile(r"-{3,}$")


@dataclass(frozen=True, slots=True)
class Rule:
    """An inference rule.

    name     the paper's spelling, such as `Q:If4`
    bar      the rule's text: items, a bar, the conclusion
    source   figure or section, page
    notes    what was repaired, and when the rule fails to apply
    told     what its use tells of a branch or a loop, in few words
    """

    name: str
    bar: str
    source: str
    notes: str = ""
    told: str = ""
    items: tuple[Term, ...] = field(init=False)
    conclusion: Term = field(init=False)
    premises: tuple[Term, ...] = field(init=False, repr=False, compare=False)
    """The judgements above the bar, each proved by a derivation."""
    side_conditions: tuple[Term, ...] = field(init=False, repr=False, compare=False)
    """The side conditions, which stand above the bar beside the premises."""
    metavariables: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """The letters that an application has to give a value to, in order of first appearance."""

    def __post_init__(self) -> None:
        lines = [line.strip() for line in self.bar.strip().splitlines() if line.strip()]
        bars = [i for i, line in enumerate(lines) if _BAR.match(line)]
        if len(bars) != 1 or bars[0] != len(lines) - 2:
            raise SchemaError(f"{self.name}: a rule is items, one bar of dashes, and one conclusion")
        items = tuple(parse_item(t) for line in lines[:-2] for t in re.split(r" {3,}", line))
        object.__setattr__(self, "items", items)
        object.__setattr__(self, "conclusion", parse_item(lines[-1]))
        if self.conclusion.head not in PREMISE_HEADS:
            raise SchemaError(f"{self.name}: a conclusion is a triple or a cost judgement")
        object.__setattr__(self, "premises", tuple(t for t in items if t.head in PREMISE_HEADS))
        object.__setattr__(self, "side_conditions", tuple(t for t in items if t.head not in PREMISE_HEADS))
        found = dict.fromkeys(name for item in (*items, self.conclusion) for name in metavariables(item))
        object.__setattr__(self, "metavariables", tuple(found))

    @property
    def shape(self) -> str:
        """The form of the conclusion's subject: `skip`, `sync`, `set`, `write`, `seq`, `if`, `while`, `meta` for
        statements of any kind, `cost` for an expression.

        >>> Rule("Q:Sync", "-----------------------------\\n{P; Q + M.sync; X} sync {P; Q; X}", "").shape
        'sync'
        """
        return self.conclusion.at(3).head if self.conclusion.head == "triple" else "cost"

    @property
    def turns(self) -> bool:
        """Whether the rule is about a loop and has its body for a premise, from the loop's head back to it."""
        if self.shape != "while":
            return False
        body = self.conclusion.at(3).at(1)
        return any(premise.head == "triple" and premise.at(3) == body for premise in self.premises)

    @property
    def form(self) -> str:
        """The form of the expression that a rule for costs is about: `local`, `param`, `literal`, `tid`, `op 2` (by
        the number of operands), `read global`, `read shared`; "" for any expression, and of other rules.

        >>> Rule("OQ:Var", "---------------------\\nP; X |- x : M.var", "").form
        'local'
        """
        if self.shape != "cost":
            return ""
        e = self.conclusion.at(2)
        match e.head:
            case "meta":
                return ""
            case "op":
                return f"op {len(e.parts) - 1}"
            case "read":
                return f"read {kind(e.name()).split()[0]}"
        return e.head

    @property
    def printed(self) -> bool:
        """Whether the rule is one of the paper's, repaired or not; the others are ours."""
        return self.source.startswith("Fig.")

    @property
    def agrees(self) -> bool:
        """Whether the rule asks that all active threads of a warp agree on an expression."""
        return any(t.head == "uniform" for t in self.side_conditions)

    @property
    def keeps_x(self) -> bool:
        """Whether the rule keeps X: what is uniform before a statement is uniform after it."""
        return self.shape != "cost" and self.conclusion.at(2) == self.conclusion.at(6)

    def charges(self, constant: str) -> bool:
        """Whether M.constant is part of what the conclusion asks for."""
        price = Term("price", (constant,))
        asked = [self.conclusion.at(1)] if self.conclusion.head == "triple" else list(self.conclusion.parts)
        while asked:
            match asked.pop():
                case Term("plus", parts):
                    asked += [part for part in parts if isinstance(part, Term)]
                case term if term == price:
                    return True
        return False


def metavariables(term: Term) -> list[str]:
    """The metavariables of a schema, in order, with repetitions.

    >>> metavariables(parse_item("P; X |- e : C"))
    ['P', 'X', 'e', 'C']
    """
    if term.head == "price":
        return []
    found: list[str] = []
    for i, part in enumerate(term.parts):
        if isinstance(part, Term):
            found += metavariables(part)
        elif not (term.head in ("count", "at-most") and i == 0):
            found.append(part)
    return found


# --- text ------------------------------------------------------------------------------------------------------------


def show(t: Term | str) -> str:
    """A schema as text, in the notation that `parse_item` reads.

    >>> show(parse_item("{P; Q + M.if + C; X} if (e) s1 else s2 {P'; Q'; X'}"))
    "{P; Q + M.if + C; X} if (e) s1 else s2 {P'; Q'; X'}"
    """
    if isinstance(t, str):
        return t
    a = [show(part) for part in t.parts]
    match t.head:
        case "meta" | "local" | "param" | "literal" | "constant":
            return a[0]
        case "true" | "skip" | "sync":
            return t.head
        case "zero":
            return "0"
        case "empty":
            return "{}"
        case "tid":
            return f"tid.{a[0]}"
        case "and":
            return f"{a[0]} & {a[1]}"
        case "and-not":
            return f"{a[0]} & !{a[1]}"
        case "assign":
            return f"{a[0]}[{a[1]} <- {a[2]}]"
        case "plus":
            return f"{a[0]} + {a[1]}"
        case "price":
            return f"M.{a[0]}"
        case "count":
            return f"M.{a[0]}({a[1]})"
        case "singleton":
            return f"{{{a[0]}}}"
        case "written":
            return f"W({a[0]})"
        case "vars":
            return f"vars({a[0]})"
        case "intersect" | "union" | "minus":
            sign = {"intersect": "&", "union": "|", "minus": "\\"}[t.head]
            left = f"({a[0]})" if t.at(0).head in ("intersect", "union", "minus") else a[0]
            return f"{left} {sign} {a[1]}"
        case "op":
            args = a[1:]
            if len(args) == 1:
                return f"op {args[0]}"
            return f"{args[0]} op {args[1]}" if len(args) == 2 else f"op({', '.join(args)})"
        case "read":
            return f"{a[0]}[{a[1]}]"
        case "seq":
            return f"{a[0]}; {a[1]}"
        case "set":
            return f"{a[0]} <- {a[1]}"
        case "write":
            return f"{a[0]}[{a[1]}] <- {a[2]}"
        case "if":
            body = [f"({x})" if t.at(i).head == "seq" else x for i, x in enumerate(a)]
            return f"if ({a[0]}) {body[1]} else {body[2]}"
        case "assume":
            return f"assume {a[0]}"
        case "while":
            return f"while ({a[0]}) " + (f"({a[1]})" if t.at(1).head == "seq" else a[1])
        case "triple":
            return f"{{{a[0]}; {a[1]}; {a[2]}}} {a[3]} {{{a[4]}; {a[5]}; {a[6]}}}"
        case "cost":
            return f"{_sequent(a)} |- {a[2]} : {a[3]}"
        case "uniform" | "all-uniform":
            return f"{_sequent(a)} |- {a[2]} unif"
        case "at-most":
            return f"{_sequent(a[1:])} |- {a[0]}({a[3]}) <= {a[4]}"
        case "at-least":
            return f"{_sequent(a)} |- {a[2]} >= {a[3]}"
        case "entails" | "holds":
            return f"{a[0]} |- {a[1]}"
        case "refutes":
            return f"{a[0]} |- !{a[1]}"
        case "subset":
            return f"{a[0]} <= {a[1]}"
        case "nonnegative":
            return f"{a[0]} >= 0"
        case "erased":
            return f"{a[0]} = {a[1]} without {a[2]}"
        case "ghost":
            return f"{a[0]} ghost in {', '.join(a[1:])}"
    raise SchemaError(f"no text for '{t.head}'")


def _sequent(a: list[str]) -> str:
    return a[0] if a[1] == "{}" else f"{a[0]}; {a[1]}"
