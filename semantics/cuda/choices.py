"""The kernels that a file has to choose from, with the instances of those that are templates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from semantics.cuda.clang import Node
from semantics.cuda.parse import Request, instances, kernels, parse, qualified


@dataclass(frozen=True, slots=True)
class Choice:
    """A kernel, or an instance of one that is a template: its name, and how `read_cuda` is told of it. A template of
    which nothing tells an instance has none, and is refused when it is read, with the instances that can be asked
    for."""

    name: str
    kernel: str | None = None
    instantiate: str | None = None

    @property
    def names(self) -> frozenset[str]:
        """The names that it may be called by, without spaces."""
        full = (self.instantiate or self.kernel or "").replace(" ", "")
        return frozenset((self.name.replace(" ", ""), self.name.partition("<")[0], full, full.partition("<")[0]))


def choices(path: str, includes: Sequence[str] = (), defines: Sequence[str] = (), std: str = "c++14") -> list[Choice]:
    """The kernels of a file in source order, of templates each instance that the file uses, in the order of the uses;
    one that it does not use with its default arguments, where it has them all. Raises CudaError where the file can't
    be read."""
    request = Request(path, tuple(includes), tuple(defines), std)
    parsed = parse(request)
    found = kernels(parsed.unit)
    templates = {qualified(k) for k in found if k.kind == "FUNCTION_TEMPLATE"}
    paths = list(dict.fromkeys(qualified(k) for k in found))
    chosen = list[Choice]()
    for full in paths:
        short = full.rpartition("::")[2]
        name = short if sum(p.rpartition("::")[2] == short for p in paths) == 1 else full
        if full not in templates:
            chosen.append(Choice(name, full))
            continue
        own = [k for k in found if qualified(k) == full]
        template = next(k for k in own if k.kind == "FUNCTION_TEMPLATE")
        used = [*instances(parsed.unit, template), *(k for k in own if k.template_arguments)]
        told = list(dict.fromkeys(f"<{', '.join(k.template_arguments)}>" for k in used))
        if not told and _has_defaults(template):
            told = ["<>"]
        chosen += [Choice(f"{name}{each}", None, f"{full}{each}") for each in told if ".." not in each]
        if not told or any(".." in each for each in told):
            chosen.append(Choice(name, full))
    return chosen


def _has_defaults(template: Node) -> bool:
    """Whether each parameter of a template has a default argument."""
    own = [c for c in template.children if c.kind.startswith("TEMPLATE_") and c.kind.endswith("_PARAMETER")]
    return all("=" in {text for text, _ in c.tokens()} for c in own)
