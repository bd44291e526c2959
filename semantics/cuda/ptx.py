"""Inline PTX as text: the instructions of an assembly statement, its operands and its own registers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

_COMMENT: Final = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_REGISTERS: Final = re.compile(r"\.reg\s+\.(\w+)\s+(.+)", re.DOTALL)
_RANGE: Final = re.compile(r"([\w$%]+)<(\d+)>")
_GUARD: Final = re.compile(r"@\s*(!?)\s*([\w$%\[\]]+)\s*(.*)", re.DOTALL)
_OPCODE: Final = re.compile(r"([a-z][\w]*(?:(?:\.|::)[\w]+)*)\s*(.*)", re.DOTALL)
_LABEL: Final = re.compile(r"[\w$]+\s*:(?!:)")
_MOST_REGISTERS: Final = 1024


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: `cp.async.cg` and what follows, its operands as they are written, and the predicate that guards
    it, if one does, with whether it has to be false."""

    opcode: str
    operands: tuple[str, ...]
    guard: str | None = None
    negated: bool = False

    @property
    def parts(self) -> tuple[str, ...]:
        """The opcode's words: `ld`, `global`, `L1::no_allocate`, `v4`, `f32`."""
        return tuple(self.opcode.split("."))


@dataclass(slots=True)
class Code:
    """The instructions of an assembly statement in a row, and the types of the registers that it declares."""

    instructions: list[Instruction] = field(default_factory=list)
    registers: dict[str, str] = field(default_factory=dict)
    wrong: str = ""
    """The part of it that is no instruction, in words; "" where there is none."""


def code(text: str) -> Code:
    """The instructions of a text; what is in braces of its own is in a row with the rest."""
    found = Code()
    for part in _split(_COMMENT.sub(" ", text), ";", braces=True):
        _part(found, part.strip())
    return found


def _part(found: Code, text: str) -> None:
    while text[:1] in ("{", "}"):
        text = text[1:].strip()
    if not text:
        return
    if declared := _REGISTERS.fullmatch(text):
        for name in map(str.strip, declared[2].split(",")):
            several = _RANGE.fullmatch(name)
            names = [name] if several is None else [f"{several[1]}{i}" for i in range(int(several[2]))]
            if len(names) > _MOST_REGISTERS:
                found.wrong = found.wrong or "its many registers"
                return
            found.registers |= dict.fromkeys(names, declared[1])
        return
    guard, negated = None, False
    if guarded := _GUARD.fullmatch(text):
        negated, guard, text = bool(guarded[1]), guarded[2], guarded[3].strip()
    if _LABEL.match(text):
        found.wrong = found.wrong or "a label"
        return
    opcode = _OPCODE.fullmatch(text)
    if opcode is None:
        found.wrong = found.wrong or f"'{text.split()[0]}'"
        return
    operands = tuple(o for o in map(str.strip, _split(opcode[2], ",")) if o)
    found.instructions.append(Instruction(opcode[1], operands, guard, negated))


def _split(text: str, mark: str, braces: bool = False) -> list[str]:
    """The parts between marks, but for those in brackets. Between statements, `braces` around some end a part, too:
    they are told from those around operands by what comes before."""
    parts, depth, start = list[str](), 0, 0
    for i, c in enumerate(text):
        if c == mark and depth == 0:
            parts.append(text[start:i])
            start = i + 1
        elif c in "{}" and braces and depth == 0 and not text[start:i].strip(" \t\r\n{}"):
            continue
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth = max(0, depth - 1)
    return [*parts, text[start:]]


def vector(operand: str) -> tuple[str, ...]:
    """The parts of `{a, b}`; what is no vector is its only part."""
    if operand.startswith("{") and operand.endswith("}"):
        return tuple(part.strip() for part in operand[1:-1].split(","))
    return (operand,)


def address(operand: str) -> tuple[str, int] | None:
    """The register and the offset in bytes of `[%1 + 16]`; None for any other form."""
    m = re.fullmatch(r"\[\s*([\w$%\[\]]+?)\s*(?:\+\s*(-?(?:0x[0-9a-fA-F]+|\d+))\s*)?\]", operand)
    if m is None:
        m = re.fullmatch(r"\[\s*([\w$%]+)\s*(-\s*\d+)\s*\]", operand)
    return None if m is None else (m[1], int((m[2] or "0").replace(" ", ""), 0))


def immediate(operand: str) -> int | str | None:
    """A number that is written in an instruction; a float's by its bits, as text; None for what is none."""
    if re.fullmatch(r"-?(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)U?", operand):
        text = operand.rstrip("U")
        sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
        octal = len(digits) > 1 and digits.isdigit() and digits.startswith("0")
        return int(sign + (f"0o{digits}" if octal and not set(digits) & set("89") else digits), 0 if not octal else 8)
    if re.fullmatch(r"0[fFdD][0-9a-fA-F]+|-?\d+\.\d*(?:[eE][-+]?\d+)?", operand):
        return operand
    return None


# --- an assembly statement as clang prints it ------------------------------------------------------------------------

_TOKEN: Final = re.compile(r'"((?:[^"\\]|\\.)*)"|\'(?:[^\'\\]|\\.)*\'|[A-Za-z_]\w*|\S', re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(x[0-9a-fA-F]+|[0-7]{1,3}|.)", re.DOTALL)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "v": "\v", "f": "\f", "a": "\a", "b": "\b", "0": "\0"}


@dataclass(frozen=True, slots=True)
class Assembly:
    """An assembly statement: its text, the constraints of its operands, outputs first, and the names of those that have
    one."""

    text: str
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    names: tuple[str, ...]


def assemblies(printed: str) -> list[Assembly]:
    """The assembly statements of a function as clang prints it."""
    tokens, found, at = list(_TOKEN.finditer(printed)), list[Assembly](), 0
    while at < len(tokens):
        at += 1
        if tokens[at - 1][0] != "asm":
            continue
        while at < len(tokens) and tokens[at][0] in ("volatile", "goto"):
            at += 1
        end = _closing(tokens, at)
        found.append(_assembly(list(tokens[at + 1 : end - 1])))
        at = end
    return found


def _closing(tokens: Sequence[re.Match[str]], at: int) -> int:
    """The place behind the parentheses that open at a place."""
    depth = 0
    for i in range(at, len(tokens)):
        depth += (tokens[i][0] == "(") - (tokens[i][0] == ")")
        if depth == 0:
            return i + 1
    return len(tokens)


def _assembly(tokens: Sequence[re.Match[str]]) -> Assembly:
    text, sections, names, at = "", list[list[str]]([[]]), list[str](), 0
    while at < len(tokens) and tokens[at][1] is not None:
        text += _unescaped(tokens[at][1])
        at += 1
    name = ""
    while at < len(tokens):
        token = tokens[at]
        if token[0] == ":":
            sections.append([])
        elif token[0] == "[":
            name = tokens[at + 1][0] if at + 1 < len(tokens) else ""
            at += 2
        elif token[1] is not None:
            sections[-1].append(_unescaped(token[1]))
            if len(sections) <= 3 and at + 1 < len(tokens) and tokens[at + 1][0] == "(":
                names.append(name)
                name, at = "", _closing(tokens, at + 1) - 1
        at += 1
    sections += [[], [], []]
    return Assembly(text, tuple(sections[1]), tuple(sections[2]), tuple(names))


def _unescaped(text: str) -> str:
    def character(m: re.Match[str]) -> str:
        c = m[1]
        if c[0] == "x":
            return chr(int(c[1:], 16) & 255)
        return chr(int(c, 8) & 255) if c.isdigit() and c != "0" else _ESCAPES.get(c, c)

    return _ESCAPE.sub(character, text)
