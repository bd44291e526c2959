"""The outcomes of whole sources, for as long as nothing of them changes: notes that this user wrote, and sealed.

A note says: with these options, this version of the tool found these rows in a source, which is these bytes, and
includes those. It is used where every byte is as it was, and where the seal is this user's: a digest of the note under
a key that only this user can read, which is kept in the user's state folder, and in no cache. A note with another seal,
or none, is no note, and the source is read and its certificates are judged. So a cache that comes from elsewhere can
cost time, and no more than that: who can write a note that is believed can read the key, and so is the user.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from checker.fleet import cache as kept
from checker.fleet.cache import Cache
from checker.fleet.files import Source
from checker.fleet.rows import Read, Row

if TYPE_CHECKING:
    from checker.certificates.document import Certificate
    from logic.metrics import Metric
    from logic.potentials import Poly
    from semantics.cuda.inputs import Inputs

KEY: Final = "seal.key"
BYTES: Final = 32
"""The length of a key."""

LONGEST: Final = 16 << 20
"""Bytes of the longest note that is read."""

Note = dict[str, Any]


@dataclass(slots=True)
class Memory:
    """The notes in a cache, with a user's key; `about` is what all sources are bounded with, but for `limits`: the
    seconds that a kernel may take, its bytes of memory, and the seconds of a search. None is no limit."""

    cache: Cache
    key: bytes
    about: str
    limits: Sequence[float | None]
    _found: dict[str, tuple[str, tuple[int, int]]] = field(default_factory=dict)

    def note(self, source: Source) -> Note | None:
        """The note of a source, if that is as it was; None where there is none, or none that is believed."""
        path, name = self._place(source)
        with suppress(OSError, ValueError, LookupError, TypeError, RecursionError):
            if path.stat().st_size > LONGEST:
                return None
            seal, _, body = path.read_bytes().partition(b"\n")
            if not hmac.compare_digest(seal, self._seal(name, body)):
                return None
            head, _, more = body.partition(b"\n")
            note: Note = json.loads(head)
            if not self._unchanged(note) or not self._allowed(note["limits"]):
                return None
            with suppress(OSError):
                os.utime(path)
            return note | {"more": more}
        return None

    def keep(self, source: Source, note: Note, more: Any, inputs: Inputs) -> None:
        """Keeps what came of a source that had these inputs; `more` is what is seldom looked at. Raises OSError."""
        found = {path: self._now(path) for path, _ in inputs.files}
        if any(found[path][0] != digest for path, digest in inputs.files):
            return  # it has changed since
        about = {"inputs": [list(one) for one in inputs.files], "absent": list(inputs.absent), "same": _same(found)}
        path, name = self._place(source)
        body = json.dumps(note | about).encode() + b"\n" + json.dumps(more).encode()
        if len(body) < LONGEST:
            kept.whole(path, self._seal(name, body) + b"\n" + body)

    def _place(self, source: Source) -> tuple[Path, str]:
        own = json.dumps([self.about, source.path, source.name, repr(source.flags), source.found, str(Path.cwd())])
        path = kept.place(self.cache, own, kept.NOTES)
        return path, path.parent.name + path.stem

    def _seal(self, name: str, body: bytes) -> bytes:
        return seal(self.key, name, body)

    def _unchanged(self, note: Note) -> bool:
        """Whether all files are what they were, and there are none where there were none; and whether two paths lead to
        one file where they did: clang reads that once."""
        found = {}
        for path, digest in note["inputs"]:
            found[path] = self._now(path)
            if found[path][0] != digest:
                return False
        return all(not self._now(path)[0] for path in note["absent"]) and _same(found) == note["same"]

    def _now(self, path: str) -> tuple[str, tuple[int, int]]:
        """The digest of a file, "" where there is none, and which one it is. Raises OSError where that is not known."""
        if path not in self._found:
            try:
                handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # what is no file waits for nobody
                with os.fdopen(handle, "rb") as file:
                    about = os.fstat(handle)
                    if not stat.S_ISREG(about.st_mode):
                        raise OSError(path)
                    found = hashlib.sha256(file.read()).hexdigest()
                self._found[path] = found, (about.st_dev, about.st_ino)
            except (FileNotFoundError, NotADirectoryError):
                self._found[path] = "", (0, 0)
        return self._found[path]

    def _allowed(self, limits: Sequence[Any] | None) -> bool:
        """Whether what ended by limits would do so under those of now."""
        if limits is None:
            return True
        return all(a is None or (b is not None and b <= a) for a, b in zip(limits, self.limits, strict=True))


def _same(found: Mapping[str, tuple[str, tuple[int, int]]]) -> list[int]:
    """For each file the number of the first one that is the same."""
    files = [which for _, which in found.values()]
    return [files.index(one) for one in files]


def seal(key: bytes, name: str, body: bytes) -> bytes:
    """The line that is written above a note of this name."""
    return hmac.new(key, b"warpbound note 1\n" + name.encode() + b"\n" + body, hashlib.sha256).hexdigest().encode()


def is_sealed(key: bytes | None, path: Path) -> bool:
    """Whether a note has the seal of a key."""
    with suppress(OSError):
        own, _, body = path.read_bytes().partition(b"\n")
        return key is not None and hmac.compare_digest(own, seal(key, path.parent.name + path.stem, body))
    return False


# --- what is in a note ------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Recalled:
    """A kernel as a note has it: its rows, one a metric; what is seldom looked at is read when it is."""

    part: Note
    number: int
    _more: Any

    @property
    def name(self) -> str:
        return str(self.part["name"])

    @property
    def rows(self) -> list[Row]:
        return list(self.part["rows"])

    @property
    def took(self) -> set[str] | None:
        return None if self.part["took"] is None else set(self.part["took"])

    @property
    def same(self) -> tuple[str, ...]:
        return tuple(self.part["same"])

    def _look(self, metric: int) -> Any:
        if isinstance(self._more, bytes):
            self._more = json.loads(self._more)
        return self._more[self.number][metric]

    def claim(self, metric: int) -> Any:
        return self._look(metric)[0]

    def subject(self, metric: int) -> str | None:
        found: str | None = self._look(metric)[1]
        return found

    def digest(self, metric: int) -> str | None:
        found: str | None = self._look(metric)[2]
        return found

    def _claim(self, metric: int) -> Certificate | None:
        from checker.certificates.document import read

        claim = self.claim(metric)
        return None if claim is None else read(json.dumps(claim), KEY)

    def bound(self, metric: int) -> Poly | None:
        """The bound that is proved of it."""
        found = self._claim(metric)
        return None if found is None else cast("Poly", found.derivation.substitution["Q"])

    def read(self, metric: int) -> Read | None:
        """How it was read, as far as a claim says that."""
        found, row = self._claim(metric), self.rows[metric]
        return None if found is None else Read(self.name, found.kernel, found.context, row["per"], (), {})


def claimed(read: Read, metric: Metric, bound: Poly) -> Any:
    """A bound with its launch, as a document without a proof."""
    from checker.certificates.document import draft
    from logic.derivation import Derivation
    from logic.rules import SKIP
    from logic.syntax import Skip

    context = replace(read.context, metric=metric)
    substitution: dict[str, Any] = {"P": (), "Q": bound, "X": frozenset()}
    kernel = replace(read.bare, name="k", locals=(), body=Skip())
    return json.loads(draft(kernel, context, "sound", Derivation(SKIP.name, substitution)))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def now() -> str:
    """The time, as JSON has it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


# --- the key ----------------------------------------------------------------------------------------------------------


def place() -> Path:
    """Where a user's key is, as the desktop's conventions have it. Raises RuntimeError where there is no home."""
    base = os.environ.get("XDG_STATE_HOME")
    state = Path(base) if base and Path(base).is_absolute() else Path.home() / ".local" / "state"
    return state / "warpbound" / KEY


def key(folder: Path, make: bool = True) -> bytes | None:
    """The user's key, made where there is none; None where it cannot be, where others could read or write it, or where
    it would be in the folder of the cache."""
    try:
        path = place()
        if folder.resolve() in path.resolve().parents:
            return None
        found = _read(path)
        if found is None and make and not path.exists() and not path.is_symlink():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _make(path)
            found = _read(path)
        return found
    except (OSError, RuntimeError):
        return None


def _read(path: Path) -> bytes | None:
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        return None
    with os.fdopen(handle, "rb") as file:
        about, data = os.fstat(handle), file.read(BYTES + 1)
    own = stat.S_ISREG(about.st_mode) and about.st_uid == os.geteuid() and not about.st_mode & 0o077
    return data if own and len(data) == BYTES else None


def _make(path: Path) -> None:
    """A new key, at once and in nobody's place: of two that make one, both take the first."""
    part = path.with_name(f".{KEY}.{secrets.token_hex(8)}")
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(BYTES))
        with suppress(FileExistsError):
            os.link(part, path)
    finally:
        part.unlink()


def about(parts: Iterable[Any]) -> str:
    """A text of all that the sources of a run are bounded with."""
    return "\n".join(map(repr, parts))
