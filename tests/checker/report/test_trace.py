"""Traces of the mini-SIMT machine: limits, memory as text, pictures in strips."""

from __future__ import annotations

import re

import pytest

from checker.notation.problem import OptionProblem
from checker.report import trace as report
from checker.report.page import render
from checker.report.trace import Trace, memory_text, trace_json, trace_page, trace_svg, trace_text
from semantics.machine.blocks import Place
from semantics.machine.launch import Launch
from semantics.machine.simulate import run
from semantics.machine.text import assemble

TEXT = "l: load x = Tid\nstore Tid = x\nbarrier 0, threads\nconst y = 1"
HERE = Place((0, 0, 0), 0, 0)


def traced(text: str = TEXT, threads: int = 4, warp: int = 2, latency: int = 5, place: Place = HERE) -> Trace:
    p = assemble(text, "f.simt")
    found = Trace(p, warp)
    run(p, Launch(threads, warp, latency), observer=found.observer(place))
    return found


def bars(svg: str) -> list[str]:
    """What the bars of a picture say."""
    return re.findall(r"<title>(cycles?[^<]*)</title>", svg)


def test_every_state_has_its_bar() -> None:
    svg = trace_svg(traced(), "t")
    assert bars(svg) == [
        "cycle 0: warp 0 l: load x = Tid 11",
        "cycles 1 to 4: warp 0 waits for a load",
        "cycle 5: warp 0 store Tid = x 11",
        "cycle 6: warp 0 ready, another warp issues",
        "cycle 7: warp 0 barrier 0, threads 11",
        "cycle 8: warp 0 waits at a barrier",
        "cycle 9: warp 0 const y = 1 11",
        "cycle 0: warp 1 ready, another warp issues",
        "cycle 1: warp 1 l: load x = Tid 11",
        "cycles 2 to 5: warp 1 waits for a load",
        "cycle 6: warp 1 store Tid = x 11",
        "cycle 7: warp 1 ready, another warp issues",
        "cycle 8: warp 1 barrier 0, threads 11",
        "cycle 9: warp 1 ready, another warp issues",
        "cycle 10: warp 1 const y = 1 11",
    ]
    assert svg.count(report.COLOURS["stall"]) == 2 + 1  # and once in the legend
    assert svg.count(report.COLOURS["barrier"]) == 1 + 1


def test_where_threads_are_passive_bars_are_paler() -> None:
    svg = trace_svg(traced("bz Tid, e\nconst x = 1\ne: sync", 4, 4), "t")
    assert svg.count("fill-opacity") == 3
    assert 'fill-opacity="0.51"' in svg  # 1 of 4 threads: 0.35 + 0.65 / 4


def test_a_bar_goes_on_in_the_next_strip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "STRIP", 10)
    found = traced("load x = 0\nstore 0 = x", 1, 1, 25)
    svg = trace_svg(found, "t")
    assert bars(svg) == [
        "cycle 0: warp 0 load x = 0 1",
        *["cycles 1 to 24: warp 0 waits for a load"] * 3,
        "cycle 25: warp 0 store 0 = x 1",
    ]
    widths = [int(w) for w in re.findall(r'width="(\d+)" height="16"', svg)]
    assert widths == [8, 72, 80, 40, 8]


def test_processors_have_their_own_rows() -> None:
    first = traced()
    other = traced(place=Place((1, 0, 0), 1, 3))
    svg = trace_svg(Trace(first.program, 2, first.rows + other.rows), "t")
    assert "processor 0, warp 0" in svg
    assert "processor 1, warp 1" in svg
    assert "cycle 13: warp 1 const y = 1 11" in bars(svg)


def test_names_of_files_are_escaped() -> None:
    title = "<b>&\x1b[0m.simt"
    page = render(trace_page(traced(), title, title, False, True), "html")
    assert "<b>" not in page
    assert "\x1b" not in page
    assert "&lt;b&gt;&amp;\ufffd[0m.simt" in page


def test_a_page_has_the_picture_on_request_and_every_cycle() -> None:
    found = traced()
    for picture in (True, False):
        page = render(trace_page(found, "t", "11 cycles", False, picture), "html")
        assert ("<svg" in page) == picture
        assert "11 cycles" in page
        assert page.count("<tr role=") == 1 + len(found.rows)
    assert "<table" not in render(trace_page(None, "t", "11 cycles", False, True), "html")


def test_too_much_to_keep_or_to_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    found = traced()
    monkeypatch.setattr(report, "DRAWN", 14)
    with pytest.raises(OptionProblem, match="more than 14 bars"):
        trace_svg(found, "t")
    monkeypatch.setattr(report, "MOST", 21)
    with pytest.raises(OptionProblem, match="more than 21 states"):
        traced()


def test_nothing_that_happened_is_a_picture_too() -> None:
    empty = Trace(traced().program, 2)
    assert bars(trace_svg(empty, "t")) == []
    assert trace_json(empty, False) == []
    assert trace_text(empty, False).split() == ["cycle", "warp", "mask", "instruction", "stalled", "at", "barrier"]


def test_memory_in_lines() -> None:
    assert memory_text({}) == ""
    cells = {**dict.fromkeys(range(9), 1), 20: -3, 100: 0.5}
    assert memory_text(cells) == "    0: 1 1 1 1 1 1 1 1\n    8: 1\n   20: -3\n  100: 0.5"
    many = memory_text(dict.fromkeys(range(0, 2000, 2), 0)).splitlines()
    assert len(many) == report.LINES + 1
    assert many[-1] == "  and 900 cells more"
