"""From a file to a kernel's syntax tree: options, errors, variable-length shared arrays, templates and launches."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Final

from logic.source import Loc
from semantics.cuda.asked import calls, constant, constrains, device_code, several, specialises, taken, throws, trait
from semantics.cuda.clang import UNITS, ClangFailed, Node, Unit
from semantics.cuda.errors import CudaError, NoKernel
from semantics.cuda.families import lines as derived_lines
from semantics.cuda.families import virtual_functions
from semantics.cuda.hidden import lines as hidden_lines
from semantics.cuda.hidden import wanted
from semantics.cuda.inherited import depends
from semantics.cuda.inherited import lines as inherited_lines
from semantics.cuda.inputs import note, since, sought, telling
from semantics.cuda.libclang import MISSING
from semantics.cuda.lines import Source
from semantics.cuda.macros import FIRST_ARGUMENT, SPLICE
from semantics.cuda.nested import with_calls
from semantics.cuda.places import is_shared
from semantics.cuda.precompiled import precompiled
from semantics.cuda.shim import HEADERS, PATH, is_shim
from semantics.cuda.spellings import mended
from semantics.cuda.templates import (
    INSTANCE,
    arguments,
    functions,
    instances,
    is_called,
    is_plain,
    is_template,
    kernels,
    plain,
    qualified,
    references,
    signed,
    told,
)
from semantics.cuda.unseen import unseen

OPTIONS: Final = (
    "-x", "cuda", "--cuda-gpu-arch=sm_80", "-nocudainc", "-nocudalib", "-nostdinc",
    "-nostdinc++", "-fsyntax-only", "-ferror-limit=0", "-Wno-everything",
    "-Xclang", "-fnative-half-arguments-and-returns", "-Xclang", "-fnative-half-type",
    "-Xclang", "-fno-cxx-modules", "-include", PATH,
)  # fmt: skip
"""Without modules, which CUDA has none of: in C++20, clang would refuse the shim as it was parsed before."""

_DEVICE: Final = ("--cuda-device-only",)
_HOST: Final = ("--cuda-host-only", "--target=x86_64-unknown-linux-gnu", "-U__CUDA_ARCH__", "-U__NVPTX__",
                "-U__PTX__", "-D__SIZEOF_FLOAT80__=16")  # fmt: skip
"""Macros that tell the two passes of a compiler over a file apart. Constants may differ between them. clang keeps
macros of the device in the host's pass, and leaves out one of the host's."""

_PRAGMA: Final = re.compile(
    rb"^[ \t]*#[ \t]*pragma[ \t]+(?:no)?unroll(?![\w$])(?:(?!/[/*]|\*/)(?:\\\r?\n|[^\r\n]))*", re.MULTILINE
)
"""Pragmas that say how to compile a loop, and nothing of what it does. clang takes it for an error where no loop
follows."""
_TEXT: Final = re.compile(rb"[^\r\n]")
_MOST_TRIED: Final = 4
_MOST_HIDDEN: Final = 64
_LONG: Final = 16_384
_LONG_RUN: Final = 1_500
_PROBE: Final = (
    "import sys, clang.cindex as c\n"
    "c.Index.create().parse(sys.argv[1], sys.argv[2:], [(sys.argv[1], sys.stdin.buffer.read())], 0x201)\n"
)


STD: Final = "c++17"
"""The language that sources are read in, where nobody says another."""
_NEWER: Final = re.compile(r"\b(?:concepts?|requires|consteval|constinit|char8_t)\b|<=>|function prototype")
"""Words of C++20, and of what clang says of it where it reads C++17."""
_SIZED: Final = b"__w_SIZED"
"""What stands at a class of ours that has another size in CUDA's headers."""
_QUOTED: Final = re.compile(r"(?:unknown type name|undeclared identifier|no type named|no template named) '(\w+)'")
_OF_CUDA: Final = {
    name: re.compile(own)
    for name, own in (
        ("cuda_fp16.h", r"(?:__)?half2?|__half\w+|__\w+2half\w*|__h\w+2?"),
        ("cuda_bf16.h", r"(?:__)?nv_bfloat162?|__\w*bfloat16\w*|__bf\w+"),
        ("cuda_fp8.h", r"__nv_fp8\w+"),
        ("cuComplex.h", r"cu(?:Float|Double)?Complex|cuC\w+|make_cu\w+"),
        ("curand_kernel.h", r"curand\w+"),
        ("cooperative_groups.h", r"cooperative_groups"),
        ("mma.h", r"nvcuda"),
        ("torch/all.h", r"torch|c10|(?:C10|TORCH|AT_DISPATCH)_\w+"),
    )
}
"""Names that headers of CUDA or PyTorch declare, and no other."""
_VECTORS: Final = (
    "helper_math.h",
    re.compile(r"for call to 'make_(?:float|u?int)[234]'|\('[^']*\b(?:float|u?int)[234]'"),
)
"""The header that CUDA's samples share, and what clang says of vectors where it is not there."""
_DISPATCH: Final = re.compile(r"undeclared identifier '([A-Z0-9_]*DISPATCH[A-Z0-9_]*)'")
_PYTORCH: Final = f"{HEADERS}/warpbound_torch.h"
_UNORDERED: Final = ("98", "03", "0x", "11", "1y", "14")
"""The versions of C++ before C++17."""
_MOST_NESTED: Final = 64
_MOST_TOKENS: Final = 1 << 16
"""The most tokens that one macro may stand for: clang takes gigabytes for more, or ends."""

_DEFINED: Final = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)((?:[^\n\\]|\\.)*)", re.MULTILINE | re.DOTALL)
_WORD: Final = re.compile(rb"[A-Za-z_]\w*|[^\s\w\\]")


def stands_for(name: str) -> tuple[str, str]:
    """The text that a macro of this name is thought to stand for, of T, N and more, and what it is in words."""
    if name.endswith("_SWITCH"):
        one, two = (f"{{ constexpr bool N = {value}; return __VA_ARGS__(); }}" for value in ("true", "false"))
        return f"[&] {{ if (T) {one} else {two} }}()", "a choice of true or false"
    if "INT" in name:
        return "AT_DISPATCH_INTEGRAL_TYPES(T, N, __VA_ARGS__)", "a dispatch over integers"
    cases = (f"AT_DISPATCH_CASE(at::ScalarType::{t}, __VA_ARGS__)" for t in ("Float", "Half", "BFloat16"))
    return f"AT_DISPATCH_SWITCH(T, N, {' '.join(cases)})", "a dispatch over float, half and __nv_bfloat16"


@dataclass(frozen=True, slots=True)
class Request:
    """A request: which file to read, and how; see `semantics.cuda.read_cuda`."""

    path: str
    includes: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    std: str = STD
    instantiate: str | None = None
    shared_block: tuple[int | None, ...] | None = None
    host: bool = False
    """Whether it is parsed as for the host, not for the device."""
    together: bool = False
    """Whether every function is taken for one that host and device may call."""
    more: tuple[str, ...] = ()
    """Headers of CUDA that one which was not found may include, as the source has names of theirs."""
    dispatches: tuple[str, ...] = ()
    """Macros that a header which was not found may have: over types as PyTorch's, or over true and false."""

    @property
    def has_concepts(self) -> bool:
        """Whether it is read in a language that has concepts."""
        return "++2" in self.std

    @property
    def ordered(self) -> bool:
        """Whether it is read in a language that puts the sides of assignments and shifts in order."""
        return self.std.rpartition("++")[2] not in _UNORDERED

    @property
    def args(self) -> list[str]:
        includes = [f"-I{p}" for p in self.includes]
        return [
            *OPTIONS,
            f"-std={self.std}",
            "-fno-trigraphs",
            *includes,
            f"-isystem{HEADERS}",
            *(f"-D{d}" for d in self.defines),
            *(word for name in self.more for word in ("-include", f"{HEADERS}/{name}")),
            *(f"-D{name}(T, N, ...)={stands_for(name)[0]}" for name in self.dispatches),
            *(_HOST if self.host else _DEVICE),
            *(("-D__w_together", "-include", f"{HEADERS}/warpbound_internal.h") if self.together else ()),
        ]


@dataclass(frozen=True, slots=True)
class Parsed:
    """A unit, the `whole` one with the launches that kernels make, and the byte offsets of the shared arrays whose
    length was replaced by a stand-in."""

    unit: Unit
    whole: Unit
    unknown_lengths: frozenset[int] = field(default_factory=frozenset)
    ordered: bool = True
    """Whether the language puts the sides of assignments and shifts in order."""
    begun: bytes = b""
    """The text with all hidden lines."""


_HEAD: Final = 1024
"""The first bytes of a file, of which none is 0 in a text."""
_NO_TEXT: Final = "Give CUDA C, saved as UTF-8."


def read_bytes(path: str) -> bytes:
    """The bytes of a file. Raises CudaError where it can't be read, or begins as no text does."""
    try:
        data = Path(path).read_bytes()
        note(path, data)
        if b"\0" in data[:_HEAD]:
            raise CudaError(f"cannot read '{path}': it is no text", None, _NO_TEXT)
        return data
    except FileNotFoundError:
        reason = "no such file"
    except IsADirectoryError:
        reason = "it is a directory"
    except PermissionError:
        reason = "permission denied"
    except (OSError, ValueError) as e:
        reason = (getattr(e, "strerror", None) or str(e)).lower()
    raise CudaError(f"cannot read '{path}': {reason}", None)


def _macros(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """The macros of a text, where each is defined, and how many tokens it stands for, at most one more than what is too
    much."""
    found = {m[1]: (_WORD.findall(m[2]), m.start(1)) for m in _DEFINED.finditer(data)}
    sizes: dict[bytes, int] = {}

    def size(name: bytes, inside: frozenset[bytes]) -> int:
        if name not in found or name in inside or len(inside) > _MOST_NESTED:
            return 1
        if name not in sizes:
            total = 0
            for word in found[name][0]:
                total += size(word, inside | {name})
                if total > _MOST_TOKENS:
                    break
            sizes[name] = total
        return sizes[name]

    for name, (_, at) in found.items():
        yield name, at, size(name, frozenset())


def _check_macros(path: str, data: bytes) -> None:
    """Raises for a macro that stands for more tokens than clang is given: macros of macros double."""
    for name, at, size in _macros(data):
        if size > _MOST_TOKENS:
            loc = Loc(path, *Source(data).place(at))
            what = f"the macro '{name.decode('latin-1')}' stands for more than {_MOST_TOKENS} tokens"
            raise CudaError(what, loc, "Write a loop or a function.")


def in_its_language(request: Request) -> Request:
    """The same with what headers that were not found may be thought to include of CUDA's, and in C++20 where the source
    speaks of concepts or other things of it, and has fewer errors so; unless another language than the usual one is
    asked for."""
    data = _plain(request.path, read_bytes(request.path))
    wrong = _unit(request, data).errors
    if any(MISSING.match(e.message) for e in wrong):
        request = _thought(request, data)
        wrong = _unit(request, data).errors
    if request.std != STD:
        return request
    if not wrong or not any(map(_NEWER.search, (data.decode("latin-1"), *(e.message for e in wrong)))):
        return request
    newer = replace(request, std="c++20")
    unit = _unit(newer, data)
    return request if len(unit.errors) >= len(wrong) else newer


def _thought(request: Request, data: bytes) -> Request:
    """The same with what headers that were not found may be thought to declare."""
    unit = _unit(request, data)
    if more := tuple(_thought_of(unit)):
        request = replace(request, more=more)
        unit = _unit(request, data)
    if any(_VECTORS[1].search(e.message) for e in unit.errors):
        with_vectors = replace(request, more=(*request.more, _VECTORS[0]))
        if len(_unit(with_vectors, data).errors) < len(unit.errors):
            request, unit = with_vectors, _unit(with_vectors, data)
    return replace(request, dispatches=tuple(dict.fromkeys(_dispatches(unit))))


def _dispatches(unit: Unit) -> Iterator[str]:
    """The macros that are used as some which choose types or constants, `DISPATCH(x.scalar_type(), "f", ..)` and
    `IS_SWITCH(x > 0, Is, [&] ..)`, and that nothing defines."""
    texts = [*map(unit.text, (unit.path, *unit.included()))]
    for e in unit.errors:
        if (m := _DISPATCH.search(e.message)) and _PYTORCH in unit.included():
            used = re.compile(rf'\b{m[1]}\s*{FIRST_ARGUMENT}"'.encode())
            yield from (m[1] for _ in filter(used.search, texts))
        elif m := _QUOTED.search(e.message):
            used = re.compile(rf"\b([A-Z][A-Z0-9_]*_SWITCH)\s*{FIRST_ARGUMENT}{m[1]}\s*,\s*(?:\\\s*)?\[".encode())
            found = (found[1].decode() for found in map(used.search, texts) if found)
            yield from (name for name in found if name not in unit.macros.texts)


def _thought_of(unit: Unit) -> Iterator[str]:
    """The headers of CUDA that declare names which the source has and nothing declares."""
    unknown = set[str]()
    for e in unit.errors:
        quoted = _QUOTED.search(e.message)
        at = _WORD.match(unit.text(e.loc.file), e.offset) if e.loc is not None else None
        unknown |= {quoted[1]} if quoted else {at[0].decode("latin-1")} if at else set()
    for name, own in _OF_CUDA.items():
        if any(map(own.fullmatch, unknown)):
            yield name


def asks(request: Request) -> bool:
    """Whether templates of a source may be chosen by what can be called: by concepts, or by what is written of types
    that calls have; or whether it has headers with classes of unknown sizes. Raises CudaError where a
    compiler is asked what our headers may not have as libraries do."""
    unit = _unit(request, _plain(request.path, read_bytes(request.path)))
    files = [name for name in unit.included() if name != PATH]
    ours = [name for name in files if Path(name).is_relative_to(HEADERS)]
    theirs = {name: read_bytes(name) for name in (unit.path, *files) if name not in ours}
    defines = [text.encode() for text in request.defines]
    texts = (*theirs.values(), *defines)
    for name, text in theirs.items():
        if (asked := trait(text)) is not None:
            told, loc = asked[1].decode(), Loc(name, *Source(text).place(asked.start()))
            raise CudaError(f"what __{told} says of a library's class is not known", loc, f"Use std::{told}.")
        if (asked := constant(text)) is not None:
            what = "whether something is evaluated as a constant is not known"
            raise CudaError(what, Loc(name, *Source(text).place(asked.start())), "Write a function for each.")
        if (asked := specialises(text)) is not None:
            what = "whether a specialisation takes functions that throw nothing is not known"
            raise CudaError(what, Loc(name, *Source(text).place(asked.start())), "Give the template a type.")
    if any(map(constant, defines)):
        raise CudaError("an option of -D asks whether something is evaluated as a constant", None, "Leave it out.")
    if (place := throws((*theirs.values(), *(b"#define " + d.replace(b"=", b" ", 1) for d in defines)))) is not None:
        said = [Loc(name, *Source(text).place(place[1])) for name, text in theirs.items()][place[0] : place[0] + 1]
        what = "whether a function of a library may throw is not known"
        raise CudaError(what, said[0] if said else None, "Do not ask by noexcept(..).")
    device = device_code(unit)
    chosen = any(map(calls, texts)) or (request.has_concepts and any(map(constrains, texts)))
    if chosen or several([*device.values()]) or taken(unit, [*device.values()]):
        return True
    return any(_SIZED in unit.text(name) for name in ours)


def parse(request: Request, begun: bytes | None = None) -> Parsed:
    """Parse a file, with hidden references at its end to the instances of templates that libclang does not show, and to
    the one that is asked for. Where the text was `begun` by another parse, it has those which that found."""
    data = _plain(request.path, read_bytes(request.path)) if begun is None else begun
    unit = _unit(request, data)
    if begun is None and (lines := references(unit)):
        data = _appended(data, _kept(request, data, lines))
        unit = _again(request, unit, data)
    if begun is None and request.instantiate is not None and not _made(unit, request):
        data = _appended(data, [f"static auto *{INSTANCE} = &{_spelled(request, unit)};"])
        unit = _unit(request, data)
    data, unit = _with_hidden(request, data, unit, begun is not None)
    if request.shared_block is not None:
        unit = _again(request, unit, _with_block(unit, request.shared_block))
    whole, unknown = _with_ones(unit)
    unit = _again(request, unit, whole)
    return Parsed(_again(request, unit, with_calls(unit)), unit, unknown, request.ordered, data)


@lru_cache(maxsize=UNITS)
def _plain(path: str, data: bytes) -> bytes:
    """A file's text with what clang takes for an error, and CUDA's compiler does not, said otherwise."""
    _check_macros(path, data)
    return _PRAGMA.sub(lambda m: _TEXT.sub(b" ", m[0]), data)


def _appended(data: bytes, lines: Sequence[str]) -> bytes:
    return data + "".join(f"\n{line}" for line in lines).encode("latin-1") + b"\n" if lines else data


def _with_hidden(request: Request, data: bytes, unit: Unit, begun: bool) -> tuple[bytes, Unit]:
    """The text with hidden references to the base classes of instances of templates, and to theirs, and with functions
    that call what libclang does not show; where it was begun, it has some."""
    tried, before = set[str](), {*data.decode("latin-1").split("\n")} if begun else set[str]()
    based, more = depends(unit), wanted(unit)
    while (based or more) and len(tried) <= _MOST_HIDDEN:
        listed = _hidden(unit, based, more)
        found = [line for line in listed if line not in tried and line not in before]
        tried |= {*found}
        if not found:
            break
        data = _appended(data, _kept(request, data, found))
        unit = _again(request, unit, data)
    return data, unit


@lru_cache(maxsize=UNITS)
def _hidden(unit: Unit, based: bool, more: bool) -> tuple[str, ...]:
    """All hidden lines that the kernels and the virtual functions of a unit want: those of base classes, and more."""
    own = [f for k in kernels(unit) for f in (instances(unit, k) if is_template(k) else [k])]
    own += virtual_functions(unit)
    listed = inherited_lines(unit, own) if based else []
    listed += [*hidden_lines(unit, own), *derived_lines(unit, own)] if more else []
    return tuple(listed)


def _kept(request: Request, data: bytes, lines: Sequence[str]) -> list[str]:
    """Those of the hidden lines that have no error."""
    unit = _unit(request, _appended(data, lines))
    first = data.count(b"\n") + 2
    wrong = {e.loc.line - first for e in unit.errors if e.loc is not None and e.loc.file == unit.path}
    return [line for i, line in enumerate(lines) if i not in wrong]


def _made(unit: Unit, request: Request) -> bool:
    """Whether the instance that is asked for is one that the file makes."""
    asked = request.instantiate or ""
    own = [k for k in kernels(unit) if is_template(k) and k.name == plain(asked).rpartition("::")[2]]
    return any(is_called(k, asked) for template in own for k in instances(unit, template))


def _spelled(request: Request, unit: Unit) -> str:
    """The instance that is asked for, in the namespace of the only kernel that has its name, where it says none. Raises
    CudaError for what cannot be one."""
    asked = request.instantiate or ""
    if not re.fullmatch(r"[\w:<>(), *+\-&.']+", asked):
        raise CudaError(f"'{asked}' is no template instance", None, "Write it like 'k<float,256>'.")
    name, angle, arguments = asked.partition("<")
    if "::" in name:
        return asked
    found = {qualified(k) for k in kernels(unit) if k.name == name.strip()}
    return f"{found.pop()}{angle}{arguments}" if len(found) == 1 else asked


def parsed_for_host(request: Request, data: bytes) -> Unit | None:
    """A file's text parsed as for the host, whose pass reads the launches; None where that fails."""
    try:
        return _unit(replace(request, host=True), data)
    except CudaError:
        return None


def _again(request: Request, unit: Unit, data: bytes) -> Unit:
    return unit if data == unit.data else _unit(request, data)


def _unit(request: Request, data: bytes) -> Unit:
    """A text parsed, or what it was parsed to before, where nothing that it includes has changed."""
    args, here = tuple(request.args), (folder := Path().stat()).st_dev << 64 | folder.st_ino
    with telling(request.includes, request.defines) as tell:
        folders = tuple(request.includes)
        unit, *before = _parsed(request.path, data, args, here, folders)
        if before != [unit.included(), _found(unit, folders)] or unit.made < since():
            _parsed.cache_clear()
            unit, *_ = _parsed(request.path, data, args, here, folders)
        tell((name, unit) for name, _, _ in unit.inclusions)
    return unit


def _found(unit: Unit, folders: tuple[str, ...]) -> frozenset[Path]:
    """Of the places where clang looks for the files that the texts name, and for those that it did not find, in this
    order, those at which there may be something."""
    absent = ((e.loc.file, name[1]) for e in unit.errors if (name := MISSING.match(e.message)) and e.loc is not None)
    texts = dict.fromkeys((unit.path, *(name for name, _, _ in unit.inclusions)))
    asked = dict.fromkeys((*absent, *((file, name) for file in texts for name in sought(unit.text(file)))))
    places = {Path(folder, name) for file, name in asked for folder in (str(Path(file).parent), *folders)}
    return frozenset(place for place in places if not _is_absent(place))


def _is_absent(path: Path) -> bool:
    """Whether there is certainly nothing at a path."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


@lru_cache(maxsize=UNITS)
def _parsed(
    path: str, data: bytes, args: tuple[str, ...], here: int, folders: tuple[str, ...]
) -> tuple[Unit, dict[str, tuple[int, int]], frozenset[Path]]:
    """A text parsed in a folder, `here`, at which relative paths begin; what it includes, and what it asks for in
    `folders` that is there."""
    _probe(path, data, args)
    quick, prefix = precompiled(args)
    ways = [(quick, prefix)] if prefix else []
    for options, begun in (*ways, (args, None)):
        cause: Exception | None = None
        try:
            unit = Unit(path, data, options, begun)
            if other := mended(unit):
                unit = Unit(path, data, options, begun, instead={n: (unit.text(n), other[n]) for n in other})
        except (ClangFailed, UnicodeError) as e:
            problem, cause = f"clang cannot parse '{path}'", e
            continue
        error = next((e for e in unit.errors if e.loc is None), None)
        if error is None:
            return unit, unit.included(), _found(unit, folders)
        problem = f"clang says: {error.message}"
    raise CudaError(problem, None, "Check -I, -D and --std.") from cause


_watched = [False]


def watched() -> None:
    """From now on clang may end this process: somebody looks after it, and tells what became of it."""
    _watched[0] = True


def _probe(path: str, data: bytes, args: Sequence[str]) -> None:
    """Let another process parse a suspicious file first: clang's recursion is only bounded by the stack."""
    run = max((len(part) for part in re.split(rb"[;{}]", data)), default=0)
    short = len(data) < _LONG and run < _LONG_RUN and all(size < _LONG_RUN for _, _, size in _macros(data))
    if short or _watched[0]:
        return
    name = f"./{path}" if path.startswith("-") else path
    command = [sys.executable, "-c", _PROBE, name, *args]
    done = subprocess.run(command, input=data, capture_output=True, check=False)  # noqa: S603 - our own interpreter
    if done.returncode < 0:
        raise CudaError(f"'{path}' is nested too deeply for clang", None, "Split up its largest expression.")


# --- variable-length shared arrays -----------------------------------------------------------------------------------


def _variable_arrays(unit: Unit) -> Iterator[Node]:
    """The shared arrays of which a length is no constant."""
    if not any("variable length array" in e.message for e in unit.errors):
        return
    for function in functions(unit):
        for node in function.walk():
            if node.kind == "VAR_DECL" and "VARIABLEARRAY" in node.array_kinds and is_shared(node):
                yield node


def _lengths(node: Node) -> list[tuple[int, int]]:
    """The byte offsets at which the variable lengths of an array are written."""
    sizes = sorted(c.span for c in node.children if c.kind.endswith(("_EXPR", "_OPERATOR", "_LITERAL")))
    pairs = zip(sizes, node.array_kinds, strict=False)
    return [(start, end) for (file, start, end), kind in pairs if kind == "VARIABLEARRAY" and file == node.unit.path]


def _with_block(unit: Unit, dims: Sequence[int | None]) -> bytes:
    """The text with numbers for blockDim.x .. in the lengths of shared arrays. No column moves."""
    data = bytearray(unit.data)

    def known(m: re.Match[bytes]) -> bytes:
        at = b"xyz".index(m[1])
        value = dims[at] if at < len(dims) else None
        return m[0] if value is None else str(value).encode().ljust(len(m[0]))

    for node in _variable_arrays(unit):
        for start, end in _lengths(node):
            data[start:end] = re.sub(rb"\bblockDim\s*\.\s*([xyz])\b", known, bytes(data[start:end]))
    return bytes(data)


def _with_ones(unit: Unit) -> tuple[bytes, frozenset[int]]:
    """The text with 1 for the variable lengths of shared arrays, and where those are. No column moves."""
    data = bytearray(unit.data)
    found: set[int] = set()
    for node in _variable_arrays(unit):
        if node.array_kinds[0] != "VARIABLEARRAY" or "VARIABLEARRAY" in node.array_kinds[1:]:
            raise CudaError(
                f"the row length of the shared array '{node.name}' is not a constant",
                node.loc,
                "Give the block (--block), or flatten the array.",
            )
        found.add(node.offset)
        for start, end in _lengths(node):
            data[start:end] = b"1".ljust(end - start)
    return bytes(data), frozenset(found)


# --- kernels ---------------------------------------------------------------------------------------------------------

_GLOBAL: Final = re.compile(rb"__global__|\(\s*global\b")


def _says_global(unit: Unit) -> bool:
    """Whether there is text that may mark a function as a kernel, which clang may have left out for an error."""
    files = dict.fromkeys((unit.path, *(name for name, _, _ in unit.inclusions if not is_shim(name))))
    texts = (*map(unit.text, files), *(option.encode() for option in unit.defines))
    return any(_GLOBAL.search(SPLICE.sub(b"", text)) for text in texts)


def find(parsed: Parsed, request: Request, name: str | None, advise: bool = True) -> Node:
    """The kernel that is meant, its template arguments filled in."""
    unit = parsed.unit
    found = kernels(unit)
    names = list(dict.fromkeys(k.name for k in found))
    if name is None and request.instantiate is not None:
        name = _last(request.instantiate)
    known = f"There are {', '.join(names)}." if len(names) > 1 else f"There is {names[0]}." if names else ""
    if name is not None and request.instantiate is not None and _last(name) != _last(request.instantiate):
        told = f"--instantiate '{request.instantiate}' is no instance of the kernel '{name}'"
        raise CudaError(told, None, f"Leave out --instantiate, or name an instance of {name}.")
    if not found:
        real = [e for e in unit.errors if not MISSING.match(e.message)]
        if real:
            raise (CudaError if _says_global(unit) else NoKernel)(real[0].message, real[0].loc)
        raise NoKernel(f"there is no kernel in '{request.path}'", None, "A kernel is a function marked __global__.")
    if name is None and len(names) > 1:
        raise CudaError(f"'{request.path}' has {len(names)} kernels: say which", None, f"{known} Use --kernel NAME.")
    wanted = [k for k in found if (name is None or _is_named(k, name)) and _meant(k, request)]
    if not wanted:
        if (lost := unseen(unit).get(name or "")) is not None:
            raise lost
        if others := [signed(k) for k in found if "(" in (name or "") and is_plain(k) and k.name == _last(name or "")]:
            names, known = others, f"There is {' and '.join(others)}."
        near = get_close_matches(name or "", names, 1)
        meant = f"Did you mean '{near[0]}'? " if near and len(names) > 1 else ""
        raise CudaError(f"there is no kernel '{name}' in '{request.path}'", None, f"{meant}{known}")
    if any(is_template(k) for k in wanted):
        wanted = [k for k in wanted if not k.template_arguments]  # without specialisations, which are instances
    if request.instantiate is not None and "<" in request.instantiate:
        wanted = [k for k in wanted if is_template(k)] or wanted
    paths = {qualified(k) for k in wanted}
    if len(wanted) > 1 and (len(paths) > 1 or not all(map(is_template, wanted))):
        by = "namespace" if len(paths) == len(wanted) else "parameters"
        example = qualified(wanted[0]) if len(paths) == len(wanted) else signed(next(filter(is_plain, wanted)))
        said = f"there are {len(wanted)} kernels called '{wanted[0].name}'"
        raise CudaError(said, wanted[1].loc, f"Say which by its {by}, such as --kernel '{example}'.")
    if is_template(wanted[0]):
        return _instance(unit, wanted[0], request, advise)
    if request.instantiate is not None and "<" in request.instantiate:
        raise CudaError(f"the kernel '{wanted[0].name}' is no template", wanted[0].loc, "Leave out --instantiate.")
    return wanted[0]


def _last(path: str) -> str:
    """The name of a kernel without namespaces, arguments of templates and parameters."""
    return plain(path).partition("(")[0].rpartition("::")[2]


def _is_named(kernel: Node, name: str) -> bool:
    """Whether a kernel may be called so: by its name, by that with its namespaces (`::k` outside of all), and with its
    parameters, too."""
    if "(" not in name:
        return name in (kernel.name, qualified(kernel), f"::{qualified(kernel)}")
    full = signed(kernel)
    meant = (full, full.removeprefix(qualified(kernel).removesuffix(kernel.name)))
    return is_plain(kernel) and name.replace(" ", "") in (text.replace(" ", "") for text in meant)


def _meant(kernel: Node, request: Request) -> bool:
    """Whether a kernel is in the namespace that is asked for."""
    path = plain(request.instantiate or "").removeprefix("::")
    return "::" not in path or f"::{qualified(kernel)}".endswith(f"::{path}")


def _instance(unit: Unit, template: Node, request: Request, advise: bool) -> Node:
    """The specialisation of a template that is asked for, or the only one that the file uses anywhere. Where the one
    asked for does not fit, to `advise` looks for one that does."""
    found, asked = instances(unit, template), request.instantiate
    if asked is not None:
        found = [k for k in found if is_called(k, asked)] or instances(unit, template, asked=True)
    if len(found) == 1:
        return found[0]
    if asked is not None and found:
        raise CudaError(f"there are {len(found)} instances called '{asked}'", found[1].loc, "Rename their arguments.")
    if asked is not None:
        line = unit.data.count(b"\n", 0, unit.data.rindex(INSTANCE.encode())) + 1
        said = next((e.message for e in unit.errors if e.loc and e.loc.line == line), "there is no such kernel")
        said = "the template takes other arguments" if INSTANCE in said else said
        example = _example(unit, template, found, request) if advise else ""
        advice = f"Write it as --instantiate '{example}'." if example else ""
        raise CudaError(f"cannot instantiate '{asked}': {said}", template.loc, advice)
    inside = (
        e for e in unit.errors if e.loc and (span := template.span)[0] == e.loc.file and span[1] <= e.offset < span[2]
    )
    if not found and (wrong := next(inside, None)):
        raise CudaError(wrong.message, wrong.loc)
    how = "several instances" if found else "no instance"
    example = _example(unit, template, found, request)
    raise CudaError(
        f"the kernel '{template.name}' is a template with {how} in this file",
        template.loc,
        f"Choose one, such as --instantiate '{example}'."
        if example
        else f"Choose one: --instantiate '{qualified(template)}<..>'.",
    )


def _example(unit: Unit, template: Node, found: Sequence[Node], request: Request) -> str:
    """An instance of a template that can be asked for; "" where none of a few is one."""
    if found:
        return told(found[0])
    own = replace(request, instantiate=None)
    tries = arguments(unit, template)
    lines = [f"static auto *{INSTANCE}_{i} = &{text};" for i, text in enumerate(tries)]
    kept = _kept(own, unit.data, lines)
    for line in kept[:_MOST_TRIED]:
        with suppress(CudaError):
            asked = replace(request, instantiate=tries[lines.index(line)])
            parsed = parse(asked)
            node = find(parsed, asked, None, advise=False)
            (file, start, end), last = node.span, parsed.unit.data.rindex(INSTANCE.encode())
            places = ((e.loc.file, e.offset) for e in parsed.unit.errors if e.loc is not None)
            if not any(at >= last - 20 or (f == file and start <= at <= end) for f, at in places):
                return asked.instantiate or ""
    return ""
