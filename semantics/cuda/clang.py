"""A typed, read-only view of libclang's syntax tree. No other module talks to libclang.

Columns of libclang are byte columns; `Loc`s count characters.
"""

from __future__ import annotations

import ctypes
import re
import time
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from logic.source import Loc
from semantics.cuda import libclang
from semantics.cuda.ctype import CType
from semantics.cuda.libclang import Diagnostic
from semantics.cuda.lines import Source
from semantics.cuda.macros import SPLICE, Definition, Macros, given

KEEP_GOING, RECORD, _INCOMPLETE = 0x200, 1, 2
ERROR: Final = 3
PREPROCESSED: Final = ("MACRO_DEFINITION", "MACRO_INSTANTIATION", "INCLUSION_DIRECTIVE")
"""Kinds of nodes that are the preprocessor's."""
UNITS: Final = 8
"""Units that are kept: a file's passes for the device and for the host, and those with instances of its templates."""

_WORD: Final = re.compile(rb"\w+")
_SAME: Final = {"COMPOUND_LITERAL_EXPR": "CXX_FUNCTIONAL_CAST_EXPR"}
"""What C writes as `(T){e}`, by which `T{e}` is the same in C++."""

_EVAL_BYTES: Final = 8
_TERSE: Final = 17
"""libclang's number of the property of printing that leaves out bodies."""

_NO_ERROR: Final = re.compile(
    r"expected a for, while, or do-while loop to .*|(incompatible|duplicate) directives '#pragma .*|unterminated '#.*"
    r"|invalid value '-?\d+'; must be positive|value '\d+' is too large|'(global' and 'device|internal_linkage)' attr.*"
)

_CHANGES: Final = ("x++", "x--", "++x", "--x", "=")


class ClangFailed(Exception):
    """libclang gave no syntax tree at all."""


@dataclass(frozen=True, slots=True)
class Prefix:
    """The part that is kept of a unit that others begin with: its inclusions, as `Unit` has them, and its macros."""

    inclusions: list[tuple[str, str, int]]
    macros: Macros
    declared: int
    """How many declarations are below its root."""
    last: object
    """What the last of these is."""
    sources: Mapping[str, Source]
    """The texts of the files that it includes."""


class Unit:
    """A parsed translation unit. `path` is the name the user gave, which every Loc repeats. Where it begins with a
    `prefix` that clang has kept, its root has no nodes of that, which are thousands. `first`: others begin with it.
    `instead`: the texts of files, and what clang is given for them, in which everything is at the same place."""

    def __init__(
        self,
        path: str,
        data: bytes,
        args: Sequence[str],
        prefix: Prefix | None = None,
        first: bool = False,
        instead: Mapping[str, tuple[bytes, bytes]] = MappingProxyType({}),
    ) -> None:
        self.made = time.time()
        self._cindex = cindex = libclang.binding()
        self._lib = cindex.conf.lib
        self.path, self._args = path, list(args)
        self._name = f"./{path}" if path.startswith("-") else path
        self.defines, self._prefix = [a.removeprefix("-D") for a in args if a.startswith("-D")], prefix
        self._sources = {**(prefix.sources if prefix else {}), path: Source(data)}
        self._instead = {name: Source(own) for name, (own, _) in instead.items()}
        self._sources |= self._instead
        self._files: dict[int, str] = {}
        self._decls: dict[int, list[tuple[Any, int]]] = {}
        self._types: dict[tuple[int, int | None], CType] = {}
        self._code: dict[str, list[tuple[str, int]]] = {}
        self.mutating: dict[int, bool] = {}
        self.instances: dict[tuple[int, bool], list[Node]] = {}
        self.named: dict[tuple[int, int], list[Node]] = {}
        self._count = 0
        self._kinds = {k: _SAME.get(n, n) for k, n in libclang.names("CursorKind").items()}
        self._at = (ctypes.c_void_p(), ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint())
        self._refs = tuple(map(ctypes.byref, self._at))
        texts = {self._name: data} | {self._name if f == path else f: text for f, (_, text) in instead.items()}
        unsaved, more = ([], _INCOMPLETE) if first else ([*texts.items()], 0)
        try:
            self._tu = libclang.index().parse(self._name, self._args, unsaved, KEEP_GOING | RECORD | more)
        except cindex.TranslationUnitLoadError as e:
            raise ClangFailed(str(e)) from e

    @property
    def data(self) -> bytes:
        return self._sources[self.path].data

    @cached_property
    def _root(self) -> Node:
        root = Node(self, self._tu.cursor)
        if self._prefix:
            root.hold(self._after(self._prefix))
        return root

    def root(self) -> Node:
        """The whole tree, without the prefix; its nodes are made once."""
        return self._root

    def _parts(self) -> tuple[list[Any], list[Any]]:
        """The preprocessor's cursors below the root, which come first, and the declarations."""
        below = self.below(self._tu.cursor)
        n = next((i for i, c in enumerate(below) if self.kind(c) not in PREPROCESSED), len(below))
        return below[:n], below[n:]

    def _told(self, cursors: Sequence[Any]) -> object:
        """The kind, name and end of the last of some cursors."""
        return [(c._kind_id, c.spelling, self.offset(c.extent.end)) for c in cursors[-1:]]

    def _after(self, prefix: Prefix) -> Iterator[Any]:
        """The cursors below the root, without the prefix's declarations, with which clang begins, and no directives."""
        done, declared = self._parts()
        yield from done
        yield from declared[prefix.declared :] if self._told(declared[: prefix.declared]) == prefix.last else declared

    @cached_property
    def errors(self) -> list[Diagnostic]:
        """The errors, in clang's order, without those of pragmas on loops, of which CUDA's compiler warns (clang
        keeps the statement after one, without it), and of kernels that all may call (`Request.together`)."""
        every = self._tu.diagnostics
        return [self._told_of(d) for d in every if d.severity >= ERROR and not _NO_ERROR.fullmatch(d.spelling)]

    def _told_of(self, d: Any) -> Diagnostic:
        notes, first = self._places(libclang.requests(d)), next(self._places(libclang.earlier(d)), None)
        written = self.offset(d.location, argument=True)
        return Diagnostic(d.spelling, *self.place(d.location), written, (*notes,), libclang.instance(d), first)

    def _places(self, locations: Iterable[Any]) -> Iterator[Loc]:
        return (loc for at in locations if (loc := self.place(at)[0]) is not None)

    @cached_property
    def inclusions(self) -> list[tuple[str, str, int]]:
        """Each file that is included, with the file and the byte offset that it is included at."""
        found = list(self._prefix.inclusions) if self._prefix else []
        for node in self._root.children:
            if node.kind == "INCLUSION_DIRECTIVE":
                loc, offset = self.place(node._cursor.location)
                with suppress(AssertionError):  # cindex's, of a file that was not found
                    found.append((str(node._cursor.get_included_file().name), loc.file if loc else "", offset))
        return found

    def included(self) -> dict[str, tuple[int, int]]:
        """The files that it includes, with when they were changed last and their sizes."""
        found = {}
        for name in {name for name, _, _ in self.inclusions}:
            with suppress(OSError):
                found[name] = Path(name).stat()
        return {name: (s.st_mtime_ns, s.st_size) for name, s in found.items()}

    @cached_property
    def macros(self) -> Macros:
        """The macros that it defines."""
        defined = [(n.name, *n.span) for n in self._root.children if n.kind == "MACRO_DEFINITION"]
        before = self._prefix.macros if self._prefix else given(self.defines)
        return before.and_also([Definition(n, f, self.text(f)[a:b], (a, b)) for n, f, a, b in defined])

    def save(self, file: str) -> Prefix:
        """Keep it as clang has it, without what the preprocessor did, of which there is ten times as much as of the
        rest; gives what is kept beside that where others begin with it. Raises ClangFailed where that does not work, or
        where there is an error at all."""
        try:
            bare = libclang.index().parse(self._name, self._args, [], KEEP_GOING | _INCOMPLETE)
            bare.save(file)
        except (self._cindex.TranslationUnitLoadError, self._cindex.TranslationUnitSaveError) as e:
            raise ClangFailed(str(e)) from e
        if any(d.severity >= ERROR for d in (*self._tu.diagnostics, *bare.diagnostics)):
            raise ClangFailed("there is an error")
        _, declared = self._parts()
        sources = {name: self._source(name) for name in (self.path, *(name for name, _, _ in self.inclusions))}
        return Prefix(self.inclusions, self.macros, len(declared), self._told(declared), sources)

    def code(self, name: str) -> list[tuple[str, int]]:
        """The tokens of a file with their byte offsets, without comments, literals, definitions of macros, and what
        the preprocessor leaves out."""
        if name not in self._code:
            cindex, size = self._cindex, len(self.text(name))
            file = cindex.File.from_name(self._tu, self._name if name == self.path else name)
            ends = (cindex.SourceLocation.from_offset(self._tu, file, at) for at in (0, size))
            tokens = cindex.TokenGroup.get_tokens(self._tu, cindex.SourceRange.from_locations(*ends))
            hidden = sorted((*self._skipped(file), *self.macros.written(name)))
            starts, reach = [start for start, _ in hidden], list(accumulate((end for _, end in hidden), max))
            found = []
            for token in tokens:
                at = token.location.offset
                before = bisect_right(starts, at)
                if token.kind.name not in ("COMMENT", "LITERAL") and (not before or reach[before - 1] <= at):
                    found.append((_spelling(token), at))
            self._code[name] = found
        return self._code[name]

    def skipped(self, name: str) -> list[tuple[int, int]]:
        """The extents of a file that the preprocessor leaves out."""
        return self._skipped(self._cindex.File.from_name(self._tu, self._name if name == self.path else name))

    def removed(self, name: str) -> list[tuple[int, int]]:
        """The first and last lines of what the preprocessor leaves out of a file, with the directives around it."""
        source = self._source(name)
        return [(source.line(start), source.line(end)) for start, end in self.skipped(name)]

    def printed(self, cursor: Any, body: bool = False) -> str:
        """A declaration as clang prints it, with or without its body."""
        policy = self._lib.clang_getCursorPrintingPolicy(cursor)
        try:
            self._lib.clang_PrintingPolicy_setProperty(policy, _TERSE, int(not body))
            return str(self._lib.clang_getCursorPrettyPrinted(cursor, policy))
        finally:
            self._lib.clang_PrintingPolicy_dispose(policy)

    def _skipped(self, file: Any) -> list[tuple[int, int]]:
        """The extents of a file that are between conditions of the preprocessor that do not hold."""
        ranges = self._lib.clang_getSkippedRanges(self._tu, file)
        try:
            listed = [ranges.contents.ranges[i] for i in range(ranges.contents.count)]
            return [(self.place(r.start)[1], self.place(r.end)[1]) for r in listed]
        finally:
            self._lib.clang_disposeSourceRangeList(ranges)

    def text(self, name: str) -> bytes:
        """The text of a file of the unit, as it was parsed; empty for one that cannot be read."""
        return self._source(name).data

    def at(self, name: str, offset: int) -> Loc:
        """The place of a byte of a file."""
        return Loc(name, *self._source(name).place(offset))

    def place(self, location: Any, argument: bool = False) -> tuple[Loc | None, int]:
        """A libclang location (where a macro is used, not where it is defined) and its byte offset. `argument` says
        whether a location in an argument of a macro is where that is written; else it is where the macro is used."""
        name, offset = self.offset(location, argument)
        if not name:
            return None, 0
        _, line, column, _ = self._at
        return Loc(name, line.value, self._source(name).column(line.value, column.value)), offset

    def offset(self, location: Any, argument: bool = False) -> tuple[str, int]:
        """The file of a location as `place` has it, "" for none, and its byte offset."""
        libclang.locating()[argument](location, *self._refs)
        file, _, _, offset = self._at
        if not file.value:
            return "", 0
        name = self._files.get(file.value)
        if name is None:
            found = self._cindex.File(ctypes.cast(file, self._cindex.c_object_p)).name
            name = self._files[file.value] = self.path if found == self._name else found
        return name, offset.value

    def below(self, cursor: Any) -> list[Any]:
        """The cursors right below one, in source order; of a lambda, first the variables that its captures declare."""
        found: list[Any] = []
        self._lib.clang_visitChildren(cursor, libclang.collecting(), found)
        for each in found:
            each._tu = self._tu
        if self.kind(cursor) == "LAMBDA_EXPR":
            named = [(c, c.referenced) for c in found if self.kind(c) == "VARIABLE_REF"]
            found = [decl for c, decl in named if decl is not None and decl.location == c.location] + found
        return found

    def kind(self, cursor: Any) -> str:
        """libclang's name of a cursor's kind."""
        return self._kinds.get(cursor._kind_id, "UNKNOWN")

    def contents(self, name: str) -> bytes | None:
        """The bytes that clang saw of a file, or would have; None where it keeps none."""
        if name in self._instead:
            return self._instead[name].data
        return libclang.contents(self._tu, self._name if name == self.path else name)

    def _source(self, name: str) -> Source:
        if name not in self._sources:
            data = self.contents(name)
            with suppress(OSError):
                data = Path(name).read_bytes() if data is None else data
            self._sources[name] = Source(data or b"")
        return self._sources[name]

    def identity(self, cursor: Any) -> int:
        """A number that two cursors share exactly when they are the same declaration."""
        bucket = self._decls.setdefault(cursor.hash, [])
        for known, number in bucket:
            if known == cursor:
                return number
        self._count += 1
        bucket.append((cursor, self._count))
        return self._count

    def ctype(self, ty: Any) -> CType:
        """A libclang type as data. One type is one pointer of clang's, qualifiers included."""
        key = (ty._kind_id, ty.data[0])
        known = self._types.get(key)
        if known is None:
            plain = ty.get_canonical()
            own = self._ctype(plain)
            align = 0 if own.kind in ("other", "void") else max(0, plain.get_align())
            known = self._types[key] = replace(own, volatile=plain.is_volatile_qualified(), align=align)
        return known

    def _ctype(self, t: Any) -> CType:
        kind = libclang.names("TypeKind").get(t._kind_id, "")
        const = t.is_const_qualified()
        if kind in _POINTERS:
            inner = self.ctype(t.get_pointee())
            return CType(_POINTERS[kind], t.spelling, 8, inner=inner, const=const)
        if t.spelling.startswith("<"):  # "<bound member function type>": asked for its size, libclang ends the process
            return CType("other", t.spelling)
        size = max(0, t.get_size())
        if kind in _ARRAYS:
            count = t.element_count if kind == "CONSTANTARRAY" else None
            inner = self.ctype(t.element_type)  # what is said of all elements, clang keeps with the array
            inner = replace(inner, const=const or inner.const)
            return CType("array", _plain(t), size, inner=inner, count=count, const=const)
        if kind in _INTEGERS:
            return CType("int", _plain(t), size, signed=kind in _SIGNED, const=const)
        if kind == "ENUM":
            value = self.ctype(t.get_declaration().enum_type)
            return CType("int" if value.kind == "int" else "other", _plain(t), size, value.signed, const=const)
        if kind == "BOOL":
            return CType("bool", "bool", size, signed=False, const=const)
        if kind in _FLOATS or _plain(t) == "__bf16":  # libclang has no kind for that
            return CType("base", _plain(t), size, const=const)
        if kind in ("RECORD", "ELABORATED"):
            return CType("record", _plain(t), size, const=const)
        return CType("void" if kind == "VOID" else "other", _plain(t), size, const=const)


def _spelling(token: Any) -> str:
    """A token as written, in one line."""
    try:
        return SPLICE.sub(b"", token.spelling.encode()).decode()
    except UnicodeDecodeError:  # a stray byte of a Latin-1 file
        return "?"


def _plain(t: Any) -> str:
    return re.sub(r"\b(const|volatile|struct)\s+", "", str(t.spelling)).strip()


_POINTERS: Final[dict[str, Any]] = {
    "POINTER": "pointer", "LVALUEREFERENCE": "reference", "RVALUEREFERENCE": "reference",
}  # fmt: skip
_REFERENCES: Final = ("LVALUEREFERENCE", "RVALUEREFERENCE")
_ARRAYS: Final = ("CONSTANTARRAY", "INCOMPLETEARRAY", "VARIABLEARRAY", "DEPENDENTSIZEDARRAY")
_SIGNED: Final = ("CHAR_S", "SCHAR", "SHORT", "INT", "LONG", "LONGLONG", "INT128", "WCHAR")
_INTEGERS: Final = (*_SIGNED, "CHAR_U", "UCHAR", "USHORT", "UINT", "ULONG", "ULONGLONG", "UINT128", "CHAR16", "CHAR32")
_FLOATS: Final = ("FLOAT", "DOUBLE", "LONGDOUBLE", "HALF", "FLOAT128", "FLOAT16")


class Node:
    """A cursor: one node of the syntax tree. `kind` is libclang's name of its kind, such as FOR_STMT."""

    __slots__ = ("__dict__", "_acts", "_children", "_cursor", "_type", "above", "kind", "unit")

    def __init__(self, unit: Unit, cursor: Any, above: Node | None = None) -> None:
        self.unit = unit
        self.above = above
        """The node that this is a child of, where it was come by that way."""
        self._cursor = cursor
        self.kind = unit.kind(cursor)
        self._children: tuple[Node, ...] | None = None
        self._type: CType | None = None
        self._acts: bool | None = None

    @property
    def children(self) -> tuple[Node, ...]:
        if self._children is None:
            self.hold(self.unit.below(self._cursor))
        return self._children or ()

    def hold(self, cursors: Iterable[Any]) -> None:
        """Have these as children."""
        self._children = tuple(Node(self.unit, c, self) for c in cursors)

    @cached_property
    def arguments(self) -> tuple[Node, ...]:
        """The arguments of a call, or the parameters of a function."""
        return tuple(Node(self.unit, c) for c in self._cursor.get_arguments() if c is not None)

    @property
    def name(self) -> str:
        return str(self._cursor.spelling)

    @property
    def type(self) -> CType:
        if self._type is None:
            t = self.unit.ctype(self._cursor.type)
            if self.kind == "PARM_DECL" and t.kind == "array" and t.inner is not None:  # it is a pointer
                t = CType("pointer", f"{t.inner.name} *", 8, inner=t.inner)
            self._type = t
        return self._type

    @property
    def array_kinds(self) -> tuple[str, ...]:
        """libclang's kinds of an array type, from the outermost: VARIABLEARRAY for a length that is no constant."""
        kinds: list[str] = []
        t = self._cursor.type.get_canonical()
        while (kind := libclang.names("TypeKind").get(t._kind_id, "")) in _ARRAYS:
            kinds.append(kind)
            t = t.element_type
        return tuple(kinds)

    @property
    def loc(self) -> Loc | None:
        """The first character of the node."""
        cursor = self._cursor
        return self.unit.place(cursor.extent.start if self.kind == "MEMBER_REF_EXPR" else cursor.location)[0]

    @property
    def file(self) -> str:
        """The file that a declaration is in, "" for none."""
        return self.unit.offset(self._cursor.location)[0]

    @property
    def span(self) -> tuple[str, int, int]:
        """The file and the byte offsets of the node's first byte and of the first one after it."""
        extent = self._cursor.extent
        return (*self.unit.offset(extent.start), self.unit.offset(extent.end)[1])

    @property
    def spelled(self) -> tuple[str, int, int]:
        """The same of its text where that is written, if it is in an argument of a macro."""
        extent = self._cursor.extent
        (file, start), (other, end) = (self.unit.offset(at, argument=True) for at in (extent.start, extent.end))
        word = _WORD.match(self.unit.text(file), start)  # a macro ends where it begins
        end = word.end() if word and start == end else end
        return (file, start, end) if file == other and start < end else self.span

    @property
    def symbol(self) -> str:
        """The name of a function in compiled code, by the Itanium C++ ABI."""
        return str(self._cursor.mangled_name)

    @property
    def offset(self) -> int:
        """The byte offset of what the node is called by: of a declaration, its name."""
        return self.unit.offset(self._cursor.location)[1]

    @property
    def written(self) -> tuple[str, int]:
        """The file and the byte offset of what the node is called by, also in an argument of a macro."""
        return self.unit.offset(self._cursor.location, argument=True)

    @property
    def result(self) -> CType:
        """The type of a function's result."""
        return self.unit.ctype(self._cursor.result_type)

    @property
    def parameters(self) -> tuple[CType, ...] | None:
        """The types of the parameters of the function that an expression leads to; None where it is none."""
        t = self._cursor.type.get_canonical()
        while libclang.names("TypeKind").get(t._kind_id, "") in _POINTERS:
            t = t.get_pointee().get_canonical()
        prototype = libclang.names("TypeKind").get(t._kind_id, "") == "FUNCTIONPROTO"
        return tuple(map(self.unit.ctype, t.argument_types())) if prototype else None

    @property
    def operator(self) -> str:
        """The operator of a unary or binary operator node as it is written; `x++` and `++x` tell the two apart."""
        lib = self.unit._lib
        if self.kind == "UNARY_OPERATOR":
            return libclang.UNARY.get(lib.clang_getCursorUnaryOperatorKind(self._cursor), "?")
        return libclang.BINARY.get(lib.clang_getCursorBinaryOperatorKind(self._cursor), "?")

    @property
    def acts(self) -> bool:
        """Whether an expression may change something: false only where it does not."""
        if self._acts is None:
            changes = self.kind in ("CALL_EXPR", "COMPOUND_ASSIGNMENT_OPERATOR", "ASM_STMT", "GCC_ASM_STMT") or (
                self.kind in ("UNARY_OPERATOR", "BINARY_OPERATOR") and self.operator in _CHANGES
            )
            self._acts = changes or any(c.acts for c in self.children)
        return self._acts

    @cached_property
    def identity(self) -> int:
        """The number of this declaration."""
        return self.unit.identity(self._cursor.canonical)

    def _declared(self, cursor: Any) -> Node | None:
        return Node(self.unit, cursor) if cursor is not None else None

    @cached_property
    def referenced(self) -> Node | None:
        """The declaration that this node mentions."""
        return self._declared(self._cursor.referenced)

    @cached_property
    def definition(self) -> Node | None:
        """The definition of this declaration, None where there is none in the unit."""
        return self._declared(self._cursor.get_definition())

    @property
    def parent(self) -> Node | None:
        """The scope that declares this node."""
        return self._declared(self._cursor.semantic_parent)

    @property
    def initialiser(self) -> Node | None:
        """The initialiser of a variable."""
        return self._declared(self.unit._lib.clang_Cursor_getVarDeclInitializer(self._cursor))

    @property
    def is_definition(self) -> bool:
        return bool(self._cursor.is_definition())

    @property
    def is_invalid(self) -> bool:
        """Whether clang found an error in this declaration: statements that use it are then not in the tree."""
        return bool(self.unit._lib.clang_isInvalidDeclaration(self._cursor))

    @property
    def storage(self) -> str:
        """The storage class of a variable: NONE, STATIC, EXTERN, ..."""
        return libclang.storage(self._cursor)

    @property
    def fields(self) -> tuple[Node, ...]:
        """The fields of a structure, if it is the node's type; without those of its base classes."""
        return tuple(Node(self.unit, c) for c in self._record.get_fields())

    @property
    def alignment(self) -> int:
        """The alignment of the node's type, in bytes."""
        return int(self._record.get_align())

    @cached_property
    def type_decl(self) -> Node:
        """The declaration of the node's type, or of that of the elements of an array."""
        t = self._record
        while libclang.names("TypeKind").get(t._kind_id, "") in _ARRAYS:
            t = t.element_type.get_canonical()
        return Node(self.unit, t.get_declaration())

    @property
    def pointee_decl(self) -> Node:
        """The declaration of the type that the node's type points to, or has as elements."""
        t = self._cursor.type.get_canonical()
        while (kind := libclang.names("TypeKind").get(t._kind_id, "")) == "POINTER" or kind in _ARRAYS:
            t = (t.get_pointee() if kind == "POINTER" else t.element_type).get_canonical()
        return Node(self.unit, t.get_declaration())

    @property
    def _record(self) -> Any:
        t = self._cursor.type.get_canonical()
        return t.get_pointee().get_canonical() if libclang.names("TypeKind").get(t._kind_id, "") in _REFERENCES else t

    @property
    def patterns(self) -> tuple[Node, ...]:
        """The templates that this, or what it is a part of, is an instance or a specialisation of: each of the next."""
        of = self.unit._lib.clang_getSpecializedCursorTemplate(self._cursor)
        return () if of is None else (found := Node(self.unit, of), *found.patterns)

    @property
    def made_from(self) -> Node | None:
        """The template, or a part of its specialisations, that this is an instance of; None of what is no instance."""
        return next((n for n in self.patterns[:1] if n._cursor.location == self._cursor.location), None)

    @property
    def members(self) -> tuple[Node, ...]:
        """The declarations in a structure; in what it is made from if it is an instance, which libclang hides."""
        return self.children if self.made_from is None else (*self.children, *self.made_from.children)

    @property
    def is_defaulted(self) -> bool:
        """Whether a member function is the compiler's own, whether or not it is declared."""
        return bool(self._cursor.is_default_method())

    @property
    def is_virtual(self) -> bool:
        """Whether a method is."""
        return bool(self._cursor.is_virtual_method())

    @cached_property
    def overridden(self) -> tuple[Node, ...]:
        """The methods of base classes that a virtual one overrides, each of the class next to it."""
        return tuple(Node(self.unit, c) for c in libclang.overridden(self.unit._tu, self._cursor))

    @property
    def is_abstract(self) -> bool:
        """Whether a structure has a virtual function without a body, so that no object is one."""
        return bool(self._cursor.is_abstract_record())

    @property
    def is_const(self) -> bool:
        """Whether a method leaves its object as it is."""
        return bool(self._cursor.is_const_method())

    @property
    def is_virtual_base(self) -> bool:
        """Whether a base class is shared by all that derive from it."""
        return bool(self.unit._lib.clang_isVirtualBase(self._cursor))

    @property
    def is_static(self) -> bool:
        """Whether a method has no object."""
        return bool(self._cursor.is_static_method())

    @property
    def is_bitfield(self) -> bool:
        return bool(self._cursor.is_bitfield())

    @property
    def printed(self) -> str:
        """A function, or a structure, as clang prints it."""
        return self.unit.printed(self._cursor, body=True)

    def as_base(self) -> Node:
        """This structure as the base class of another one, which is not virtual."""
        found = Node(self.unit, self._cursor)
        found.kind = "CXX_BASE_SPECIFIER"
        return found

    @property
    def displayed(self) -> str:
        """The name of a structure with the arguments that it is an instance for."""
        return str(self._cursor.displayname)

    def given(self, i: int) -> Node:
        """The structure that is the i-th argument of this instance of a template of structures."""
        t = self._cursor.type.get_canonical().get_template_argument_type(i).get_canonical()
        return Node(self.unit, t.get_declaration())

    @property
    def is_instance(self) -> bool:
        """Whether a function is an instance of a template."""
        return int(self._cursor.get_num_template_arguments()) >= 0

    @property
    def template_arguments(self) -> tuple[str, ...]:
        """The arguments of an instance of a function template, in C's words."""
        if self._cursor.get_num_template_arguments() < 1:
            return ()
        text = self.unit.printed(self._cursor)
        return tuple(libclang.arguments(text[text.find(f"{self.name}<") + len(self.name) :]))

    @property
    def is_mutable(self) -> bool:
        """Whether a field is."""
        return bool(self._cursor.is_mutable_field())

    @property
    def bits(self) -> tuple[int, int]:
        """The first bit of a bit-field in its structure, and how many it has."""
        return int(self._cursor.get_field_offsetof()), int(self._cursor.get_bitfield_width())

    @property
    def field_offset(self) -> int:
        """The byte offset of a field in its structure."""
        return int(self._cursor.get_field_offsetof()) // 8

    def evaluate(self) -> int | float | None:
        """The value that clang folds this expression to, None where it does not.

        clang also folds expressions with side effects (`(i++, 3)`): ask only where those are dealt with. Of an integer
        of more than 64 bits libclang would give the last 64.
        """
        if self.type.kind == "int" and self.type.size > _EVAL_BYTES:
            return None
        return libclang.folded(self._cursor)

    def covers(self, other: Node) -> bool:
        """Whether a node is written with exactly the text of another one, as a conversion that is not written is."""
        return bool(self._cursor.extent == other._cursor.extent)

    def tokens(self) -> Iterator[tuple[str, int]]:
        """The tokens of the node as written, with their byte offsets. Who asks only for the first of them pays for
        these alone: a nest of statements holds the inner ones' tokens at every level."""
        return ((t.spelling, self.unit.place(t.location)[1]) for t in self._cursor.get_tokens())

    def walk(self) -> Iterator[Node]:
        """This node and all below it, in source order. Works on any depth."""
        stack = [self]
        while stack:
            here = stack.pop()
            yield here
            stack.extend(reversed(here.children))
