"""Programs of the mini-SIMT machine as text: an instruction a line, read and printed.

.init c = threads           # directives, before or between instructions
l07: binop p = i - L        # a label names the instruction behind it, or the end of the program
     bz p, l23
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from logic.source import Loc
from logic.syntax import DOUBLE, INT, Const, Type, Var
from semantics.machine.program import (
    BASE_TYPES,
    BINARY,
    Barrier,
    Branch,
    Compute,
    Copy,
    Data,
    Directive,
    Init,
    Instruction,
    Jump,
    Load,
    Operand,
    Param,
    Program,
    ProgramProblem,
    Store,
    Sync,
    opcode,
    program,
)
from semantics.values import operation

MOST_BITS: Final = 64

FUNCTIONS: Final = {"neg": "neg", "inv": "~", "not": "!", "abs": "abs", "int": "int", "bool": "bool", "select": "?:"}
"""The operators behind `call`'s words; `to_T` is a conversion to base type T, any other word a function of C."""
_WORDS: Final = {op: word for word, op in FUNCTIONS.items()}
_ARITY: Final = {"neg": 1, "~": 1, "!": 1, "abs": 1, "int": 1, "bool": 1, "?:": 3}

OPCODES: Final = ("const", "binop", "call", "load", "store", "bz", "bnz", "jump", "sync", "barrier")
DIRECTIVES: Final = (".init", ".param", ".data")

# --- tokens ----------------------------------------------------------------------------------------------------------

_TOKEN: Final = re.compile(
    r"(?P<space>[ \t\r\f\v]+|(?:\#|;|//).*)"
    r"|(?P<number>(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|0[xX][0-9a-fA-F]+|[0-9]+)(?![\w.])"
    r"|(?P<name>\.?[^\W\d][\w.]*)"
    r"|(?P<op><<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>&|^])"
    r"|(?P<mark>[:=,()])",
)


class _Token(NamedTuple):
    kind: str
    text: str
    loc: Loc


def _tokens(line: str, file: str, number: int) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    while at < len(line):
        loc = Loc(file, number, at + 1)
        match = _TOKEN.match(line, at)
        if match is None:
            shown = line[at] if line[at].isprintable() else f"U+{ord(line[at]):04X}"
            if figure := re.match(r"\.?\d[\w.]*", line[at:]):
                raise ProgramProblem(f"'{figure[0]}' is no number", loc, "Write one like 10, 0x1f, 0.5 or 1e-3.")
            raise ProgramProblem(f"'{shown}' has no meaning here", loc, "Comments begin with `#`.")
        if match.lastgroup != "space":
            found.append(_Token(match.lastgroup or "", match.group(), loc))
        at = match.end()
    return [*found, _Token("end", "", Loc(file, number, len(line.rstrip()) + 1))]


@dataclass(slots=True)
class _Line:
    """The tokens of one line, read from left to right."""

    tokens: list[_Token]
    at: int = 0

    @property
    def here(self) -> _Token:
        return self.tokens[self.at]

    def next(self) -> _Token:
        token = self.here
        self.at += token.kind != "end"
        return token

    def accept(self, text: str) -> bool:
        """Whether this token comes next; it is passed then."""
        if self.here.kind in ("mark", "op", "name") and self.here.text == text:
            self.next()
            return True
        return False

    def expect(self, text: str, usage: str) -> None:
        if not self.accept(text):
            raise self.wrong(f"'{text}'", usage)

    def wrong(self, wanted: str, usage: str) -> ProgramProblem:
        got = f"'{self.here.text}'" if self.here.kind != "end" else "the end of the line"
        return ProgramProblem(f"expected {wanted}, got {got}", self.here.loc, usage)

    def name(self, wanted: str, usage: str) -> _Token:
        if self.here.kind != "name" or self.here.text.startswith("."):
            raise self.wrong(wanted, usage)
        return self.next()

    def operand(self, usage: str) -> Operand:
        """A variable, or a number with its sign."""
        loc = self.here.loc
        sign = "-" if self.accept("-") else ""
        if self.here.kind == "number":
            return _number(sign + self.next().text, loc)
        if sign:
            raise self.wrong("a number", usage)
        token = self.name("a variable or a number", usage)
        return Var(token.text, token.loc)

    def end(self, usage: str) -> None:
        if self.here.kind != "end":
            raise self.wrong("the end of the line", usage)


def _number(text: str, loc: Loc) -> Const:
    if re.fullmatch(r"-?(0[xX][0-9a-fA-F]+|[0-9]+)", text):
        if len(text) > MOST_BITS or (value := int(text, 16 if "x" in text.lower() else 10)).bit_length() > MOST_BITS:
            raise ProgramProblem(f"the number takes more than {MOST_BITS} bits", loc, "Write a smaller one.")
        return Const(value, INT, loc)
    return Const(text, DOUBLE, loc)


# --- reading ---------------------------------------------------------------------------------------------------------

_USAGE: Final = {
    "const": "Write `const v = n`.",
    "binop": "Write `binop v = a + b`.",
    "call": "Write `call v = abs(a)`, or another function.",
    "load": "Write `load v = a`, where a is the address.",
    "store": "Write `store a = v`, where a is the address.",
    "bz": "Write `bz v, label`.",
    "bnz": "Write `bnz v, label`.",
    "jump": "Write `jump label`.",
    "sync": "Write `sync` alone.",
    "barrier": "Write `barrier i, n`, or `barrier i` for all threads that have not ended.",
    ".init": "Write `.init v = threads`, or `.init v = a + b`.",
    ".param": "Write `.param v`.",
    ".data": "Write `.data address = 3, 1, 4`, or `.data address = iota n`.",
}


def assemble(text: str, file: str) -> Program:
    """The program that a text says. Raises ProgramProblem at the first fault, with its place in `file`."""
    directives: list[Directive] = []
    instructions: list[Instruction] = []
    labels: dict[str, tuple[int, Loc]] = {}
    targets: dict[int, _Token] = {}
    for number, content in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        line = _Line(_tokens(content, file, number))
        while len(line.tokens) > line.at + 1 and line.tokens[line.at + 1].text == ":":
            label = line.name("a label", "Labels are made of letters, digits, `_` and `.`.")
            if label.text in labels:
                message = f"the label '{label.text}' stands here and in line {labels[label.text][1].line}"
                raise ProgramProblem(message, label.loc, "Rename one of the two.")
            labels[label.text] = (len(instructions), label.loc)
            line.next()
        if line.here.kind == "end":
            continue
        word = line.next()
        if word.text in DIRECTIVES:
            directives.append(_directive(word, line))
            line.end(_USAGE[word.text])
        else:
            instruction, target = _instruction(word, line)
            if target:
                targets[len(instructions)] = target
            instructions.append(instruction)
            line.end(_USAGE[opcode(instruction)])
    for at, target in targets.items():
        if target.text not in labels:
            close = difflib.get_close_matches(target.text, labels, 1)
            advice = f"Is '{close[0]}' meant?" if close else f"Write `{target.text}:` before the instruction meant."
            raise ProgramProblem(f"no label is called '{target.text}'", target.loc, advice)
        i = instructions[at]
        if isinstance(i, Branch | Jump):
            instructions[at] = replace(i, target=labels[target.text][0])
    names: dict[int, str] = {}
    for name, (at, _) in labels.items():
        names.setdefault(at, name)
    if not instructions:
        loc = Loc(file, 1, 1)
        raise ProgramProblem("the program has no instructions", loc, "Write at least one, such as `const x = 1`.")
    return program(tuple(directives), tuple(instructions), names)


def _directive(word: _Token, line: _Line) -> Directive:
    usage = _USAGE[word.text]
    if word.text == ".data":
        address = line.operand(usage)
        line.expect("=", usage)
        if line.accept("iota"):
            return Data(address, "iota", (line.operand(usage),), word.loc)
        values = [line.operand(usage)]
        while line.accept(","):
            values.append(line.operand(usage))
        return Data(address, "values", tuple(values), word.loc)
    var = line.name("a variable", usage)
    if word.text == ".param":
        return Param(var.text, var.loc)
    line.expect("=", usage)
    first = line.operand(usage)
    if line.here.kind == "end":
        return Init(var.text, None, (first,), var.loc)
    op = _operator(line, usage)
    return Init(var.text, op, (first, line.operand(usage)), var.loc)


def _operator(line: _Line, usage: str) -> str:
    if line.here.text not in BINARY:
        raise line.wrong("an operator", f"{usage} Operators: {' '.join(BINARY)}.")
    return line.next().text


def _instruction(word: _Token, line: _Line) -> tuple[Instruction, _Token | None]:
    """An instruction, and the label that it names: its target is filled in when all labels are known."""
    name, dot, suffix = word.text.partition(".")
    name = "jump" if name == "jmp" else name
    if word.kind != "name" or name not in OPCODES or (dot and name not in ("binop", "call")):
        close = difflib.get_close_matches(word.text, (*OPCODES, *DIRECTIVES), 1)
        advice = f"Is `{close[0]}` meant?" if close else f"Known: {', '.join((*OPCODES, *DIRECTIVES))}."
        raise ProgramProblem(f"no instruction is called '{word.text}'", word.loc, advice)
    usage, loc = _USAGE[name], word.loc
    type_ = _base(suffix, loc) if dot else INT
    match name:
        case "bz" | "bnz":
            cond = line.operand(usage)
            line.expect(",", usage)
            return Branch(name == "bz", cond, 0, loc), line.name("a label", usage)
        case "jump":
            return Jump(0, loc), line.name("a label", usage)
        case "sync":
            return Sync(loc), None
        case "barrier":
            ident = line.operand(usage)
            return Barrier(ident, line.operand(usage) if line.accept(",") else None, loc), None
        case "store":
            address = line.operand(usage)
            line.expect("=", usage)
            return Store(address, line.operand(usage), loc), None
    var = line.name("a variable", usage).text
    line.expect("=", usage)
    match name:
        case "load":
            return Load(var, line.operand(usage), loc), None
        case "const":
            return Copy(var, line.operand(usage), loc), None
        case "binop":
            first = line.operand(usage)
            word = line.here
            op = _operator(line, usage)
            return _checked(Compute(var, op, (first, line.operand(usage)), type_, loc), word), None
    function = line.name("a function", usage)
    line.expect("(", usage)
    args = [line.operand(usage)]
    while line.accept(","):
        args.append(line.operand(usage))
    line.expect(")", usage)
    if function.text.startswith("to_"):
        op = f"as:{_base(function.text.removeprefix('to_'), function.loc).name}"
    else:
        op = FUNCTIONS.get(function.text, f"call:{function.text}")
    return _checked(Compute(var, op, tuple(args), type_, loc), function), None


def _base(name: str, loc: Loc) -> Type:
    """The type of this name. Raises ProgramProblem."""
    if name not in BASE_TYPES:
        known = " or ".join(BASE_TYPES)
        raise ProgramProblem(f"no type is called '{name}'", loc, f"Write {known}; without a type numbers are whole.")
    return BASE_TYPES[name]


def _checked(i: Compute, word: _Token) -> Compute:
    """The instruction, if its operator takes so many operands of this type. Raises ProgramProblem, ValueProblem."""
    if len(i.args) == _ARITY.get(i.op, 1 if i.op.startswith("as:") else len(i.args)):
        apply = operation(i.op, i.type, i.result, word.loc)
        try:
            apply((1,) * len(i.args))
            return i
        except TypeError:  # a function of C with another number of operands
            pass
    message = f"'{word.text}' does not take {len(i.args)} operand{'s' if len(i.args) > 1 else ''}"
    raise ProgramProblem(message, word.loc, _USAGE["call"])


# --- printing --------------------------------------------------------------------------------------------------------


def show(p: Program) -> str:
    """A program as text; `assemble` reads it back."""
    used = {i.target for i in p.instructions if isinstance(i, Branch | Jump)} | set(p.labels)
    names = {at: p.labels.get(at) or f"at{at}" for at in used}
    width = max((len(name) + 2 for name in names.values()), default=0)
    lines = [_show_directive(d) for d in p.directives]
    for at, i in enumerate(p.instructions):
        label = f"{names[at]}:" if at in names else ""
        lines.append(f"{label:<{width}}{show_instruction(i, names)}")
    if len(p.instructions) in names:
        lines.append(f"{names[len(p.instructions)]}:")
    return "\n".join(lines)


def _show_directive(d: Directive) -> str:
    match d:
        case Param(var):
            return f".param {var}"
        case Init(var, op, args):
            return f".init {var} = {f' {op} '.join(map(_operand, args))}"
        case Data(address, kind, values):
            return f".data {_operand(address)} = {'iota ' if kind == 'iota' else ''}{_list(values)}"


def show_instruction(i: Instruction, names: Mapping[int, str]) -> str:
    """An instruction as text; `names` has the labels of addresses."""
    match i:
        case Branch(_, cond, target):
            return f"{opcode(i)} {_operand(cond)}, {names.get(target, target)}"
        case Jump(target):
            return f"jump {names.get(target, target)}"
        case Load(var, address):
            return f"load {var} = {_operand(address)}"
        case Store(address, value):
            return f"store {_operand(address)} = {_operand(value)}"
        case Copy(var, value):
            return f"const {var} = {_operand(value)}"
        case Sync():
            return "sync"
        case Barrier(ident, count):
            return f"barrier {_operand(ident)}" + (f", {_operand(count)}" if count is not None else "")
        case Compute(var, op, args, type_):
            word = f"{opcode(i)}{_suffix(type_)} {var} ="
            if op in BINARY:
                return f"{word} {_operand(args[0])} {op} {_operand(args[1])}"
            name = _WORDS.get(op) or op.replace("as:", "to_").removeprefix("call:")
            return f"{word} {name}({_list(args)})"


def _suffix(type_: Type) -> str:
    return f".{type_.name}" if type_.kind == "base" else ""


def _operand(o: Operand) -> str:
    return o.name if isinstance(o, Var) else str(o.value)


def _list(args: Iterable[Operand]) -> str:
    return ", ".join(map(_operand, args))
