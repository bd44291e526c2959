"""The desk at which everything comes in: kernels as they are read, certificates as they are found or were kept, and
what became of workers. A row is there when the second checker has judged, and not before; or when it did, in a run of
this user's, and nothing has changed since (`memory`)."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass, field
from functools import partial
from itertools import count, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from checker.fleet import cache as kept
from checker.fleet.cache import Cache
from checker.fleet.files import Source
from checker.fleet.judge import Judged, judged
from checker.fleet.memory import Memory, Note, Recalled, claimed, digest, now
from checker.fleet.rows import CODES, VERDICTS, Claimed, Found, Read, Row, of_failure, of_judged, of_nothing, shown
from checker.fleet.workers import Failure, Job
from logic.source import Loc

if TYPE_CHECKING:
    from logic.metrics import Metric
    from logic.potentials import Poly
    from semantics.cuda.inputs import Inputs

ENDED: Final = Judged("not-proved", problem="the second checker was ended")

Key = tuple[int, int, int]
"""The numbers of a source, of a kernel in it, and of a metric: rows are in this order."""


@dataclass(frozen=True, slots=True)
class Listed:
    """The kernels of a source, in a worker's words."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """A source or a kernel that cannot be read, or not with these options: the problem, as it is printed, too, and
    whether it is a fault of ours."""

    message: str
    loc: Loc | None
    printed: str
    ours: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """The files that the reading of a source rests on so far; None where they are not known."""

    inputs: Inputs | None


@dataclass(frozen=True, slots=True)
class Known:
    """Asks for the certificates of a kernel that were found in the cache."""


def tried(path: Path, about: str) -> tuple[Judged, str] | None:
    """The word on what a cache has at a place, and its text; None where it has nothing."""
    text = kept.found(path)
    return None if text is None else (judged(text, about), text)


def reconsidered(text: str, about: str) -> tuple[Judged, str]:
    """The word on a text, and the text."""
    return judged(text, about), text


@dataclass(slots=True)
class Desk:
    """Where the results of a run are. `shows` gets each row as it comes, `warns` what is to be said of one source;
    `again` takes what is to be searched again, if it does, where a certificate is refused. `memory` has what came of
    sources in earlier runs, and gets what comes now, but for what is found `far` away and proves nothing. `took` are
    the options' assumptions and names that some kernel took, None before there is one. `all_texts`: all certificates
    are wanted, not only those of budgets."""

    sources: Sequence[Source]
    metrics: Sequence[Metric]
    per: str
    court: Callable[[], Executor]
    cache: Cache | None = None
    accepted: Collection[str] = ()
    fail_fast: bool = False
    shows: Callable[[Row], None] = lambda _: None
    warns: Callable[[str], None] = lambda _: None
    again: Callable[[Key], bool] = lambda _: False
    rows: dict[Key, Row] = field(default_factory=dict)
    reads: dict[tuple[int, int], Read] = field(default_factory=dict)
    texts: dict[Key, str] = field(default_factory=dict)
    bounds: dict[Key, Poly] = field(default_factory=dict)
    named: dict[tuple[int, int], str] = field(default_factory=dict)
    ends: int = 0
    full: bool = False
    kept: int = 0
    stopped: bool = False
    keep_texts: bool = False
    all_texts: bool = False
    memory: Memory | None = None
    far: bool = False
    took: set[str] | None = None
    recalled: dict[tuple[int, int], Recalled] = field(default_factory=dict)
    _judges: Executor | None = None
    _pending: dict[Future[Any], Callable[[Any], None]] = field(default_factory=dict)
    _judging: set[Key] = field(default_factory=set)
    _words: dict[Key, tuple[str, Judged]] = field(default_factory=dict)
    """What was said last of what a worker asked about, by the digest of that."""
    _so_far: dict[Key, tuple[str, Judged]] = field(default_factory=dict)
    """The best bound that a worker asked about, its text, and the word on it."""
    _seen: dict[tuple[str, ...], tuple[int, int]] = field(default_factory=dict)
    _again: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    _said: dict[int, list[str]] = field(default_factory=dict)
    _inputs: dict[int, Inputs | None] = field(default_factory=dict)
    _doubted: set[int] = field(default_factory=set)
    _hurried: set[int] = field(default_factory=set)
    _ended: set[int] = field(default_factory=set)
    _hits: dict[tuple[int, int | None], list[str]] = field(default_factory=dict)
    _digests: dict[Key, str] = field(default_factory=dict)
    _heard: set[int] = field(default_factory=set)
    _wake: Callable[[], None] = lambda: None

    def start(self, wake: Callable[[], None]) -> None:
        self._wake = wake

    # --- what workers say ---------------------------------------------------------------------------------------------

    def told(self, job: Job, part: int | None, what: Any) -> None:
        match what:
            case str(said):
                self._warn(job.number, said)
            case Seen(inputs):
                self._inputs[job.number] = _together(self._inputs.get(job.number, inputs), inputs)
            case Listed(names):
                self._heard.add(job.number)
                self.named |= {(job.number, i): name for i, name in enumerate(names)}
            case Refused(message, loc, printed, ours):
                self._warn(job.number, printed)
                if ours:
                    self._doubted.add(job.number)
                told = f"{loc}: {message}" if loc else message
                self._failed(job.number, part, "unsupported", told, 0.0, loc)
            case Found(metric, text, problem, seconds) if (job.number, part) in self.reads and part is not None:
                if what.hurried:
                    self._hurried.add(job.number)
                kept = not (what.hurried or what.coarse)
                self._found(job.number, part, metric, text, problem, seconds, kept)

    def asked(self, job: Job, part: int | None, what: Any) -> Future[Any]:
        """Which metrics of a kernel are left to be searched; which certificates of it there are; or the word on one
        that was found."""
        answer: Future[Any] = Future()
        if isinstance(what, Claimed):
            self._ask(job.number, part, what, answer)
            return answer
        if isinstance(what, Known):
            answer.set_result(self._hits.pop((job.number, part), []))
            return answer
        if part is None or not isinstance(what, Read):
            answer.set_result([])
            return answer
        self._warn(job.number, what.said)
        self.took = (self.took or set()) | what.took
        if (job.number, part) not in self.reads and self._is_again((job.number, part), _same(what)):
            answer.set_result([])
            return answer
        self.reads[job.number, part] = what
        left, waiting = list[int](), 0

        def looked(i: int, start: float, found: tuple[Judged, str] | None) -> None:
            nonlocal waiting
            waiting -= 1
            if found is not None and found[0].certified:
                if what.context.launch.assumptions or what.context.launch.contracts:
                    self._hits.setdefault((job.number, part), []).append(found[1])
                self._judged((job.number, part, i), what, found[0], time.monotonic() - start, True, found[1])
            else:
                left.append(i)
            if not waiting:
                answer.set_result([self.metrics[i].name for i in sorted(left)])

        wanted = [i for i in range(len(self.metrics)) if (job.number, part, i) not in self.rows]
        if self.cache is None or not wanted:
            answer.set_result([self.metrics[i].name for i in wanted])
            return answer
        for i in wanted:
            about = what.subjects[self.metrics[i].name]
            waiting += 1
            then = partial(looked, i, time.monotonic())
            self._submit(tried, (kept.place(self.cache, about), about), then)
        return answer

    def failed(self, job: Job, part: int | None, how: Failure, why: str, seconds: float) -> None:
        self._failed(job.number, part, how, why, seconds, None)

    def ended(self, job: Job) -> None:
        self._heard.add(job.number)
        self._ended.add(job.number)
        self.ends += 1

    def enough(self) -> bool:
        return self.stopped

    def _warn(self, job: int, said: str) -> None:
        if said and said not in self._said.setdefault(job, []):
            self._said[job].append(said)
        self.warns(said)

    def _is_again(self, kernel: tuple[int, int], same: tuple[str, ...]) -> bool:
        """Whether this is a kernel of a header that was read before, by way of another source."""
        if not same or self._seen.setdefault(same, kernel) == kernel:
            return False
        self._again[kernel] = self._seen[same]
        return True

    # --- what is judged -----------------------------------------------------------------------------------------------

    def turn(self) -> None:
        """Takes the words of the judges that are there."""
        for future in [f for f in self._pending if f.done()]:
            then = self._pending.pop(future)
            try:
                then(future.result())
            except BrokenExecutor:
                self._judges = None
                then(None)
        self._remember()

    def finish(self) -> None:
        """Waits for all judges that are at work."""
        while self._pending:
            wait(self._pending)
            self.turn()
        self._remember()

    def _submit(self, act: Callable[..., Any], about: tuple[Any, ...], then: Callable[[Any], None]) -> None:
        try:
            self._judges = self._judges or self.court()
            future = self._judges.submit(act, *about)
        except BrokenExecutor:
            self._judges = self.court()
            future = self._judges.submit(act, *about)
        self._pending[future] = then
        future.add_done_callback(lambda _: self._wake())

    def _ask(self, job: int, part: int | None, claimed: Claimed, answer: Future[Any]) -> None:
        """Has what a worker found judged before it is told, so that a refusal is heard where more can be done."""
        index, read = self._index(claimed.metric), None if part is None else self.reads.get((job, part))
        if part is None or index is None or read is None:
            answer.set_result(Judged("not-proved", problem="nobody asked for this"))
            return

        def heard(found: tuple[Judged, str] | None) -> None:
            word = found[0] if found else ENDED
            self._words[job, part, index] = digest(claimed.text), word
            self._hold((job, part, index), claimed.text, word)
            answer.set_result(word)

        self._submit(reconsidered, (claimed.text, read.subjects[claimed.metric]), heard)

    def _hold(self, key: Key, text: str, word: Judged) -> None:
        """Keeps what a worker asked about, should it say no more: the last one of those with the best word."""
        before = self._so_far.get(key)
        if word.bound is not None and (before is None or VERDICTS.index(word.word) >= VERDICTS.index(before[1].word)):
            self._so_far[key] = text, word

    def _index(self, name: str) -> int | None:
        return next((i for i, m in enumerate(self.metrics) if m.name == name), None)

    def _found(self, job: int, part: int, name: str, text: Any, problem: Any, seconds: Any, kept: bool) -> None:
        index = self._index(name)
        if index is None or (job, part, index) in self._judging:
            return
        key, read = (job, part, index), self.reads[job, part]
        took = float(seconds) if isinstance(seconds, int | float) else 0.0
        if not isinstance(text, str):
            if self.far:
                self._doubted.add(job)
            self._put(key, of_nothing(read, self.metrics[index], str(problem), took), None)
            return
        about = read.subjects[name]
        self._judging.add(key)

        def heard(found: tuple[Judged, str] | None) -> None:
            self._judging.discard(key)
            word = found[0] if found else ENDED
            if word.word == "not-proved":
                self._doubted.add(job)
                if self.again(key):
                    return
            if word.certified and self.cache and not self.full and kept:
                self._keep(self.cache, about, text)
            self._judged(key, read, word, took, False, text)

        of, word = self._words.pop(key, ("", ENDED))
        if of == digest(text):
            heard((word, text))
        else:
            self._submit(reconsidered, (text, about), heard)

    def _judged(self, key: Key, read: Read, word: Judged, seconds: float, cached: bool, text: str) -> None:
        if word.bound is not None:
            self.bounds[key] = shown(read, word.bound)
            self._digests[key] = digest(text)
        row = of_judged(read, self.metrics[key[2]], word, seconds, cached)
        self._put(key, row, None if word.bound is None else text)

    def _keep(self, cache: Cache, about: str, text: str) -> None:
        try:
            kept.keep(cache, about, text)
            self.kept += 1
        except OSError as error:
            self._is_full(error)

    def _is_full(self, error: OSError) -> None:
        self.full = True
        folder = self.cache.folder if self.cache else ""
        self.warns(f"warpbound: warning: nothing is cached from here on: '{folder}': {error.strerror}")

    def _failed(self, job: int, part: int | None, verdict: str, why: str, seconds: float, loc: Loc | None) -> None:
        if verdict == "crashed" or (self.far and verdict != "unsupported"):
            self._doubted.add(job)
        read = self.reads.get((job, part)) if part is not None else None
        name = self.named.get((job, part)) if part is not None else None
        for i, metric in enumerate(self.metrics):
            key = (job, -1 if part is None else part, i)
            if key not in self.rows and key not in self._judging:
                if read is not None and key in self._so_far:
                    self._end_early(key, read, why, seconds)
                    continue
                at = loc or (read.loc if read else None)
                self._put(
                    key, of_failure(name, metric, self.per, verdict, why, seconds, self.sources[job].name, at), None
                )

    def _end_early(self, key: Key, read: Read, why: str, seconds: float) -> None:
        """The row of a kernel whose worker was ended: the best bound so far."""
        text, word = self._so_far[key]
        self._hurried.add(key[0])
        told = f"{read.name}, {self.metrics[key[2]].name}: the search was ended ({why}), this is its best bound so far"
        self._warn(key[0], f"{self.sources[key[0]].name}: warning: {told}")
        self._judged(key, read, word, seconds, False, text)

    def _put(self, key: Key, row: Row, text: str | None) -> None:
        row["file"] = row["file"] or self.sources[key[0]].name
        self.rows[key] = row
        if text is not None and self.keep_texts:
            self.texts[key] = text
        self.shows(row)
        bad = CODES[row["verdict"]] != 0 and row["verdict"] not in self.accepted
        self.stopped = self.stopped or (self.fail_fast and bad)

    # --- what is remembered -------------------------------------------------------------------------------------------

    def recall(self, job: int, note: Note) -> bool:
        """Takes what came of a source in an earlier run. Takes nothing where a certificate is wanted and not there."""
        found = [Recalled(part, i, note["more"]) for i, part in enumerate(note["parts"])]
        if self.all_texts and not all(self._has_texts(one) for one in found):
            return False
        self.named |= {(job, i): one.name for i, one in enumerate(found)}
        for said in note["said"]:
            self._warn(job, said)
        for i, row in enumerate(note["rows"]):
            self._put((job, -1, i), row, None)
        for part, one in enumerate(found):
            if one.took is not None:
                self.took = (self.took or set()) | one.took
            if self._is_again((job, part), one.same):
                continue
            self.recalled[job, part] = one
            for i, row in enumerate(one.rows):
                self._put((job, part, i), row, self.text((job, part, i)) if self.all_texts else None)
        self._heard.add(job)
        self.ends += 1
        return True

    def _has_texts(self, one: Recalled) -> bool:
        return all(row["bound"] is None or self._kept(one, i) is not None for i, row in enumerate(one.rows))

    def _kept(self, one: Recalled, metric: int) -> str | None:
        """The text of a certificate that was judged: what the cache has is compared with that by its digest."""
        subject, about = one.subject(metric), one.digest(metric)
        text = kept.found(kept.place(self.cache, subject)) if self.cache and subject and about else None
        return text if text is not None and digest(text) == about else None

    def _remember(self) -> None:
        """Keeps what came of sources that are done."""
        judging = {job for job, _, _ in self._judging}
        for job in self._ended - judging:
            self._ended.discard(job)
            inputs = self._inputs.get(job)
            if self.memory is None or self.full or inputs is None or job in self._doubted:
                continue
            if (note := self._note(job)) is not None:
                try:
                    self.memory.keep(self.sources[job], note[0], note[1], inputs)
                    self.kept += 1
                except OSError as error:
                    self._is_full(error)

    def _note(self, job: int) -> tuple[Note, Any] | None:
        """The note of a source; None where something is missing."""
        numbers = takewhile(lambda i: (job, i) in self.named, count())
        kernels = [self._again.get((job, i), (job, i)) for i in numbers]
        every = range(len(self.metrics))
        rows = [[self.rows.get((*kernel, i)) for i in every] for kernel in kernels]
        own = [row for i in every if (row := self.rows.get((job, -1, i)))]
        if any(row is None for each in rows for row in each) or not (kernels or own or job in self._heard):
            return None
        ended = any(row and row["verdict"] in ("timeout", "out of memory") for each in rows for row in each)
        limited = ended or job in self._hurried  # with more time there may be more to say
        parts, more = [], []
        for kernel, each in zip(kernels, rows, strict=True):
            read, one = self.reads.get(kernel), self.recalled.get(kernel)
            part: Note = {"name": self.named[kernel], "rows": [_dated(row) for row in each if row]}
            part["took"] = sorted(read.took) if read else one and one.part["took"]
            part["same"] = list(_same(read) if read else one.same if one else ())
            parts.append(part)
            keys = [(*kernel, i) for i in every]
            more.append([[self.claim(key), self.subject(key), self._digest(key)] for key in keys])
        note = {"parts": parts, "rows": [_dated(row) for row in own], "said": self._said.get(job, [])}
        note["limits"] = [*self.memory.limits] if limited and self.memory else None
        return note, more

    # --- what there is ------------------------------------------------------------------------------------------------

    def read(self, key: Key) -> Read | None:
        """A kernel as it was read, now or in an earlier run."""
        one = self.recalled.get(key[:2])
        return self.reads.get(key[:2]) if one is None else one.read(key[2])

    def bound(self, key: Key) -> Poly | None:
        """The bound that is proved of a kernel."""
        one = self.recalled.get(key[:2])
        return self.bounds.get(key) if one is None else one.bound(key[2])

    def text(self, key: Key) -> str | None:
        """The certificate of a bound, where it is kept."""
        one = self.recalled.get(key[:2])
        return self.texts.get(key) if one is None else self._kept(one, key[2])

    def claim(self, key: Key) -> Any:
        """A bound with its launch, as a document without a proof; None where there is none."""
        if (one := self.recalled.get(key[:2])) is not None:
            return one.claim(key[2])
        read, bound = self.reads.get(key[:2]), self.bounds.get(key)
        return None if read is None or bound is None else claimed(read, self.metrics[key[2]], bound)

    def subject(self, key: Key) -> str | None:
        """The digest of what a certificate would be about."""
        one, read = self.recalled.get(key[:2]), self.reads.get(key[:2])
        return one.subject(key[2]) if one else read.subjects[self.metrics[key[2]].name] if read else None

    def _digest(self, key: Key) -> str | None:
        one = self.recalled.get(key[:2])
        return one.digest(key[2]) if one else self._digests.get(key)

    def left_out(self) -> tuple[int, int]:
        """The numbers of sources whose kernels are not known, and of kernels that have no row under some metric."""
        every = range(len(self.metrics))
        kernels = sum(any((*key, i) not in self.rows for i in every) for key in self.named.keys() - self._again)
        return len(self.sources) - len(self._heard), kernels

    def in_order(self) -> list[tuple[Key, Row]]:
        return sorted(self.rows.items(), key=lambda item: item[0])


def _same(read: Read) -> tuple[str, ...]:
    """The key that two readings of one kernel share; empty where it is not known to be one."""
    return (str(read.loc), read.name, *read.notes, *read.subjects.values()) if read.loc else ()


def _together(one: Inputs | None, other: Inputs | None) -> Inputs | None:
    """The files that two readings rest on together; None where they saw different things, or that is not known."""
    from semantics.cuda.inputs import Inputs

    if one is None or other is None or one == other:
        return other if one == other else None
    files = dict(one.files) | dict(other.files)
    absent = dict.fromkeys((*one.absent, *other.absent))
    agree = not files.keys() & absent.keys() and all(files[path] == digest for path, digest in one.files)
    return Inputs(tuple(sorted(files.items())), tuple(absent)) if agree else None


def _dated(row: Row) -> Row:
    return row | {"since": row["since"] or now(), "cached": row["bound"] is not None}
