"""Classes and functions of random C++ (`programs`) as templates: of a type W, of which the only instance has int. Such
a class may derive from an instance of another one for W, and such a function have a class of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from random import Random
from typing import Final

_HEAD: Final = re.compile(r"struct (\w+)( final)?(?: : (.*))? \{\n")
_METHOD: Final = re.compile(
    r"  (__device__ )(virtual )?(int|void|int &) (\w+)\(([^()]*)\)( const)?( override)? (\{.*\})\n"
)
_FUNCTION: Final = re.compile(r"__device__ .*\n")
_INT: Final = re.compile(r"\bint\b")
_FIELD: Final = re.compile(r"\b(\w+)(?: : \d+|\[4\])?(?: = [^;]*|\{[^;]*\})?;")
_NAMED: Final = re.compile(r"^  __device__ (?:virtual )?\w+ &? ?(m\d+)\(", re.MULTILINE)
_LOCAL: Final = """ struct L { W a; int *p; __device__ W up() { *p += a; return a++; } };
  L l = {W(2), Z + 7}; l.up(); *l.p ^= l.up();"""

Members = tuple[tuple[str, ...], bool]
"""The names of what a class and its base classes have, and whether it is a template."""


def members(text: str, known: Mapping[str, Members], template: bool) -> dict[str, Members]:
    """What a class has, by its name."""
    head = _HEAD.match(text)
    if head is None:
        return {}
    fields = text[head.end() :].partition("\n")[0]
    own = [*_FIELD.findall(fields), *_NAMED.findall(text)]
    given = [name for base in _bases(head[3]) for name in known.get(base, ((), False))[0]]
    return {head[1]: (tuple(dict.fromkeys((*own, *given))), template)}


def _bases(listed: str | None) -> list[str]:
    return listed.split(", ") if listed else []


def derives(text: str, known: Mapping[str, Members]) -> bool:
    """Whether a class derives from one that is a template."""
    head = _HEAD.match(text)
    return head is not None and any(known.get(base, ((), False))[1] for base in _bases(head[3]))


def as_template(text: str, draw: Random, known: Mapping[str, Members]) -> str:
    """A class as a template with an alias of the class's name for its instance, some methods defined behind it."""
    head = _HEAD.match(text)
    if head is None or "operator int" in text:
        return text
    name = head[1]
    own = re.sub(rf"\b{name}\b", f"{name}t", _some_of(text, draw, 0.5))
    behind = list[str]()

    def moved(m: re.Match[str]) -> str:
        device, virtual, result, method, params, const, override, body = (part or "" for part in m.groups())
        if method == "operator" or draw.random() < 0.5:
            return m[0]
        plain = re.sub(r" = \d+", "", params)
        behind.append(f"template <class W> {device}{result} {name}t<W>::{method}({plain}){const} {body}\n")
        return f"  {device}{virtual}{result} {method}({params}){const}{override};\n"

    own = _METHOD.sub(moved, own.replace(" W ", " int ") if draw.random() < 0.3 else own)
    for base in _bases(head[3]):
        names, template = known.get(base, ((), False))
        if template and draw.random() < 0.7:
            first, brace, rest = own.partition("{\n")
            used = "".join(f"  using {base}t<W>::{n};\n" for n in names if f"using {base}::{n};" not in own)
            derived = re.sub(rf"\b{base}\b", f"{base}t<W>", first)
            own = f"{derived}{brace}{used}{rest}"
    return f"template <class W> {own}{''.join(behind)}using {name} = {name}t<int>;\n"


def as_function_template(text: str, draw: Random) -> str:
    """A function as a template whose argument is int where none is given."""
    if _FUNCTION.fullmatch(text) is None:
        return text
    head, brace, body = text.partition("{")
    local = _LOCAL if draw.random() < 0.5 else ""
    return f"template <class W = int> {head}{brace}{local}{_some_of(body, draw, 0.5)}"


def _some_of(text: str, draw: Random, odds: float) -> str:
    """The text with W in place of some of its ints."""
    return _INT.sub(lambda m: "W" if draw.random() < odds else m[0], text)
