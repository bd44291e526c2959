"""From a file to a kernel's syntax tree: options, errors, variable-length shared arrays, templates and launches."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from semantics.cuda.clang import ClangFailed, Node, Unit
from semantics.cuda.errors import CudaError
from semantics.cuda.places import is_shared
from semantics.cuda.shim import HEADERS, PATH, in_shim

OPTIONS: Final = (
    "-x", "cuda", "--cuda-gpu-arch=sm_60", "-nocudainc", "-nocudalib", "-nostdinc",
    "-nostdinc++", "-fsyntax-only", "-ferror-limit=0", "-Wno-everything",
    "-Xclang", "-fnative-half-arguments-and-returns", "-include", PATH,
)  # fmt: skip

_DEVICE: Final = ("--cuda-device-only",)
_HOST: Final = ("--cuda-host-only", "--target=x86_64-unknown-linux-gnu", "-U__CUDA_ARCH__", "-U__NVPTX__",
                "-U__PTX__", "-D__SIZEOF_FLOAT80__=16")  # fmt: skip
"""Macros that tell the two passes of a compiler over a file apart. Constants may differ between them. clang keeps
macros of the device in the host's pass, and leaves out one of the host's."""

MISSING: Final = re.compile(r"'(.*)' file not found")
INSTANCE: Final = "warpbound_instance"
_COMMENT: Final = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
_EXPLICIT: Final = re.compile(rb"(?:^|[;}])\s*template\s+__global__\s+void\s+([\w:]+\s*<[^;{}()]*>)\s*\(", re.MULTILINE)
_PRAGMA: Final = re.compile(
    rb"^[ \t]*#[ \t]*pragma[ \t]+(?:no)?unroll(?![\w$])(?:(?!/[/*]|\*/)(?:\\\r?\n|[^\r\n]))*", re.MULTILINE
)
"""Pragmas that say how to compile a loop, and nothing of what it does. clang takes it for an error where no loop
follows."""
_TEXT: Final = re.compile(rb"[^\r\n]")
_LONG: Final = 16_384
_LONG_RUN: Final = 1_500
_PROBE: Final = (
    "import sys, clang.cindex as c\n"
    "c.Index.create().parse(sys.argv[1], sys.argv[2:], [(sys.argv[1], sys.stdin.buffer.read())], 0x201)\n"
)


@dataclass(frozen=True, slots=True)
class Request:
    """A request: which file to read, and how; see `semantics.cuda.read_cuda`."""

    path: str
    includes: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    std: str = "c++14"
    instantiate: str | None = None
    shared_block: tuple[int | None, ...] | None = None
    host: bool = False
    """Whether it is parsed as for the host, not for the device."""

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
            *(_HOST if self.host else _DEVICE),
        ]


@dataclass(frozen=True, slots=True)
class Parsed:
    """A unit, the byte offsets of the shared arrays whose length was replaced by a stand-in, and the explicit
    instantiations of templates that the text has."""

    unit: Unit
    unknown_lengths: frozenset[int] = field(default_factory=frozenset)
    explicit: tuple[str, ...] = ()


def read_bytes(path: str) -> bytes:
    """The bytes of a file. Raises CudaError where it can't be read."""
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        reason = "no such file"
    except IsADirectoryError:
        reason = "it is a directory"
    except PermissionError:
        reason = "permission denied"
    except (OSError, ValueError) as e:
        reason = (getattr(e, "strerror", None) or str(e)).lower()
    raise CudaError(f"cannot read '{path}': {reason}", None)


def parse(request: Request) -> Parsed:
    """Parse a file, with the hidden reference that instantiates a template at its end."""
    data, explicit = _PRAGMA.sub(lambda m: _TEXT.sub(b" ", m[0]), read_bytes(request.path)), dict[str, None]()
    if request.instantiate is not None:
        if not re.fullmatch(r"[\w:<>(), *+\-]+", request.instantiate):
            raise CudaError(f"'{request.instantiate}' is no template instance", None, "Write it like 'k<float,256>'.")
        data += f"\nstatic auto *{INSTANCE} = &{_spelled(request, data)};\n".encode()
    else:  # libclang does not show `template __global__ void k<float>(float *);`
        text = _COMMENT.sub(b" ", data)
        explicit = dict.fromkeys(
            m[1].decode("latin-1") for m in _EXPLICIT.finditer(text) if not _conditional(text[: m.end()])
        )
        for i, instance in enumerate(explicit):
            data += f"\nstatic auto *{INSTANCE}_{i} = &{instance};\n".encode("latin-1")
    unit = _unit(request, data)
    if request.shared_block is not None:
        unit = _again(request, unit, _with_block(unit, request.shared_block))
    data, unknown = _with_ones(unit)
    return Parsed(_again(request, unit, data), unknown, tuple(explicit))


def parsed_for_host(request: Request, data: bytes) -> Unit | None:
    """A file's text parsed as for the host, whose pass reads the launches; None where that fails."""
    try:
        return _unit(replace(request, host=True), data)
    except CudaError:
        return None


def _conditional(before: bytes) -> bool:
    """Whether what follows is between #if and #endif."""
    return len(re.findall(rb"^[ \t]*#[ \t]*if", before, re.MULTILINE)) > len(
        re.findall(rb"^[ \t]*#[ \t]*endif", before, re.MULTILINE)
    )


def _again(request: Request, unit: Unit, data: bytes) -> Unit:
    return unit if data == unit.data else _unit(request, data)


def _unit(request: Request, data: bytes) -> Unit:
    _probe(request, data)
    try:
        unit = Unit(request.path, data, request.args)
    except (ClangFailed, UnicodeError) as e:
        raise CudaError(f"clang cannot parse '{request.path}'", None, "Check -I, -D and --std.") from e
    for error in unit.errors:
        if error.loc is None:
            raise CudaError(f"clang says: {error.message}", None, "Check -I, -D and --std.")
    return unit


def _probe(request: Request, data: bytes) -> None:
    """Let another process parse a suspicious file first: clang's recursion is only bounded by the stack."""
    run = max((len(part) for part in re.split(rb"[;{}]", data)), default=0)
    if len(data) < _LONG and run < _LONG_RUN:
        return
    name = f"./{request.path}" if request.path.startswith("-") else request.path
    command = [sys.executable, "-c", _PROBE, name, *request.args]
    done = subprocess.run(command, input=data, capture_output=True, check=False)  # noqa: S603 - our own interpreter
    if done.returncode < 0:
        raise CudaError(f"'{request.path}' is nested too deeply for clang", None, "Split up its largest expression.")


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
    """Where the variable lengths of an array are written, as byte offsets."""
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


def functions(unit: Unit) -> Iterator[Node]:
    """The functions and function templates with a body, outside of the shim, in source order."""
    stack = list(reversed(unit.root().children))
    while stack:
        node = stack.pop()
        if node.kind in ("NAMESPACE", "LINKAGE_SPEC", "UNEXPOSED_DECL"):
            stack.extend(reversed(node.children))
        elif node.kind in ("FUNCTION_DECL", "FUNCTION_TEMPLATE") and node.is_definition and not in_shim(node):
            yield node


def is_kernel(node: Node) -> bool:
    return any(c.kind == "CUDAGLOBAL_ATTR" for c in node.children)


def kernels(unit: Unit) -> list[Node]:
    return [f for f in functions(unit) if is_kernel(f)]


def qualified(kernel: Node) -> str:
    """A kernel's name with those of the namespaces around it, as far as they have one."""
    names, here = [kernel.name], kernel.parent
    while here is not None and here.kind in ("NAMESPACE", "LINKAGE_SPEC"):
        if here.kind == "NAMESPACE" and here.name and "(" not in here.name:
            names.append(here.name)
        here = here.parent
    return "::".join(reversed(names))


def _spelled(request: Request, data: bytes) -> str:
    """The instance that is asked for, in the namespace of the only kernel that has its name, where it says none."""
    asked = request.instantiate or ""
    name, angle, arguments = asked.partition("<")
    if "::" in name or b"namespace" not in data:
        return asked
    found = {qualified(k) for k in kernels(_unit(request, data)) if k.name == name.strip()}
    return f"{found.pop()}{angle}{arguments}" if len(found) == 1 else asked


def _meant(kernel: Node, request: Request) -> bool:
    """Whether a kernel is in the namespace that is asked for."""
    path = (request.instantiate or "").partition("<")[0].strip().removeprefix("::")
    return "::" not in path or f"::{qualified(kernel)}".endswith(f"::{path}")


def find(parsed: Parsed, request: Request, name: str | None) -> Node:
    """The kernel that is meant, its template arguments filled in."""
    unit = parsed.unit
    found = kernels(unit)
    names = list(dict.fromkeys(k.name for k in found))
    if name is None and request.instantiate is not None:
        name = request.instantiate.split("<")[0].split("::")[-1].strip()
    known = f"There are {', '.join(names)}." if len(names) > 1 else f"There is {names[0]}." if names else ""
    if not found:
        real = [e for e in unit.errors if not MISSING.match(e.message)]
        if real:
            raise CudaError(real[0].message, real[0].loc)
        raise CudaError(f"there is no kernel in '{request.path}'", None, "A kernel is a function marked __global__.")
    if name is None and len(names) > 1:
        raise CudaError(f"'{request.path}' has {len(names)} kernels: say which", None, f"{known} Use --kernel NAME.")
    wanted = [k for k in found if name in (None, k.name, qualified(k)) and _meant(k, request)]
    if not wanted:
        raise CudaError(f"there is no kernel '{name}' in '{request.path}'", None, known)
    if any(k.kind == "FUNCTION_TEMPLATE" for k in wanted):
        wanted = [k for k in wanted if not k.template_arguments]  # without specialisations, which are instances
    if len(wanted) > 1:
        raise CudaError(f"there are {len(wanted)} kernels called '{wanted[0].name}'", wanted[1].loc, "Rename one.")
    if wanted[0].kind == "FUNCTION_TEMPLATE":
        return _instance(unit, wanted[0], request)
    if request.instantiate is not None:
        raise CudaError(f"the kernel '{wanted[0].name}' is no template", wanted[0].loc, "Leave out --instantiate.")
    return wanted[0]


def _instance(unit: Unit, template: Node, request: Request) -> Node:
    """The specialisation of a template that is asked for, or the only one that the file uses anywhere."""
    found = instances(unit, template, request.instantiate is not None)
    if len(found) == 1:
        return found[0]
    if request.instantiate is not None:
        line = unit.data.count(b"\n", 0, unit.data.rindex(INSTANCE.encode())) + 1
        said = next((e.message for e in unit.errors if e.loc and e.loc.line == line), "there is no such kernel")
        raise CudaError(f"cannot instantiate '{request.instantiate}': {said}", template.loc)
    how = "several instances" if found else "no instance"
    example = _example(template, found, request)
    raise CudaError(
        f"the kernel '{template.name}' is a template with {how} in this file",
        template.loc,
        f"Choose one, such as --instantiate '{example}'."
        if example
        else f"Choose one: --instantiate '{qualified(template)}<..>'.",
    )


def instances(unit: Unit, template: Node, asked: bool = False) -> list[Node]:
    """The specialisations of a template that the file uses anywhere, or with `asked` those that are asked for, in the
    order of their uses. Templates that it does not use make none."""
    found: dict[int, Node] = {}
    seen = set[int]()
    todo = deque(n for n in unit.root().children if not asked or n.name == INSTANCE)
    while todo:
        for node in todo.popleft().walk():
            used = node.referenced if node.kind in ("DECL_REF_EXPR", "MEMBER_REF_EXPR", "CALL_EXPR") else None
            body = used.definition if used is not None and used.kind in _CALLED else None
            if body is None or in_shim(body) or body.identity in seen:
                continue
            seen.add(body.identity)
            if body.name == template.name and is_kernel(body) and qualified(body) == qualified(template):
                found[body.identity] = body
            elif not asked:  # of a template, clang shows what an instance does only where it is used
                todo.append(body)
    return list(found.values())


_CALLED: Final = ("FUNCTION_DECL", "CXX_METHOD", "CONSTRUCTOR", "DESTRUCTOR", "CONVERSION_FUNCTION")


def _example(template: Node, instances: Sequence[Node], request: Request) -> str:
    """An instance of a template that can be asked for; "" where none of a few is one."""
    name = qualified(template)
    used = [k.template_arguments for k in instances if ".." not in k.template_arguments]
    tries = [f"{name}<{','.join(a)}>" for a in used[:1]] or [f"{name}<{','.join(a)}>" for a in _arguments(template)]
    for instance in dict.fromkeys(tries):
        with suppress(CudaError):
            asked = replace(request, instantiate=instance)
            parsed = parse(asked)
            node = find(parsed, asked, None)
            (file, start, end), last = node.span, parsed.unit.data.rindex(INSTANCE.encode())
            places = ((e.loc.file, e.offset) for e in parsed.unit.errors if e.loc is not None)
            if not any(at >= last - 20 or (f == file and start <= at <= end) for f, at in places):
                return instance
    return ""


def _arguments(template: Node) -> list[list[str]]:
    """Arguments for a template to try: types, and numbers."""
    return [
        [
            type_ if node.kind == "TEMPLATE_TYPE_PARAMETER" else ("true" if node.type.name == "bool" else number)
            for node in template.children
            if node.kind in ("TEMPLATE_TYPE_PARAMETER", "TEMPLATE_NON_TYPE_PARAMETER")
        ]
        for type_ in ("float", "int", "double")
        for number in ("256", "32", "16", "1", "0")
    ]
