"""libclang (PyPI `libclang` 18.1.1) by its binding, cindex, with functions that the binding lacks or makes slow."""

from __future__ import annotations

import atexit
import ctypes
import functools
import re
from dataclasses import dataclass
from typing import Any, Final

from logic.source import Loc

UNARY: Final = {
    1: "x++", 2: "x--", 3: "++x", 4: "--x", 5: "&", 6: "*", 7: "+", 8: "-", 9: "~", 10: "!",
}  # fmt: skip
BINARY: Final = {
    3: "*", 4: "/", 5: "%", 6: "+", 7: "-", 8: "<<", 9: ">>", 10: "<=>", 11: "<", 12: ">", 13: "<=", 14: ">=", 15: "==",
    16: "!=", 17: "&", 18: "^", 19: "|", 20: "&&", 21: "||", 22: "=", 23: "*=", 24: "/=", 25: "%=", 26: "+=", 27: "-=",
    28: "<<=", 29: ">>=", 30: "&=", 31: "^=", 32: "|=", 33: ",",
}  # fmt: skip
"""Operators by libclang's numbers."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """An error that clang reported; `offset` is its byte offset in its file."""

    message: str
    loc: Loc | None
    offset: int
    written: tuple[str, int]
    """The same in an argument of a macro."""
    notes: tuple[Loc, ...] = ()
    """Where the template that it is in is used, from the inside."""
    instance: str = ""
    """The instance of a function template that it is in itself, as clang writes it."""
    earlier: Loc | None = None
    """Where what the error is about is declared first, if it is declared again."""


MISSING: Final = re.compile(r"'(.*)' file not found")
"""The error of a file that is included, and its name."""
_IN_INSTANCE: Final = re.compile(r"in instantiation of function template specialization '([^']*)' requested here")
_EARLIER: Final = re.compile(r"previous (declaration|definition) is here")


def storage(cursor: Any) -> str:
    """The storage class of a variable. That of `thread_local` alone is STATIC: as C++ has it, a function that is called
    again finds the value that it left."""
    own = str(cursor.storage_class.name)
    return "STATIC" if own == "NONE" and cursor.tls_kind.name != "NONE" else own


def earlier(error: Any) -> list[Any]:
    """Where clang's notes say that what an error is about was declared before."""
    return [note.location for note in error.children if _EARLIER.fullmatch(note.spelling)]


def requests(error: Any) -> list[Any]:
    """Where clang's notes say that the template which an error is in is used, from the inside."""
    return [note.location for note in error.children if note.spelling.endswith("requested here")]


def instance(error: Any) -> str:
    """The instance that clang's first note on an error names, if that is one of a function template."""
    told = next((_IN_INSTANCE.fullmatch(note.spelling) for note in error.children), None)
    return told[1] if told else ""


@functools.cache
def binding() -> Any:
    """The binding with the functions that it lacks; imported on first use."""
    import clang.cindex as cindex

    cindex.c_interop_string.value = property(_text)
    for kept in (cindex.Index, cindex.TranslationUnit):  # as Python ends, the binding goes before what it disposes of
        atexit.register(setattr, kept, "__del__", lambda _: None)
    lib = cindex.conf.lib
    for name, result in (
        ("clang_getCursorBinaryOperatorKind", ctypes.c_int),
        ("clang_getCursorUnaryOperatorKind", ctypes.c_int),
        ("clang_Cursor_Evaluate", ctypes.c_void_p),
        ("clang_Cursor_getVarDeclInitializer", cindex.Cursor),
        ("clang_isInvalidDeclaration", ctypes.c_uint),
        ("clang_getCursorPrintingPolicy", ctypes.c_void_p),
    ):
        function = getattr(lib, name)
        function.argtypes, function.restype = [cindex.Cursor], result
    lib.clang_Cursor_getVarDeclInitializer.errcheck = cindex.Cursor.from_cursor_result
    lib.clang_getCursorPrettyPrinted.argtypes = [cindex.Cursor, ctypes.c_void_p]
    lib.clang_getCursorPrettyPrinted.restype = cindex._CXString
    lib.clang_getCursorPrettyPrinted.errcheck = cindex._CXString.from_result
    lib.clang_PrintingPolicy_setProperty.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_uint]
    lib.clang_PrintingPolicy_setProperty.restype, lib.clang_PrintingPolicy_dispose.restype = None, None
    lib.clang_PrintingPolicy_dispose.argtypes = [ctypes.c_void_p]
    ranges = type("Ranges", (ctypes.Structure,), {})
    ranges._fields_ = [("count", ctypes.c_uint), ("ranges", ctypes.POINTER(cindex.SourceRange))]  # type: ignore[attr-defined]
    lib.clang_getSkippedRanges.argtypes = [cindex.TranslationUnit, cindex.File]
    lib.clang_getSkippedRanges.restype = ctypes.POINTER(ranges)
    lib.clang_getFileContents.argtypes = [cindex.TranslationUnit, cindex.File, ctypes.POINTER(ctypes.c_size_t)]
    lib.clang_getFileContents.restype = ctypes.c_void_p
    lib.clang_disposeSourceRangeList.argtypes, lib.clang_disposeSourceRangeList.restype = [ctypes.POINTER(ranges)], None
    pointer = ctypes.POINTER(cindex.Cursor)
    lib.clang_getOverriddenCursors.argtypes = [cindex.Cursor, ctypes.POINTER(pointer), ctypes.POINTER(ctypes.c_uint)]
    lib.clang_getOverriddenCursors.restype, lib.clang_disposeOverriddenCursors.restype = None, None
    lib.clang_disposeOverriddenCursors.argtypes = [pointer]
    for name, result in (
        ("clang_EvalResult_getKind", ctypes.c_int),
        ("clang_EvalResult_getAsLongLong", ctypes.c_longlong),
        ("clang_EvalResult_getAsUnsigned", ctypes.c_ulonglong),
        ("clang_EvalResult_isUnsignedInt", ctypes.c_uint),
        ("clang_EvalResult_getAsDouble", ctypes.c_double),
        ("clang_EvalResult_dispose", None),
    ):
        function = getattr(lib, name)
        function.argtypes, function.restype = [ctypes.c_void_p], result
    return cindex


@functools.cache
def index() -> Any:
    """An index of libclang's, which makes units."""
    return binding().Index.create()


def _text(said: ctypes.c_char_p) -> str | None:
    """A text of libclang's, also one of bytes that are no UTF-8: a comment of a source may be in another code."""
    value: bytes | None = super(ctypes.c_char_p, said).value
    return None if value is None else value.decode("utf-8", "replace")


_INT: Final = 1
_FLOAT: Final = 2


def folded(cursor: Any) -> int | float | None:
    """The value that clang folds an expression to, None where it does not."""
    lib = binding().conf.lib
    if not (result := lib.clang_Cursor_Evaluate(cursor)):
        return None
    try:
        match lib.clang_EvalResult_getKind(result):
            case kind if kind == _INT and lib.clang_EvalResult_isUnsignedInt(result):
                return int(lib.clang_EvalResult_getAsUnsigned(result))
            case kind if kind == _INT:
                return int(lib.clang_EvalResult_getAsLongLong(result))
            case kind if kind == _FLOAT:
                return float(lib.clang_EvalResult_getAsDouble(result))
        return None
    finally:
        lib.clang_EvalResult_dispose(result)


def overridden(unit: Any, method: Any) -> list[Any]:
    """The cursors of the methods that one overrides."""
    cindex = binding()
    first, count = ctypes.POINTER(cindex.Cursor)(), ctypes.c_uint()
    cindex.conf.lib.clang_getOverriddenCursors(method, ctypes.byref(first), ctypes.byref(count))
    found = [cindex.Cursor.from_buffer_copy(first[i]) for i in range(count.value)]
    if count.value:
        cindex.conf.lib.clang_disposeOverriddenCursors(first)
    for cursor in found:
        cursor._tu = unit
    return found


def contents(unit: Any, name: str) -> bytes | None:
    """The bytes that clang saw of a file of a unit; None where it keeps none."""
    cindex, size = binding(), ctypes.c_size_t()
    try:
        file = cindex.File.from_name(unit, name)
    except AssertionError:  # cindex's, of what is no file of this
        return None
    data = cindex.conf.lib.clang_getFileContents(unit, file, ctypes.byref(size))
    return ctypes.string_at(data, size.value) if data else None


@functools.cache
def locating() -> tuple[Any, Any]:
    """libclang's functions that say where a location is: where a macro is used, and where its argument is written. The
    binding's own make an object for each file."""
    cindex = binding()
    found = []
    for name in ("clang_getInstantiationLocation", "clang_getFileLocation"):
        function = cindex.conf.lib[name]
        number = ctypes.POINTER(ctypes.c_uint)
        function.argtypes = [cindex.SourceLocation, ctypes.POINTER(ctypes.c_void_p), number, number, number]
        function.restype = None
        found.append(function)
    return found[0], found[1]


@functools.cache
def collecting() -> Any:
    """A visitor for libclang that puts each cursor in a list. The binding's own asks of each whether it is none."""

    def visit(cursor: Any, _: Any, found: list[Any]) -> int:
        found.append(cursor)
        return 1

    return binding().callbacks["cursor_visit"](visit)


@functools.cache
def names(enumeration: str) -> dict[int, str]:
    """The names of libclang's cursor or type kinds by number."""
    kinds = getattr(binding(), enumeration)
    known = ((name, kind) for name, kind in vars(kinds).items() if isinstance(kind, kinds))
    return {kind.value: name for name, kind in known}


def arguments(text: str) -> list[str]:
    """The arguments in the angles that printed text begins with, and those of packs, which have angles of their
    own. Characters are numbers; a path is left out of what is called by its place, and what says a number's type."""
    found, depth, part = list[str](), 0, ""
    for c in _CHARACTER.sub(lambda m: str(ord(m[1])), text):
        depth -= c in ">)]}"
        ends = depth == 0 and c == ">"
        if ends or (depth == 1 and c == ","):
            if part:
                found += arguments(part) if part.startswith("<") else [_PATH.sub("", _SUFFIX.sub(r"\1", part))]
            if ends:
                break
            part = ""
        elif depth > 0 and (part or c != " "):
            part += c
        depth += c in "<([{"
    return found


_CHARACTER: Final = re.compile(r"'([^'\\])'")
_SUFFIX: Final = re.compile(r"^(-?\d+)[uUlL]+$")
_PATH: Final = re.compile(r"(?<= at )[^()]*/")
