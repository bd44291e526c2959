"""The shapes of JSON values as JSON Schema (draft 2020-12): texts, numbers, lists and objects."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def _of(type_: str, told: str) -> Schema:
    return {"type": type_, **({"description": told} if told else {})}


def text(told: str = "") -> Schema:
    """A text."""
    return _of("string", told)


def whole(told: str = "") -> Schema:
    """An integer."""
    return _of("integer", told)


def real(told: str = "") -> Schema:
    """A number that is no exact one."""
    return _of("number", told)


def flag(told: str = "") -> Schema:
    """True or false."""
    return _of("boolean", told)


def maybe(schema: Schema) -> Schema:
    """The same, or null."""
    if set(schema) <= {"type", "description"} and isinstance(schema["type"], str):
        return schema | {"type": [schema["type"], "null"]}
    told = {"description": schema["description"]} if "description" in schema else {}
    return {"anyOf": [schema, {"type": "null"}], **told}


def number(told: str = "") -> Schema:
    """An exact number: an integer, or a fraction as text."""
    fraction = {"type": "string", "pattern": "^-?[0-9]+/[0-9]+$"}
    told = f"{told}: exact, a fraction as text" if told else "exact, a fraction as text"
    return {"anyOf": [{"type": "integer"}, fraction], "description": told}


def one(*words: str, told: str = "") -> Schema:
    """One of some words."""
    return {"enum": [*words], **({"description": told} if told else {})}


def many(schema: Schema, told: str = "") -> Schema:
    """A list."""
    return {"type": "array", "items": schema, **({"description": told} if told else {})}


def table(schema: Schema, told: str = "") -> Schema:
    """An object with any keys."""
    return {"type": "object", "additionalProperties": schema, **({"description": told} if told else {})}


def row(always: dict[str, Schema], /, *, told: str = "", **at_times: Schema) -> Schema:
    """An object with these keys, and some that may be missing."""
    found: Schema = {"type": "object", "properties": always | at_times, "required": [*always]}
    found["additionalProperties"] = False
    return found | {"description": told} if told else found
