"""Classes and functions of random C++ (`programs`) as templates: of a type W, of which the only instance has int."""

from __future__ import annotations

import re
from random import Random
from typing import Final

_HEAD: Final = re.compile(r"struct (\w+)( final)?(?: : (.*))? \{\n")
_METHOD: Final = re.compile(
    r"  (__device__ )(virtual )?(int|void|int &) (\w+)\(([^()]*)\)( const)?( override)? (\{.*\})\n"
)
_FUNCTION: Final = re.compile(r"__device__ .*\n")
_INT: Final = re.compile(r"\bint\b")


def as_template(text: str, draw: Random) -> str:
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
    return f"template <class W> {own}{''.join(behind)}using {name} = {name}t<int>;\n"


def as_function_template(text: str, draw: Random) -> str:
    """A function as a template whose argument is int where none is given."""
    if _FUNCTION.fullmatch(text) is None:
        return text
    head, brace, body = text.partition("{")
    return f"template <class W = int> {head}{brace}{_some_of(body, draw, 0.5)}"


def _some_of(text: str, draw: Random, odds: float) -> str:
    """The text with W in place of some of its ints."""
    return _INT.sub(lambda m: "W" if draw.random() < odds else m[0], text)
