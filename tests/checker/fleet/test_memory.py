"""What came of a source is used where nothing has changed and this user wrote it down, and nowhere else."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from checker.fleet import cache, memory
from checker.fleet.files import Source
from checker.fleet.memory import Memory
from semantics.cuda.inputs import Inputs

SOURCE = Source("a.cu", "a.cu")
NOTE: dict[str, Any] = {"parts": [], "rows": [], "said": [], "limits": None}


def digest(path: str) -> tuple[str, str]:
    return path, sha256(Path(path).read_bytes()).hexdigest()


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a source that includes two files, and the place of a note of it."""
    monkeypatch.chdir(tmp_path)
    Path("a.cu").write_text("#include <b.h>\n#include <c.h>\n")
    Path("inc").mkdir()
    Path("inc/b.h").write_text("1")
    Path("inc/c.h").symlink_to("b.h")
    inputs = Inputs((digest("a.cu"), digest("inc/b.h"), digest("inc/c.h")), ("first/b.h",))
    here().keep(SOURCE, NOTE, [], inputs)
    assert here().note(SOURCE) is not None
    return next(tmp_path.rglob(f"*{cache.NOTES}"))


def here(key: bytes = b"k" * 32, about: str = "o", limits: Sequence[float | None] = (9.0, 9, 9.0)) -> Memory:
    return Memory(cache.opened(Path("cache"), "1"), key, about, limits)


def times(path: Path) -> None:
    """Another text of the same length, and all times that a user can set as they were."""
    about = path.stat()
    path.write_text("2")
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))


def appears(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("1")


def copied(path: Path) -> None:
    """The same bytes, and no longer the same file: `#pragma once` tells them apart."""
    path.unlink()
    path.write_text("1")


def switched(path: Path) -> None:
    Path("inc/other.h").write_text("3")
    path.unlink()
    path.symlink_to("other.h")


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("a.cu", lambda path: path.write_text("")),
        ("a.cu", lambda path: path.unlink()),
        ("inc/b.h", times),
        ("inc/c.h", switched),
        ("inc/c.h", copied),
        ("inc/c.h", lambda path: (path.unlink(), path.mkdir())),
        ("first/b.h", appears),
    ],
)
def test_what_changed_is_read_again(kept: Path, path: str, change: Callable[[Path], object]) -> None:
    change(Path(path))
    assert here().note(SOURCE) is None


def test_times_say_nothing(kept: Path) -> None:
    for path in ("a.cu", "inc/b.h"):
        os.utime(path, (1, 1))
    assert here().note(SOURCE) is not None


@pytest.mark.parametrize(
    "change",
    [
        lambda _: b"",
        lambda data: data[:-1],
        lambda data: data[:70],
        lambda data: data.replace(b'"said": []', b'"said":[] '),
        lambda data: data + b" ",
        lambda data: data[1:],
        lambda data: b"0" * 64 + data[64:],
        lambda data: data.partition(b"\n")[2],
        lambda data: b"\n" + data.partition(b"\n")[2],
        lambda data: "é".encode("latin-1") + data,
    ],
)
def test_what_was_tampered_with_is_no_note(kept: Path, change: Callable[[bytes], bytes]) -> None:
    data = kept.read_bytes()
    assert change(data) != data
    kept.write_bytes(change(data))
    assert here().note(SOURCE) is None
    assert not memory.is_sealed(b"k" * 32, kept)


def test_a_note_of_another_user_or_about_something_else_is_none(kept: Path) -> None:
    assert memory.is_sealed(b"k" * 32, kept)
    assert here(key=b"x" * 32).note(SOURCE) is None
    assert here(about="-D").note(SOURCE) is None
    other = Source("./a.cu", "a.cu")
    assert here().note(other) is None
    place = here()._place(other)[0]
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(kept.read_bytes())  # a good note in the place of another
    assert here().note(other) is None


def test_what_ended_by_limits_is_tried_with_larger_ones(kept: Path) -> None:
    here().keep(SOURCE, NOTE | {"limits": [9.0, 9, 9.0]}, [], Inputs((digest("a.cu"),), ()))
    assert here().note(SOURCE) is not None
    assert here(limits=(8.0, 9, 5.0)).note(SOURCE) is not None
    for more in ((9.5, 9, 9.0), (9.0, 10, 9.0), (None, 9, 9.0), (9.0, 9, 9.5)):
        assert here(limits=more).note(SOURCE) is None


def test_what_has_changed_since_it_was_read_is_not_kept(kept: Path) -> None:
    kept.unlink()
    here().keep(SOURCE, NOTE, [], Inputs((("a.cu", "0" * 64),), ()))
    assert not kept.exists()


def test_a_key_is_the_users_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder, path = tmp_path / "cache", tmp_path / "state/warpbound/seal.key"
    assert memory.key(folder, make=False) is None
    key = memory.key(folder)
    assert (len(key or b""), path.stat().st_mode & 0o777, memory.key(folder)) == (32, 0o600, key)
    assert [p.name for p in path.parent.iterdir()] == ["seal.key"]
    assert memory.key(tmp_path / "state") is None, "who has the cache would have the key"
    path.chmod(0o640)
    assert memory.key(folder) is None, "others may have read it"
    path.chmod(0o600)
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")
    assert memory.key(folder) is None, "somebody else may have put it there"
    path.unlink()
    path.write_bytes(b"short")
    path.chmod(0o600)
    assert memory.key(folder) is None
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert memory.place() == tmp_path / ".local/state/warpbound/seal.key"
