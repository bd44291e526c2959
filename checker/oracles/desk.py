"""Where queries to solvers are made, and what is asked before: which answers are known, and stores that refuted
something, which are tried first. Most guesses that are wrong are wrong in a store that is known.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf
from time import perf_counter
from typing import Final

from checker.oracles import second
from checker.oracles.samples import Sampler, Store
from logic.assertions import Refuted
from logic.operators import Value

MAX_EXAMPLES: Final = 48
"""Stores that refuted something, which are kept for what is asked next."""
MAX_DRAWN: Final = 64
"""The most samplers whose stores are kept, some 100 kB each."""
HOPELESS: Final = 32
"""Stores after which no more are drawn for facts that held at none of them."""

KNOWN: Final = "examples"
"""The engine that refutes by a store that refuted something else before."""

Real = Callable[[Mapping[str, Value]], bool]
"""Whether a store refutes a claim, computed exactly. Raises KeyError where that cannot be computed."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The solver's answer on a conjunction (`unsat`, `sat`, `unknown`), with values for the leaves where `sat`."""

    said: str
    store: dict[str, Value]
    text: str


@dataclass(frozen=True, slots=True)
class Query:
    """A question to one engine, as it was asked: SMT-LIB text, the engine with its version, its answer, and seconds.

    `digest` is the SHA-256 of the text; `cached` says that the engine had answered the same text before.
    """

    text: str
    digest: str
    engine: str
    said: str
    seconds: float
    limit: float
    cached: bool = False


@dataclass(slots=True)
class Patience:
    """The seconds that are left for all queries together."""

    left: float = inf


@dataclass(slots=True)
class Drawn:
    """Stores that a sampler gives: those at which its facts hold so far, what draws more, and how many were drawn.

    `examples` are the fitting stores that were made of a desk's examples, by the examples' ids. Samplers that give the
    same stores share them, and what the first of them has found out.
    """

    sampler: Sampler
    more: Iterator[Store]
    stores: list[Store] = field(default_factory=list)
    tried: int = 0
    examples: dict[int, Made] = field(default_factory=dict)


@dataclass(slots=True)
class Made:
    """The fitting stores that were made of an example so far, and what may be `refitted` to one more, None once it was.
    It keeps its example alive, so that its id stays its own."""

    example: Store
    stores: list[Store]
    refitted: Store | None


@dataclass(slots=True)
class Desk:
    """Where queries are made: how many seconds each may take, and all together, those made so far, and the answers by
    digest and engine.

    An answer is taken up again only for the same text, the same engine and at least the time that it was given.
    `examples` are stores that refuted something: most guesses that are wrong are wrong in a store that is known.
    """

    limit: float = 2.0
    asked: list[Query] = field(default_factory=list)
    answers: dict[tuple[str, str], tuple[float, Answer]] = field(default_factory=dict)
    examples: list[dict[str, Value]] = field(default_factory=list)
    patience: Patience = field(default_factory=Patience)
    drawn: dict[Hashable, Drawn] = field(default_factory=dict)
    """Stores drawn of late, and what draws more of them, by what they are drawn for."""

    def known(self, sampler: Sampler, real: Real, most: float = inf) -> Refuted | None:
        """Refuted where an example does it, or one of so many that are drawn."""
        drawn = self._drawn(sampler)
        for i in reversed(range(len(self.examples))):
            for store in self._fitting(drawn, self.examples[i]):
                if known := refuted(store, real):
                    self.examples.append(self.examples.pop(i))
                    return known
        for store in self.draws(sampler, most):
            if known := refuted(store, real):
                self.learn(store)
                return known
        return None

    def fitting(self, sampler: Sampler, most: float = inf) -> Iterator[Store]:
        """Stores at which the sampler's facts hold: of the examples, the latest first, and of so many that it draws."""
        drawn = self._drawn(sampler)
        for example in reversed(self.examples):
            yield from self._fitting(drawn, example)
        yield from self.draws(sampler, most)

    def draws(self, sampler: Sampler, most: float = inf) -> Iterator[Store]:
        """Stores at which the sampler's facts hold, of so many drawn; equal facts and names give equal stores."""
        drawn = self._drawn(sampler)
        yield from drawn.stores
        while drawn.tried < most and (store := next(drawn.more, None)) is not None:
            drawn.tried += 1
            if drawn.sampler.fits(store):
                drawn.stores.append(store)
                yield store
            elif not drawn.stores and drawn.tried >= HOPELESS:
                drawn.more = iter(())
                return

    @staticmethod
    def _fitting(drawn: Drawn, example: Store) -> Iterator[Store]:
        """The example's values for the sampler's names, as they are and with what is defined computed from the rest,
        where the sampler's facts hold."""
        sampler, made = drawn.sampler, drawn.examples.get(id(example))
        if made is None:
            store = sampler.taken(example)
            made = drawn.examples[id(example)] = Made(example, [store] if sampler.fits(store) else [], store)
        yield from made.stores
        left, made.refitted = made.refitted, None
        if left is not None and (other := sampler.refitted(left)) != left and sampler.fits(other):
            made.stores.append(other)
            yield other

    def _drawn(self, sampler: Sampler) -> Drawn:
        """The stores that have been drawn from samplers like this one."""
        key = sampler.key
        found = self.drawn.pop(key) if key in self.drawn else Drawn(sampler, sampler.draws())
        self.drawn[key] = found  # the latest
        if len(self.drawn) > MAX_DRAWN:
            del self.drawn[next(iter(self.drawn))]
        return found

    def learn(self, store: dict[str, Value]) -> None:
        """One more example; the one that was of use the longest time ago is dropped."""
        self.examples.append(store)
        del self.examples[:-MAX_EXAMPLES]

    def answer(self, text: str, engine: str, ask: Callable[[float], Answer]) -> Answer:
        """The engine's answer to the text, which `ask` gets within so many seconds; `unknown` once none are left."""
        digest = hashlib.sha256(text.encode()).hexdigest()
        limit, known = self.answers.get((digest, engine), (0.0, None))
        may = min(self.limit, self.patience.left)
        cached = known is not None and (known.said != second.UNKNOWN or limit >= may)
        start = perf_counter()
        answer = known if known is not None and cached else ask(may) if may > 0 else Answer(second.UNKNOWN, {}, text)
        seconds = perf_counter() - start
        self.patience.left -= 0.0 if cached else seconds
        self.answers[digest, engine] = max(limit, may), answer
        self.asked.append(Query(text, digest, engine, answer.said, seconds, may, cached))
        return answer


def refuted(store: Mapping[str, Value], real: Real) -> Refuted | None:
    try:
        return Refuted(KNOWN, {n: int(value) for n, value in sorted(store.items())}) if real(store) else None
    except KeyError:
        return None
