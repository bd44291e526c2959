"""Which kernels a file has to choose from, with the instances of those that are templates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from semantics.cuda.parse import STD, Request, in_its_language, parse
from semantics.cuda.templates import instances, is_plain, is_template, kernels, plain, qualified, signed, told
from semantics.cuda.unseen import unseen


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
        short = self.name.replace(" ", "")
        return frozenset(name for own in (short, full) for name in (own, plain(own), plain(own).partition("(")[0]))


def choices(path: str, includes: Sequence[str] = (), defines: Sequence[str] = (), std: str = STD) -> list[Choice]:
    """The kernels of a file in source order, of templates each instance that the file uses, in the order of the uses;
    one that it does not use with its default arguments, where it has them all; several of one name with the types of
    their parameters; in the end those that are lost by an error. Raises CudaError where the file can't be read."""
    unit = parse(in_its_language(Request(path, tuple(includes), tuple(defines), std))).unit
    found = kernels(unit)
    paths = list(dict.fromkeys(map(qualified, found)))
    chosen = list[Choice]()
    for full in paths:
        last = full.rpartition("::")[2]
        alone = sum(p.rpartition("::")[2] == last for p in paths) == 1
        own = [k for k in found if qualified(k) == full]
        template = next(filter(is_template, own), None)
        scope = full.removesuffix(last) if alone else ""
        plainly = [k for k in own if is_plain(k)] if len(own) > 1 else []
        chosen += [Choice(name.removeprefix(scope), name) for name in map(signed, plainly)]
        if template is None:
            chosen += [] if plainly else [Choice(full, f"::{full}") if not alone else Choice(last, full)]
            continue
        used = [*instances(unit, template), *(k for k in own if k.template_arguments)]
        names = list(dict.fromkeys(map(told, used)))
        chosen += [Choice(name.removeprefix(scope), None, name) for name in names]
        if not names:
            chosen.append(Choice(last if alone else full, full))
    lost = [name for name in unseen(unit) if name not in paths] if chosen else []
    return [*chosen, *(Choice(name, name) for name in lost)]
