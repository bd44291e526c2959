"""The progress bar: on terminals, and only where a run takes long."""

import io
import re
import threading
import time
from pathlib import Path

import pytest

from checker.cli import main, progress

PROOFS = Path(__file__).resolve().parents[3] / "proofs"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def drawn(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, patience: float) -> str:
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "PATIENCE", patience)
    with progress.progress_bar("blocks", 20) as show:
        if show:
            show(5)
            show(20)
    return stream.getvalue()


def test_a_long_run_on_a_terminal_shows_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    text = drawn(monkeypatch, Terminal(), 0)
    assert "20/20" in text
    assert "blocks" in text


def test_a_run_of_which_nothing_is_done_shows_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    with progress.progress_bar("blocks", 20):
        _shown("0/20", stream)
    assert "0/20" in stream.getvalue()


def test_a_bar_leaves_the_terminal_to_what_is_printed_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with progress._bar("blocks", 20):
        with progress.aside():
            stream.write("beside")
        stream.write("over")
    text = stream.getvalue()
    assert [text.count(part) for part in ("\x1b[2Kbeside\x1b", "\x1b[2Kover")] == [1, 0]


class Late(threading.Thread):
    """A thread that gets no time before others wait for it."""

    def start(self) -> None:
        """Waits, too."""

    def join(self, timeout: float | None = None) -> None:
        super().start()
        super().join(timeout)


@pytest.mark.parametrize("done", [0, 20])
def test_a_long_run_shows_what_is_done_however_late(done: int, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "PATIENCE", 0)
    monkeypatch.setattr(threading, "Thread", Late)
    with progress.progress_bar("blocks", 20) as show:
        if show and done:
            show(done)
    shown = {int(n) for n in re.findall(r"(\d+)/20", stream.getvalue())}
    assert shown - {0} == {done} - {0}


def test_a_short_run_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(monkeypatch, Terminal(), 60) == ""


def test_a_file_gets_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(monkeypatch, io.StringIO(), 0) == ""


def worked(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, patience: float) -> str:
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "PATIENCE", patience)
    with progress.working("one [bold]thing[/bold]") as now:
        _shown("one", stream)
        now("another")
        _shown("another", stream)
    return stream.getvalue()


def _shown(text: str, stream: io.StringIO) -> None:
    """Waits until a terminal shows it; for a moment where nothing is to be shown."""
    if stream.isatty() and progress.PATIENCE < 1:
        until = time.monotonic() + 20
        while text not in stream.getvalue() and time.monotonic() < until:
            time.sleep(0.01)
    else:
        time.sleep(0.05)


def test_long_work_on_a_terminal_says_what_it_is_about(monkeypatch: pytest.MonkeyPatch) -> None:
    text = worked(monkeypatch, Terminal(), 0.01)
    assert "one [bold]thing[/bold]" in text
    assert "another" in text
    assert "0:00:0" in text
    assert text.endswith("\x1b[2K")  # nothing is left of it


def test_what_judges_certificates_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    files = [str(PROOFS / name / "conflicts.json") for name in ("vectorAdd", "addSub3")]
    for command, words in (("report", f"2 of 2: {files[1]}"), ("recheck", "2/2"), ("check", files[0])):
        stream = Terminal()
        monkeypatch.setattr("sys.stderr", stream)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", "300")
        monkeypatch.setattr(progress, "PATIENCE", 0)
        monkeypatch.setattr(progress, "_TURN", 0.001)
        assert main([command, *files[: 1 if command == "check" else 2]]) == 0
        assert words in stream.getvalue()


def test_short_work_and_files_show_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert worked(monkeypatch, Terminal(), 60) == ""
    assert worked(monkeypatch, io.StringIO(), 0.01) == ""


def test_work_that_fails_leaves_the_terminal_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "PATIENCE", 0.01)

    def fail() -> None:
        with progress.working("something"):
            time.sleep(0.2)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert stream.getvalue().count("\x1b[?25l") == stream.getvalue().count("\x1b[?25h") == 1
