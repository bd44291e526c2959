"""The cache: whole files or none, nothing but its own is removed, and it does not grow for ever."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from checker.fleet import cache
from checker.notation.problem import OptionProblem


@pytest.fixture
def here(tmp_path: Path) -> cache.Cache:
    return cache.opened(tmp_path / "c", "1")


def test_what_is_put_is_found(here: cache.Cache) -> None:
    place = cache.place(here, "a")
    assert cache.found(place) is None
    cache.keep(here, "a", "text")
    assert cache.found(place) == "text"
    assert cache.found(cache.place(cache.Cache(here.folder, "2"), "a")) is None  # of another version
    assert [path for path, _ in cache.entries(here.folder)] == [place]


def test_what_is_broken_is_not_there(here: cache.Cache) -> None:
    place = cache.place(here, "a")
    place.parent.mkdir()
    place.write_bytes(b"\xff\xfe")
    assert cache.found(place) is None
    place.unlink()
    place.mkdir()
    assert cache.found(place) is None


def test_what_is_too_long_is_not_there(here: cache.Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.keep(here, "a", "x" * 1000)
    monkeypatch.setattr(cache, "MAX_TEXT", 999)
    assert cache.found(cache.place(here, "a")) is None


def test_a_write_that_fails_leaves_nothing(here: cache.Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.keep(here, "a", "old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", full)
        with pytest.raises(OSError, match="No space"):
            cache.keep(here, "a", "new")
    assert cache.found(cache.place(here, "a")) == "old"
    assert [p.name for p in here.folder.rglob("*.part")] == []


def test_two_at_once_see_whole_texts(here: cache.Cache) -> None:
    """One reads while others write: each time one of the two texts, or nothing."""
    from concurrent.futures import ThreadPoolExecutor

    place, texts = cache.place(here, "a"), ("a" * 50_000, "b" * 70_000)
    with ThreadPoolExecutor(2) as pool:
        writes = [pool.submit(cache.keep, here, "a", text) for text in texts * 20]
        seen = {cache.found(place) for _ in range(200)}
        for write in writes:
            write.result()
    assert seen <= {None, *texts}
    assert cache.found(place) in texts


def test_the_oldest_go_first(here: cache.Cache) -> None:
    for age, name in enumerate("abcd"):
        cache.keep(here, name, name * 1000)
        os.utime(cache.place(here, name), (1000 - age, 1000 - age))
    sizes = [about.st_size for _, about in cache.entries(here.folder)]
    assert cache.trim(here, sum(sizes) - 1) == 1
    assert cache.found(cache.place(here, "d")) is None
    assert cache.trim(here, max(sizes)) == 2
    assert cache.found(cache.place(here, "a")) is not None
    assert cache.trim(here) == 0


def test_nothing_else_is_removed(here: cache.Cache) -> None:
    cache.keep(here, "a", "text")
    (here.folder / "ab").mkdir(exist_ok=True)
    others = [here.folder / "notes.txt", here.folder / "ab/notes.json", here.folder / cache.MARK]
    for other in others:
        other.write_text("mine")
    assert cache.clear(here.folder) == 1
    assert all(other.exists() for other in others)


def test_a_folder_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OptionProblem, match="cannot use the cache"):
        cache.opened(tmp_path / "file", "1")
    with pytest.raises(OptionProblem, match="cannot use the cache"):
        cache.opened(tmp_path / "file/below", "1")


def test_the_users_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.usual() == tmp_path / "warpbound"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.usual() == tmp_path / ".cache/warpbound"
