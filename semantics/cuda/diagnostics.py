"""The errors of clang that matter. A file's host code is full of errors, for lack of its headers; but clang leaves out
the statements that use a declaration with an error in it, and says no more about them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, islice
from typing import Final

from logic.source import Loc
from semantics.cuda.clang import Node, Unit
from semantics.cuda.errors import CudaError
from semantics.cuda.extended import check_widths
from semantics.cuda.families import destroyed_by, overriding
from semantics.cuda.libclang import MISSING, Diagnostic
from semantics.cuda.lost import DIRECTIVE, WORD, blanked, may_declare, without_directives
from semantics.cuda.macros import SPLICE, braces, pastes
from semantics.cuda.shim import in_shim, is_shim, own, own_files

_CUDA: Final = (
    r"cuda|cuda_runtime|cuda_runtime_api|device_launch_parameters|device_functions|math_functions|vector_types"
    r"|vector_functions|builtin_types|sm_\d+_\w+|std(io|lib|int|def|bool)|math|assert|string"
)
_PROVIDED: Final = re.compile(
    rf"({_CUDA}|float|limits|time|ctype|unistd|errno|getopt|malloc|memory|sys/(time|types|stat))\.h"
    r"|c(stdio|stdlib|stdint|stddef|math|assert|float|limits|string|time|ctype|errno|inttypes|stdarg)|iostream|iomanip"
    r"|[iof]stream|sstream|iosfwd|tuple|optional|variant|any|bit|bitset|span|concepts|compare|numbers|ranges|iterator"
    r"|initializer_list|new|atomic|thread|mutex|shared_mutex|condition_variable|future|deque|list|queue|stack"
    r"|unordered_(map|set)|stdexcept|exception|system_error|filesystem|source_location|string_view|typeinfo|typeindex"
    r"|regex|ratio|charconv|format|complex"
    r"|(cublas|cusparse|cusolver|cufft|cudnn|curand|nccl|nvml|nvrtc|cuda_profiler_api|cudaProfiler)\w*\.h"
    r"|(nvtx3/)?nvToolsExt\w*\.h|vector|string|algorithm|chrono|random|numeric|functional|memory|map|set|array|utility|limits|type_traits"
)
"""Headers of the language and of CUDA: the shim stands in for what kernels use of them, which of some is nothing."""

_UNMISTAKABLE: Final = re.compile(rf"({_CUDA})\.h")
"""Those of them that no project has a file of its own for."""

_MACRO: Final = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+([\w$\x80-\xff]+)((?:[^\n\\]|\\.)*)", re.MULTILINE | re.DOTALL)
_CONDITION: Final = re.compile(
    rb"^[ \t]*(?:#|%:)[ \t]*(?:el)?if(?:n?def)?\b((?:[^\n\\]|\\.)*)", re.MULTILINE | re.DOTALL
)
_ASKED: Final = re.compile(rb"\b(__has_\w+)\s*\([^()]*\)")
"""Questions to the compiler in conditions, such as `__has_include(..)`; they are no macros."""

_ASSERTED: Final = re.compile(r"static assertion failed(?: due to requirement '.*')?: ")
"""What clang says before the words of an assertion."""

_INSTANCE: Final = re.compile(r"(?:\w+::)*(\w+)<([\w ,]+)>")
"""An instance of a function template whose arguments are names or numbers."""

_WHOLE: Final = ("char", "short", "int", "long", "long long")
_TYPES: Final = frozenset(
    (*_WHOLE, *(f"unsigned {t}" for t in _WHOLE), "signed char", "bool", "float", "double", "__fp16")
)
"""Types that have one name each."""

_LANGUAGE: Final = ("defined", "true", "false", "and", "or", "not", "xor", "bitand", "bitor", "compl", "not_eq", "##")
"""Words in conditions that are no macros."""

_SCOPES: Final = ("NAMESPACE", "LINKAGE_SPEC", "UNEXPOSED_DECL")
_FUNCTIONS: Final = ("FUNCTION_DECL", "FUNCTION_TEMPLATE", "CXX_METHOD", "CONSTRUCTOR", "DESTRUCTOR")
_EVERYWHERE: Final = frozenset(
    b"void bool char short int long float double signed unsigned const volatile static extern inline auto struct class"
    b" union enum typedef using namespace template typename return __device__ __host__ __global__ __shared__".split()
)
"""Words that name nothing."""

_ASSUMED: Final = {
    "__CUDA_ARCH__": "800",
    "CUDART_VERSION": "12000",
    "CUDA_VERSION": "12000",
    "__CUDACC_VER_MAJOR__": "12",
    "__CUDACC_VER_MINOR__": "0",
    "__GNUC__": "4",
    "__clang__": "1",
}
"""Macros whose values are the choice of whoever compiles the file, and what they are here."""

_ELSEWHERE: Final = (
    *("__PRETTY_FUNCTION__", "__COUNTER__", "__DATE__", "__TIME__", "__TIMESTAMP__"),
    *("__FILE__", "__BASE_FILE__", "__FILE_NAME__"),
)
"""What is another text, or number, for another compiler, or when and where one is called."""


MOST_TOLD: Final = 4
"""Errors of one kernel that are told."""


def check(unit: Unit, kernel: Node) -> tuple[str, ...]:
    """Raise the first error in the kernel, in what it uses, or in what it names. Gives notes."""
    errors = unit.errors
    used = list(_used(kernel))
    reach = Reach(unit, [d.span for d in used], frozenset(place for d in used for place in _own(d)))
    missing = [m[1] for e in errors if (m := MISSING.match(e.message)) and not _provided(m[1], e, unit)]
    advice = f"'{missing[0]}' was not found: give its folder with -I." if missing else ""
    mattering = list(islice((e for e in errors if reach.matters(e) and not _of_others(e, used)), MOST_TOLD + 1))
    if mattering:
        first, *others = mattering
        told, loc = _for_users(first)
        seen = first.earlier is not None and not is_shim(first.earlier.file)
        before = f"It is first declared at {first.earlier}." if seen else ""
        raise CudaError(told, loc, " ".join(filter(None, (before, advice, _others(first, others)))))
    for decl in _doubted(unit):
        if reach.names(decl):
            raise CudaError(f"'{decl.name}' is declared with an error", decl.loc, advice)
    if (found := _of_the_host(kernel)) is not None:
        raise CudaError(f"'{found.name}' is of the host", found.loc, "Pass the kernel what is in it.")
    check_widths(unit, used, lambda: reach.words, _macros(unit), _declarations)
    notes = [f"the header '{name}' was not found and is taken as empty" for name in dict.fromkeys(missing)]
    return (*notes, *reach.conditions(bool(missing)))


def _of_others(error: Diagnostic, used: Sequence[Node]) -> bool:
    """Whether an error is in the body of an instance of a function template for certain, and what is used of that
    function are other instances. clang reports an error in each instance that has it."""
    m = _INSTANCE.fullmatch(error.instance)
    if m is None or error.loc is None:
        return False
    place, wrong = (error.loc.file, error.offset), m[2].split(", ")
    around = [d for d in used if _inside(place, d.span)]
    others = (d.name == m[1] and _differ(d.template_arguments, wrong) and not _in_head(d, [place]) for d in around)
    return bool(around) and all(others)


def _differ(given: Sequence[str], others: Sequence[str]) -> bool:
    """Whether arguments of a template are others for certain: two types of the language, or two numbers, differ."""
    pairs = zip(given, others, strict=False)
    return len(given) == len(others) and any(
        a != b and ({a, b} <= _TYPES or (a.isdecimal() and b.isdecimal())) for a, b in pairs
    )


def _for_users(error: Diagnostic) -> tuple[str, Loc | None]:
    """The words of an error, and its place: of one in our headers, where a source uses what it is in."""
    if error.loc is None or not is_shim(error.loc.file):
        return error.message, error.loc
    users = (loc for loc in error.notes if not is_shim(loc.file))
    return _ASSERTED.sub("", error.message), next(users, error.loc)


def _others(first: Diagnostic, others: Sequence[Diagnostic]) -> str:
    """The errors after the first, on other lines, in a sentence: one often follows from another, and as often not."""
    line = (first.loc.file, first.loc.line) if first.loc else None
    told = [f"{e.loc}: {e.message}" for e in others if e.loc and (e.loc.file, e.loc.line) != line]
    more = ", .." if len(told) > MOST_TOLD - 1 else ""
    return f"There are others: {'; '.join(told[: MOST_TOLD - 1])}{more}." if told else ""


def _provided(header: str, error: Diagnostic, unit: Unit) -> bool:
    """Whether a header that was not found is one of the language or of CUDA: in quotes, it may be the user's own."""
    text = unit.text(error.loc.file) if error.loc is not None else b""
    quoted = text[error.offset : error.offset + 1] == b'"'
    return (_UNMISTAKABLE if quoted else _PROVIDED).fullmatch(header) is not None


Place = tuple[str, int]


@dataclass
class Reach:
    """The declarations that a kernel, or an expression, uses, as far as clang says: their extents, and the words in
    their text."""

    unit: Unit
    spans: list[tuple[str, int, int]]
    own: frozenset[Place] = frozenset()
    """Where words of the text are the names of what the functions declare themselves, or mention that: whatever is
    declared outside, these stay what they are."""

    @property
    def sure(self) -> bool:
        """Whether no error may have changed what clang says of it, and none of its words is up to the compiler."""
        words = {word.decode("utf-8", "replace") for word in self.words}
        own = words & (_ASSUMED.keys() - self.unit.macros.chosen) or any(map(self.unit.macros.predefined.get, words))
        return not (own or any(map(self.matters, self.unit.errors)) or any(map(self.names, _doubted(self.unit))))

    def matters(self, e: Diagnostic) -> bool:
        """Whether an error may have changed what clang says of it."""
        places, around = _surroundings(self.unit)[e]
        if any(_inside(place, span) for place in (*places, e.written) for span in self.spans):
            return True
        if e.loc is None or MISSING.match(e.message):
            return False
        if around and not any(_in_head(d, places) for d in around):
            return False
        if any(map(self.names, around)):
            return True
        return not any(_encloses(d, e.offset) for d in around) and self._beside(e.loc.file, e.offset)

    def names(self, decl: Node) -> bool:
        """Whether its text has a word that a declaration declares, or a macro may make one."""
        own = [decl.name, *(c.name for c in decl.children if c.kind == "ENUM_CONSTANT_DECL")]
        if any(name.encode() in self.words for name in own):
            return True
        if decl.name.startswith("operator"):  # which of its operands is a structure?
            file, start, end = decl.span
            return not self.words.isdisjoint(WORD.findall(blanked(self.unit.text(file)[start:end])))
        if any(b"\\" in w for w in self.words) and not all(name.isascii() for name in own):
            return True
        pasted = [w.decode() for w in self.words] if b"##" in self.words else []
        return any(name.startswith(w) or name.endswith(w) for name in own for w in pasted)

    def conditions(self, missing: bool) -> Iterator[str]:
        """Notes on what conditions of the preprocessor ask for that is not known here."""
        named = self._named(_conditions(self.unit))
        asked = dict.fromkeys(w.decode("utf-8", "replace") for w in (*named, *sorted(self.words)))
        chosen = self.unit.macros.chosen
        for name in asked:
            if name == "__cplusplus":
                yield f"'{name}' is what --std says"
            elif name in _ASSUMED and name not in chosen:
                yield f"'{name}' is taken as {_ASSUMED[name]}: -D {name}=.. says otherwise"
            elif name in chosen or name.encode() in _macros(self.unit):
                continue
            elif name in _ELSEWHERE or (
                name.startswith("__") and self.unit.macros.predefined.get(name, name.startswith("__has_"))
            ):
                yield f"'{name}' is taken as clang has it"
            elif name.encode() not in named or name.encode() in _EVERYWHERE or name in _LANGUAGE or "\\" in name:
                continue
            elif name in self.unit.macros.predefined:
                if not name.startswith("__"):  # those are the compiler's
                    yield f"'{name}' is taken as defined, as some header of CUDA's or of the language does it"
            elif missing:
                yield f"'{name}', which a header that was not found may define, is taken as not defined"
            else:
                yield f"'{name}' is taken as not defined: -D {name}=.. says otherwise"

    @cached_property
    def words(self) -> set[bytes]:
        """The words in these extents, in files that are included there, and in the macros that they name."""
        texts = [self._foreign(span) for span in self.spans]
        for name in own_files(self.unit):
            included = (place for place in _places(self.unit, name, 0) if place[0] != name)
            texts += [self.unit.text(name)] if any(_inside(at, span) for at in included for span in self.spans) else []
        return {*self._named(texts)} - _EVERYWHERE

    @cached_property
    def _own_in(self) -> dict[str, list[int]]:
        """Where its own words are in each file, in order."""
        found: dict[str, list[int]] = {}
        for name, at in sorted(self.own):
            found.setdefault(name, []).append(at)
        return found

    def _foreign(self, span: tuple[str, int, int]) -> bytes:
        """The text of an extent, without the words that are its own."""
        file, start, end = span
        text = bytearray(_blanked(self.unit, file)[start:end])
        own = self._own_in.get(file, [])
        for at in own[bisect_left(own, start) : bisect_left(own, end)]:
            if word := WORD.match(text, at - start):
                text[at - start : word.end()] = b" " * len(word[0])
        return bytes(text)

    def _named(self, texts: Iterable[bytes]) -> dict[bytes, None]:
        """The words in texts, and in the macros that they name; `##` where one of these pastes words."""
        found: dict[bytes, None] = {}
        macros, todo = _macros(self.unit), deque(texts)
        while todo:
            text = blanked(todo.popleft())
            words = dict.fromkeys([*WORD.findall(text), *([b"##"] if pastes(text) else [])])
            todo += [macros[word] for word in words if word in macros and word not in found]
            found |= words
        return found

    def _beside(self, file: str, offset: int) -> bool:
        """Whether an error is in a condition, or what clang may have left out around it declares a word that the text
        has: that is from the declaration with the error to the next one that clang has."""
        unit = self.unit
        text = _blanked(unit, file)
        if _CONDITION.match(text[text.rfind(b"\n", 0, offset) + 1 :]):
            return True
        plain = without_directives(text)
        start = max(plain.rfind(c, 0, offset) for c in (b";", b"}", b"{")) + 1
        later = (at for d in _declarations(unit) for name, at, _ in (d.span,) if name == file and at > offset)
        lost = may_declare(plain[start : min(later, default=len(text))], _macros(unit))
        pasting = lost is not None and not {w.decode("latin-1") for w in lost}.isdisjoint(unit.macros.saying(pastes))
        hidden = any(b"\\" in w for w in self.words)  # letters by their numbers
        return lost is None or pasting or hidden or not lost.isdisjoint(self.words)


def _in_head(decl: Node, places: Sequence[tuple[str, int]]) -> bool:
    """Whether a place is anywhere but in the body of a function, or the body says what the function is."""
    body = next((c.span for c in reversed(decl.children) if c.kind == "COMPOUND_STMT"), None)
    if decl.kind not in _FUNCTIONS or body is None or not any(_inside(place, body) for place in places):
        return True
    file, start, _ = decl.span
    head = {*WORD.findall(decl.unit.text(file)[start : body[1]])}
    return file != body[0] or not head.isdisjoint((b"constexpr", b"auto", b"decltype"))


@lru_cache(maxsize=2)  # the passes over one file, which many constants are asked about
def _declarations(unit: Unit) -> list[Node]:
    """The declarations outside of functions and structures, without those of the shim."""
    found, todo = [], list(reversed(own(unit)))
    while todo:
        node = todo.pop()
        if node.kind in _SCOPES:
            todo.extend(reversed(node.children))
        elif not in_shim(node):
            found.append(node)
    return found


@lru_cache(maxsize=2)
def _doubted(unit: Unit) -> list[Node]:
    """The declarations with an error in them."""
    return [d for d in _declarations(unit) if d.is_invalid] if unit.errors else []


@lru_cache(maxsize=2)
def _surroundings(unit: Unit) -> dict[Diagnostic, tuple[list[Place], list[Node]]]:
    """The places of each error, those at which its file is included among them, and the declarations around them."""
    spans = [(d, d.span) for d in _declarations(unit)]
    places = {e: list(_places(unit, e.loc.file, e.offset)) if e.loc is not None else [] for e in unit.errors}
    return {e: (at, [d for d, span in spans if any(_inside(p, span) for p in at)]) for e, at in places.items()}


@lru_cache(maxsize=2)
def _conditions(unit: Unit) -> list[bytes]:
    """The texts of the preprocessor's conditions, in the files of a unit."""
    texts = (blanked(SPLICE.sub(b"", unit.text(f))) for f in own_files(unit))
    return [_ASKED.sub(rb"\1", m[1]) for text in texts for m in _CONDITION.finditer(text)]


@lru_cache(maxsize=2)
def _macros(unit: Unit) -> dict[bytes, bytes]:
    """The macros that the files define, with all of their definitions."""
    found: dict[bytes, bytes] = {}
    for text in (*map(unit.text, own_files(unit)), *map(_defined, unit.defines)):
        for m in _MACRO.finditer(text):
            found[m[1]] = found.get(m[1], b"") + b" " + m[2]
    return found


def _places(unit: Unit, file: str, offset: int) -> Iterator[Place]:
    """A place, and those at which its file is included."""
    seen: set[Place] = set()
    todo = [(file, offset)]
    while todo:
        here = todo.pop()
        if here not in seen:
            seen.add(here)
            yield here
            todo += [(by, at) for name, by, at in unit.inclusions if name == here[0]]


def _defined(option: str) -> bytes:
    """A definition as in a file, for one of the command line."""
    name, _, value = option.partition("=")
    return f"#define {name} {value}".encode()


def _inside(place: tuple[str, int], span: tuple[str, int, int]) -> bool:
    return place[0] == span[0] and span[1] <= place[1] <= span[2]


def _used(kernel: Node) -> Iterator[Node]:
    """The kernel and every declaration that it mentions, over any number of steps."""
    seen: set[int] = set()
    todo = [kernel]
    while todo:
        decl = todo.pop()
        if decl.identity in seen or in_shim(decl):
            continue
        seen.add(decl.identity)
        yield decl
        for node in decl.walk():
            if node.kind == "CXX_DELETE_EXPR":
                todo += destroyed_by(node)
            used = node if node.kind == "DESTRUCTOR" else _mentioned(node)
            if used is None:
                continue
            if used.kind in ("FIELD_DECL", "ENUM_CONSTANT_DECL") and used.parent is not None:
                used = used.parent
            todo += [f.definition or f for f in (used, *overriding(used))]


def _mentioned(node: Node) -> Node | None:
    """The declaration that a node names; not a namespace, which only says where others are found."""
    named = node.kind.endswith(("_REF", "_REF_EXPR", "CALL_EXPR")) and node.kind != "NAMESPACE_REF"
    return node.referenced if named else None


def _of_the_host(kernel: Node) -> Node | None:
    """Where the standard library's types of the host are named, of whose size nothing is known, by a kernel and what it
    uses, outside of functions of the host."""
    if not any(name.endswith(_CONTAINERS) for name, _, _ in kernel.unit.inclusions):
        return None
    seen: set[int] = set()
    todo = [kernel]
    while todo:
        node = todo.pop()
        if node.kind in _FUNCTIONS and not any(c.kind in ("CUDAGLOBAL_ATTR", "CUDADEVICE_ATTR") for c in node.children):
            continue
        used = _mentioned(node)
        if used is not None and used.kind != "NAMESPACE" and used.span[0].endswith(_CONTAINERS):
            return node
        if used is not None and used.identity not in seen and not in_shim(used):
            seen.add(used.identity)
            todo += [f.definition or f for f in (used, *overriding(used))]
            if used.kind in ("FIELD_DECL", "ENUM_CONSTANT_DECL") and used.parent is not None:
                todo.append(used.parent)
        todo += node.children
    return None


_CONTAINERS: Final = ("/warpbound_containers.h", "/warpbound_thrust.h")

_CLASSES: Final = ("STRUCT_DECL", "CLASS_DECL", "CLASS_TEMPLATE")


def _encloses(decl: Node, offset: int) -> bool:
    """Whether a place is for certain between the braces of a structure, which alone sees what is declared there."""
    (file, start, end), unit = decl.span, decl.unit
    if decl.kind not in _CLASSES or not decl.name or "(" in decl.name:
        return False
    text = _blanked(unit, file)[start:end]
    plain = _without_conditions(text, offset - start)
    if plain is None:
        return False
    opened = plain.find(b"{")
    depths = list(accumulate((c == 0x7B) - (c == 0x7D) for c in plain))
    if not 0 <= opened < offset - start or min(depths[opened:-1], default=0) < 1 or depths[-1] != 0:
        return False
    bracing = unit.macros.saying(braces)
    words = {word.decode("latin-1") for word in WORD.findall(text)}
    return not words & (bracing | {"friend"})


def _without_conditions(text: bytes, at: int) -> bytes | None:
    """A text with blanks for its directives, if its braces are the same whichever of its conditions hold: what is under
    one has braces in pairs. None else, and where a place is in a directive, or something is included."""
    plain, depth, here = without_directives(text), 0, 0
    for m in DIRECTIVE.finditer(text):
        word = WORD.search(m[0])
        name = word[0] if word else b""
        if m.start() <= at <= m.end() or not (name in _BRANCHING or name in (b"define", b"undef", b"pragma", b"")):
            return None
        if depth > 0 and not _paired(plain[here : m.start()]):
            return None
        depth, here = depth + _BRANCHING.get(name, 0), m.end()
        if depth < 0:
            return None
    return plain if depth == 0 else None


_BRANCHING: Final = {b"if": 1, b"ifdef": 1, b"ifndef": 1, b"elif": 0, b"else": 0, b"endif": -1}
"""The levels of conditions that directives open, and close."""


def _paired(text: bytes) -> bool:
    """Whether each brace of a text has its other one in it."""
    depths = list(accumulate((c == 0x7B) - (c == 0x7D) for c in text))
    return min(depths, default=0) >= 0 and (not depths or depths[-1] == 0)


def _own(decl: Node) -> Iterator[Place]:
    """Where a function names what it declares itself, or a field: that is looked up in its structure alone. Also where
    it is declared, if it is no template: whatever else has its name, its body stays what it is."""
    if decl.kind == "FUNCTION_DECL" and not decl.template_arguments:
        yield decl.written
    for node in decl.walk() if decl.kind in _FUNCTIONS else ():
        used = node.referenced if node.kind in ("DECL_REF_EXPR", "MEMBER_REF_EXPR") else node
        if used is None:
            continue
        local = used.kind in ("VAR_DECL", "PARM_DECL") and used.storage != "EXTERN"
        field = used.kind == "FIELD_DECL" and node.kind == "MEMBER_REF_EXPR"
        if field or (local and _inside(used.span[:2], decl.span)):
            yield node.written


@lru_cache(maxsize=8)
def _blanked(unit: Unit, file: str) -> bytes:
    return blanked(unit.text(file))
