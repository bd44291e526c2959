"""Launches `k<<<grid, block>>>(..)` in host code: their sizes, as far as they are constants. Those of `<<<n, m>>>` with
integers are 1 in y and in z."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from semantics.cuda.clang import UNITS, Node, Unit
from semantics.cuda.macros import FIRST_ARGUMENT, pastes
from semantics.cuda.mentions import (
    Token,
    assignment,
    enclosed,
    given,
    jumps,
    loads,
    mentions,
    names,
    passes,
    reads,
    settled,
)
from semantics.cuda.scan import automatic
from semantics.cuda.shapes import CASTS
from semantics.cuda.shim import in_shim, own_files, own_nodes
from semantics.cuda.templates import INSTANCE, called, functions, is_kernel, is_plain, signed

Extent = tuple[int | None, int | None, int | None]
"""Sizes in x, y and z; None for one that is no constant."""
_ASKING: Final = (
    "cudaFuncSetAttribute", "cudaFuncSetCacheConfig", "cudaFuncSetSharedMemConfig", "cudaFuncGetAttributes",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor", "cudaOccupancyMaxPotentialBlockSize",
)  # fmt: skip
"""Functions that take a kernel and do not launch it."""

_CONFIGURING: Final = ("cudaConfigureCall", "__cudaPushCallConfiguration")
"""The functions that `<<<..>>>` calls, as clang has it: in the device's pass, and in the host's."""

_CALLING: Final = ("cudaLaunchKernel", "cudaLaunchCooperativeKernel")
"""Functions that are passed a kernel, its grid and its block."""

_WITH_CONFIG: Final = ("cudaLaunchKernelEx", "cudaLaunchKernelExC")
"""Functions that are passed a structure with a grid and a block, and a kernel."""

_WORDS: Final = (b"<<<", *map(str.encode, (*_CONFIGURING, *_CALLING, *_WITH_CONFIG)))
"""One of these is in a text that launches something."""

_LIBRARIES: Final = ("std", "thrust", "cub")


Host = Callable[[], Unit | None]
"""Parses the file as for the host, when it is asked for; None where that fails."""


def sizes_of(unit: Unit, host: Host, kernel: Node) -> tuple[Extent | None, Extent | None]:
    """The grid and the block that the launches of a kernel in its file agree on, as it is parsed for the device, which
    the unit is, and for the host: constants may differ. None without a launch, or where one is unclear or may be
    missing. Launches of other instances of a template, and of other kernels of its name, are none of its own."""
    found = _sizes_in(unit, kernel)
    on_host = host() if any(found) else None
    grid, block = _sizes_in(on_host, kernel) if on_host is not None else (None, None)
    return (found[0] if found[0] == grid else None), (found[1] if found[1] == block else None)


def sized(unit: Unit, host: Host, kernel: Node) -> dict[tuple[str, int], tuple[Extent | None, Extent | None]]:
    """The grid and the block of each launch of a kernel, or of this instance of a template, that its file shows, by
    places in the order of the text. None for a size that is no constant, or another one for the host."""
    found = _pairs(unit, kernel)
    if not any(size for pair in found.values() for size in pair):
        return {}
    on_host = host()
    theirs = _pairs(on_host, kernel) if on_host is not None else {}
    return {
        place: (grid if grid == other[0] else None, block if block == other[1] else None)
        for place, (grid, block) in found.items()
        if (other := theirs.get(place))
    }


def _pairs(unit: Unit, kernel: Node) -> dict[tuple[str, int], tuple[Extent | None, Extent | None]]:
    """The grid and the block of launches by their places."""
    found: dict[tuple[str, int], tuple[Extent | None, Extent | None]] = {}
    for launch in launches_of(unit, kernel):
        config, host = launch.config, launch.host
        if host is not None and len(launch.sizes) > 1:
            sizes = tuple(_dim3(given, host, config.offset) for given in launch.sizes)
            others = found.get(config.written, sizes)
            grid, block = (own if own == other else None for own, other in zip(sizes, others, strict=True))
            found[config.written] = grid, block
    return found


def launches_of(unit: Unit, kernel: Node) -> list[Launch]:
    """The launches of a kernel, or of this instance of a template, that clang has in its tree."""
    return [
        launch
        for launch in _launches(unit)
        if launch.name == kernel.name
        and not launch.pattern
        and (callee := launch.callee) is not None
        and callee.template_arguments == kernel.template_arguments
        and not _of_another(launch, kernel)
    ]


def _sizes_in(unit: Unit, kernel: Node) -> tuple[Extent | None, Extent | None]:
    own = every(unit, kernel)
    return (_agreed(own, 0), _agreed(own, 1)) if own else (None, None)


def every(unit: Unit, kernel: Node) -> list[Launch] | None:
    """All launches of a kernel, or of this instance of a template; None where one may be missing, and where one is of
    what may be this kernel."""
    launches = _launches(unit)
    if not launches or not _complete(unit, kernel.name, launches):
        return None
    found = []
    for launch in launches:
        if launch.pattern or _of_another(launch, kernel):
            continue
        callee = launch.callee
        if callee is not None and callee.kind in ("VAR_DECL", "PARM_DECL"):
            continue  # what it has is named elsewhere in the text (`_complete`)
        if callee is not None and callee.kind in ("FUNCTION_DECL", "FUNCTION_TEMPLATE", "CXX_METHOD"):
            name = launch.name
        elif not (name := _overloaded(launch)):
            return None
        if name == kernel.name:  # else it is of another one, whatever its arguments are
            found.append(launch)
    return found


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch, or the name of what a function launches, the call that has its sizes, and the function that it is in,
    or the instance of it."""

    node: Node
    config: Node
    host: Node | None = None
    meant: Node | None = None
    """The name of the kernel, where a variable has it: `auto f = k<8>; f<<<..>>>(..)`."""
    pattern: bool = False
    """Whether it is a template's, of which there are instances."""

    @property
    def call(self) -> Node:
        """The expression that launches."""
        return self.node if self.node.kind == "CALL_EXPR" else self.config

    @property
    def name(self) -> str:
        """The name of the kernel, or of what leads to it."""
        return (self.meant or self.node).name

    @property
    def callee(self) -> Node | None:
        """The declaration of that."""
        return (self.meant or self.node).referenced

    @property
    def named(self) -> Node:
        """The expression that says what is launched."""
        return self.node.children[0] if self.node.kind == "CALL_EXPR" else self.node

    @property
    def sizes(self) -> tuple[Node, ...]:
        """The grid and the block."""
        if self.config.name in _WITH_CONFIG:
            return _configured(self.config, self.host) if self.host is not None else ()
        first = 0 if self.node.kind == "CALL_EXPR" else 1
        return tuple(self.config.arguments[first : first + 2])


def _overloaded(launch: Launch) -> str:
    """The name of the template that is launched where only an instance says which one it is; else ""."""
    callee = launch.named
    found = [n.name for n in callee.children if n.kind == "OVERLOADED_DECL_REF"]
    return found[0] if callee.kind == "DECL_REF_EXPR" and len(found) == 1 else ""


@lru_cache(maxsize=UNITS)
def _launches(unit: Unit) -> tuple[Launch, ...]:
    texts = [*map(unit.text, own_files(unit)), *map(str.encode, unit.defines)]
    if not any(word in text for text in texts for word in _WORDS):
        return ()
    hosts = [f for f in functions(unit, members=True) if not is_kernel(f)]
    plain = {node.span: host for host in hosts for node in host.walk() if node.kind == "CALL_EXPR"}
    patterns = {(host.span[0], host.span[2]): host for host in hosts}  # it begins with `template`
    made = dict[tuple[str, int], list[Launch]]()
    for body in called(unit):
        pattern = patterns.get((body.span[0], body.span[2]))
        instance = body if pattern is not None and pattern.identity != body.identity else None
        if host := instance or _around_lambda(body, hosts):
            for launch in _among(body.walk()):
                made.setdefault(launch.config.written, []).append(replace(launch, host=host))
    found = []
    for launch in _among(own_nodes(unit)):
        ours = made.pop(launch.config.written, [])
        found += [replace(launch, host=plain.get(launch.call.span), pattern=bool(ours)), *ours]
    found += (launch for ours in made.values() for launch in ours)  # without a meaning in the template
    return tuple(replace(launch, meant=_meant(launch)) for launch in found)


def _around_lambda(body: Node, hosts: Sequence[Node]) -> Node | None:
    """The function around a lambda of which this is the body, or an instance of it; None in a template, whose own
    instances have it."""
    file, start, end = body.span
    around = (h for h in hosts if h.span[0] == file and h.span[1] <= start <= end <= h.span[2])
    host = next(around, None) if body.name == "operator()" else None
    return host if host is not None and host.kind != "FUNCTION_TEMPLATE" else None


def _among(nodes: Iterable[Node]) -> Iterator[Launch]:
    """The launches among some nodes, in no host yet: first those that are written `<<<..>>>`."""
    calls = [node for node in nodes if node.kind == "CALL_EXPR"]
    for node in calls:
        configs = (child for child in node.children if child.kind == "CALL_EXPR" and child.name in _CONFIGURING)
        yield from (Launch(node, child) for child in configs)
    for node in calls:
        at = int(node.name in _WITH_CONFIG)
        taken = node.name in _CALLING or at
        if taken and len(node.arguments) > 2 - at and (named := _kernel_in(node.arguments[at])) is not None:
            yield Launch(named, node)


def _meant(launch: Launch) -> Node | None:
    """The name of a kernel that a variable has, by which it is launched; None where it may have another."""
    decl, host = launch.node.referenced, launch.host
    if decl is None or host is None or decl.kind != "VAR_DECL" or decl.initialiser is None or not automatic(decl, host):
        return None
    kernel = _kernel_in(decl.initialiser)
    if kernel is None or kernel.referenced is None or not is_kernel(kernel.referenced):
        return None
    found = mentions(decl, host)
    return kernel if found is not None and all(map(passes, found)) else None


def _configured(call: Node, host: Node) -> tuple[Node, ...]:
    """The grid and the block in the structure that a launch is passed the address of: each from the variable's list,
    or assigned to its field once. Nothing where it may be changed otherwise."""
    config = call.arguments[0]
    while config.kind in ("UNEXPOSED_EXPR", "PAREN_EXPR", "UNARY_OPERATOR") and len(config.children) == 1:
        (config,) = config.children
    decl = config.referenced if config.kind == "DECL_REF_EXPR" else None
    found = mentions(decl, host) if decl is not None and automatic(decl, host) else None
    if decl is None or found is None or decl.type.name != "cudaLaunchConfig_t" or jumps(host):
        return ()
    listed = decl.initialiser if decl.initialiser is not None and decl.initialiser.kind == "INIT_LIST_EXPR" else None
    plain = all(c.kind != "UNEXPOSED_EXPR" or c.name in ("", "dim3") for c in listed.children) if listed else False
    sizes = dict(zip(("gridDim", "blockDim"), listed.children if listed is not None and plain else (), strict=False))
    assigned = set[str]()
    for mention in found:
        outer = [n for n in mention.around if n.kind not in ("PAREN_EXPR", "UNEXPOSED_EXPR")]
        if outer[0].kind == "UNARY_OPERATOR" and outer[0].operator == "&" and outer[1].name in _WITH_CONFIG:
            continue
        if outer[0].kind != "MEMBER_REF_EXPR":
            return ()
        if (field := outer[0].name) in ("gridDim", "blockDim"):
            value = given(mention, host)
            if value is None or field in assigned or mention.node.offset > call.offset:
                return ()
            assigned.add(field)
            sizes[field] = value
    return (sizes["gridDim"], sizes["blockDim"]) if len(sizes) == 2 else ()


def _kernel_in(node: Node) -> Node | None:
    """The name of the kernel that an argument is the address of: `(void *)k`, `&k<float>`."""
    while len(parts := [c for c in node.children if not c.kind.endswith("_REF")]) == 1 and node.kind != "DECL_REF_EXPR":
        if node.kind not in (*CASTS, "CXX_REINTERPRET_CAST_EXPR", "PAREN_EXPR", "UNARY_OPERATOR"):
            return None
        (node,) = parts
    return node if node.kind == "DECL_REF_EXPR" else None


def _of_another(launch: Launch, kernel: Node) -> bool:
    """Whether a launch is for certain of another instance of a template, or of a kernel with other parameters."""
    callee = launch.callee
    if callee is None or callee.kind != "FUNCTION_DECL" or launch.name != kernel.name:
        return False
    given, instance, body = callee.template_arguments, kernel.template_arguments, callee.definition
    if given and (instance or is_plain(kernel)):
        return given != instance
    return body is not None and is_plain(body) and not (is_plain(kernel) and signed(body) == signed(kernel))


def _agreed(launches: Sequence[Launch], position: int) -> Extent | None:
    sizes = {_given_at(launch, position) for launch in launches}
    by_axis = zip(*(own for own in sizes if own), strict=True) if None not in sizes else ()
    agreed = [own[0] if len({*own}) == 1 else None for own in by_axis]
    return _known(*agreed) if agreed else None


def _known(x: int | None, y: int | None, z: int | None) -> Extent | None:
    """The sizes, if one at least is known."""
    return None if x is y is z is None else (x, y, z)


def _given_at(launch: Launch, position: int) -> Extent | None:
    """The grid of a launch, at 0, or its block, at 1, as far as it is constant."""
    given = launch.sizes[position] if len(launch.sizes) > 1 else None
    return _dim3(given, launch.host, launch.config.offset) if given is not None and launch.host is not None else None


# --- launches that clang left out ------------------------------------------------------------------------------------


def _complete(unit: Unit, kernel: str, launches: Sequence[Launch]) -> bool:
    """Whether the launches are all that the text has of a kernel: clang leaves out those whose arguments it cannot
    resolve. Nor may anything else in the text get the kernel."""
    found = {launch.config.written for launch in launches}
    times = Counter(name for name, _, _ in unit.inclusions)
    if any(n > 1 and b"<<<" in unit.text(name) for name, n in times.items()):
        return False  # one place in a file is several launches
    callees = {n.written for launch in launches for n in launch.named.walk() if n.kind == "DECL_REF_EXPR"}
    callees |= {launch.meant.written for launch in launches if launch.meant is not None}
    others = {f.name for f in functions(unit) if is_kernel(f)} - {kernel}
    same = _other_uses(unit).get(kernel, set()) | callees
    macros = unit.macros.saying(lambda text: b"<<<" in text or names(text, kernel))
    twice = {m for m in macros if _count(unit.macros.texts[m], macros - {m}) > 1}
    pasting = unit.macros.saying(pastes)
    named = re.compile(rb'"(?:%b|_Z\w*%b\w*)"' % (kernel.encode(), kernel.encode()))  # as drivers launch it
    for file in own_files(unit):
        if named.search(_without_dispatches(unit, unit.text(file))):
            return False
        tokens = unit.code(file)
        if any(
            word in pasting and not {"<", "<<"}.isdisjoint(enclosed(tokens, i)) for i, (word, _) in enumerate(tokens)
        ):
            return False
        for i, (word, at) in enumerate(tokens):
            place = (file, at)
            if word == "<<<" and place not in found and (i == 0 or tokens[i - 1][0] not in others):
                return False
            if word in macros and (word in twice or place not in found | callees):
                return False
            if word == kernel and place not in same and not _idle(tokens, i):
                return False
    return True


_DISPATCHED: Final = re.compile(rf'\b(AT_DISPATCH_\w+|[A-Z0-9_]*DISPATCH[A-Z0-9_]*)\s*{FIRST_ARGUMENT}"\w+"'.encode())
"""A macro that dispatches over types, up to the name that it says where it fails."""


def _without_dispatches(unit: Unit, text: bytes) -> bytes:
    """A text without the names that PyTorch's macros are passed, or those that are taken for such."""
    own = {d.name for d in unit.macros.own if d.file in own_files(unit)}

    def kept(m: re.Match[bytes]) -> bytes:
        name = m[1].decode()
        chosen = name not in unit.macros.chosen or b"AT_DISPATCH" in unit.macros.texts[name]
        return b"" if name in unit.macros.texts and name not in own and chosen else m[0]

    return _DISPATCHED.sub(kept, text)


@lru_cache(maxsize=UNITS)
def _other_uses(unit: Unit) -> dict[str, set[tuple[str, int]]]:
    """For each name, where it declares something, or is that of a variable, a parameter or the like."""
    found = dict[str, set[tuple[str, int]]]()
    for node in own_nodes(unit):
        used = node.referenced if node.kind in ("DECL_REF_EXPR", "MEMBER_REF_EXPR") else None
        other = used is not None and used.kind in ("VAR_DECL", "PARM_DECL", "FIELD_DECL", "ENUM_CONSTANT_DECL")
        if other or node.kind.endswith("_DECL") or node.kind == "FUNCTION_TEMPLATE":
            found.setdefault(node.name, set()).add(node.written)
    return found


def _count(text: bytes, macros: frozenset[str]) -> int:
    """The number of launches that a macro may have: those in its text, and the macros in it that may have one."""
    return text.count(b"<<<") + sum(names(text, macro) for macro in macros)


def _idle(tokens: list[Token], at: int) -> bool:
    """Whether the text around a kernel's name says that it launches nothing, whatever it refers to."""
    qualifier, before = (tokens[i][0] if i >= 0 else "" for i in (at - 2, at - 1))
    if before in ("void", ".", "->") or (before == "::" and qualifier in _LIBRARIES):
        return True
    depth = 0
    for i in range(at - 1, -1, -1):
        word = tokens[i][0]
        if word in (";", "{", "}"):
            return False
        if word.startswith(INSTANCE):
            return True
        depth += {"(": -1, ")": 1}.get(word, 0)
        if depth < 0:
            depth = 0
            if tokens[i - 1][0] in _ASKING:
                return True
    return False


# --- sizes -----------------------------------------------------------------------------------------------------------


def _dim3(node: Node, host: Node, at: int) -> Extent | None:
    """The value of an expression of type dim3 at a place, as far as it is constant, following a variable to its
    initialiser and assignments."""
    if (inner := copied(node)) is None:
        return None
    node = inner
    if node.kind == "DECL_REF_EXPR" and node.type.kind != "int":
        decl = node.referenced
        own = decl is not None and decl.type.name == "dim3" and automatic(decl, host)
        return _variable(decl, host, at) if decl is not None and own else None
    if node.type.kind == "int":  # as in templates, and as functions are passed it
        return _made([node], host)
    made = node.referenced if node.kind == "CALL_EXPR" and len(node.arguments) == 3 else None
    if made is not None and constructs(made):
        return _made(node.arguments, host)
    return None


def copied(node: Node) -> Node | None:
    """The expression that one of type dim3 is a copy of, or the number that it is made of; None where it is not
    known."""
    while node.kind in _WRAPPERS or (node.kind == "CALL_EXPR" and len(node.arguments) == 1):
        callee = node.referenced if node.kind == "CALL_EXPR" else None
        inner = [c for c in node.children if c.kind != "TYPE_REF"] if callee is None else node.arguments
        if len(inner) != 1 or (callee is not None and not constructs(callee)):
            return None
        (node,) = inner
    return node


def _made(given: Sequence[Node], host: Node) -> Extent | None:
    """The sizes that a dim3 is made of, where each is known or surely an integer, and one at least is known."""
    sizes = [_positive(a, host) or None for a in given]
    if not all(size or settled(a, host, typed=True) for size, a in zip(sizes, given, strict=True)):
        return None
    return _known(*sizes, *[1] * (3 - len(sizes)))


def constructs(callee: Node) -> bool:
    """Whether this makes a dim3, not something derived from it."""
    return callee.kind == "CONSTRUCTOR" and callee.name == "dim3" and in_shim(callee)


_WRAPPERS: Final = ("UNEXPOSED_EXPR", "PAREN_EXPR", "CXX_FUNCTIONAL_CAST_EXPR")


def _positive(node: Node, host: Node) -> int:
    """The value of a constant above 0, or of a variable that is declared as one and never changed; else 0."""
    return max(number(node, host) or 0, 0)


def number(node: Node, host: Node) -> int | None:
    """The value of a constant, or of a variable that is declared as one and never changed; else None."""
    value = node.evaluate()
    if isinstance(value, int):
        return value if settled(node, host) else None
    while node.kind in ("UNEXPOSED_EXPR", "PAREN_EXPR") and len(node.children) == 1:
        (node,) = node.children
    decl = node.referenced if node.kind == "DECL_REF_EXPR" else None
    first = _first(decl) if decl is not None and decl.kind == "VAR_DECL" and automatic(decl, host) else None
    if decl is None or first is None or decl.type.kind != "int" or decl.type.size < 4 or decl.type.volatile:
        return None
    start = number(first, host)
    if start is None or not -(1 << 31) * decl.type.signed <= start < 1 << 31:
        return None
    return start if (found := mentions(decl, host)) is not None and all(map(loads, found)) else None


def _first(decl: Node) -> Node | None:
    """The initialiser of a variable, unless it names the variable itself, as in `int n = n`."""
    first = decl.initialiser
    names_ = (n.referenced for n in first.walk() if n.kind == "DECL_REF_EXPR") if first is not None else ()
    return None if any(n is not None and n.identity == decl.identity for n in names_) else first


def _variable(decl: Node, host: Node, at: int) -> Extent | None:
    """The value of a dim3 variable that is only changed by `b.x = value`, once a field, before a place, as far as it is
    constant."""
    start = _dim3(first, host, decl.offset) if (first := _first(decl)) is not None else None
    found = mentions(decl, host) if start is not None else None
    if start is None or found is None:
        return None
    sizes = dict(zip("xyz", start, strict=True))
    seen: set[str] = set()
    for mention in sorted(found, key=lambda mention: mention.node.offset):
        if reads(mention):
            continue
        if (whole := given(mention, host)) is not None and not seen and mention.node.offset < at and not jumps(host):
            if (new := _dim3(whole, host, mention.node.offset)) is None:
                return None
            seen.add("")
            sizes = dict(zip("xyz", new, strict=True))
            continue
        field, value = assignment(mention, host) or ("", None)
        if value is None or mention.node.offset > at or field not in sizes or field in seen or jumps(host):
            return None
        seen.add(field)
        sizes[field] = _positive(value, host) or None
    return _known(sizes["x"], sizes["y"], sizes["z"])
