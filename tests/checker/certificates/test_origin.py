"""What a certificate says of the source that it was made of: written, read, printed without the source, and bounded."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import pytest

from checker.certificates import document
from checker.certificates.origin import LONGEST, MOST, SAID, Origin, as_json, of_json, origin
from checker.cli import main
from checker.recheck import recheck
from logic.source import Loc

ROOT = Path(__file__).resolve().parents[3] / "proofs"
Capture = pytest.CaptureFixture[str]

SOURCE: Final = """#include "nowhere.h"
template <int N>
__global__ void k(float *out,
                  const float *in, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { float v = __shfl_down_sync(~0u, in[i * N], 1); atomicAdd(&out[i], v); }
}
"""

ASSUMED: Final = (
    "the header 'nowhere.h' was not found and is taken as empty",
    "for bounds __shfl_down_sync may give any value at each lane",
    "atomicAdd is a read and a write of one lock-step instruction: collisions of lanes are not counted",
    "given, as unsigned values wrap around if not: 3 * n <= 4294967298",
    "no signed overflow, also where a sum of ints and unsigned sizes is converted to int",
    "every array starts at a multiple of 256 bytes",
    "cost is as the lock-step semantics defines it: no caches, compiled code does what the source says",
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("origin")
    source, path = folder / "k.cu", folder / "k.json"
    source.write_text(SOURCE)
    words = ["bound", str(source), "--metric", "sectors", "--block", "32", "--instantiate", "k<3>", "-DA=1"]
    assert main([*words, "--certificate", str(path)]) == 0
    source.unlink()
    return path


@pytest.mark.parametrize("command", ["check", "recheck", "report", "show"])
def test_commands_say_it_without_the_source(command: str, made: Path, capsys: Capture) -> None:
    assert main([command, str(made)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    for told in (
        *ASSUMED,
        f"{SAID}{'' if command != 'recheck' else 'assumed: '}{ASSUMED[0]}",
        "-DA=1",
        "--instantiate=k<3>",
        "k(float *out, const float *in, unsigned n)",
    ):
        assert " ".join(told.split()) in text, told
    assert f"sha256:{sha256(SOURCE.encode()).hexdigest()}" in text
    assert command == "recheck" or "made by warpbound 0.1.0 with cvc5 " in text
    assert command == "recheck" or text.count(ASSUMED[-1]) == 1


def test_as_json(made: Path, capsys: Capture) -> None:
    for command, code in {"check": 0, "show": 0, "report": 0}.items():
        assert main([command, str(made), "--format", "json"]) == code
        whole: Any = json.loads(capsys.readouterr().out)
        row = whole["certificates"][0] if command == "report" else whole
        assert {f"{SAID}{text}" for text in ASSUMED[:4]} | {*ASSUMED[4:]} <= set(row["assumptions"])
        assert row["made"]["options"] == ["-DA=1", "--instantiate=k<3>"]
        assert row["made"]["head"] == "k(float *out, const float *in, unsigned n)"
    assert main(["recheck", str(made), "--format", "json"]) == 0
    read = json.loads(capsys.readouterr().out)["reading"]
    assert {f"assumed: {text}" for text in ASSUMED} <= set(read)


def test_whether_the_source_was_changed(made: Path, tmp_path: Path, capsys: Capture) -> None:
    source = tmp_path / "k.cu"
    for text, told in ((SOURCE, "and is the file that the certificate was made of"), (f"{SOURCE}\n", "changed since")):
        source.write_text(text)
        assert main(["report", str(made), "--source", str(source), "--instantiate", "k<3>", "-DA=1"]) == 0
        assert told in " ".join(capsys.readouterr().out.split())


def signed(path: Path, change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """A certificate with another `reading`, signed again."""
    made: dict[str, Any] = json.loads(path.read_text())
    change(made["reading"])
    return made | {"digest": document.digest(made)}


WRONG: Final[dict[str, Callable[[dict[str, Any]], object]]] = {
    "a line of its own": lambda r: r["assumed"].append("nothing\nvalid"),
    "no ASCII": lambda r: r.update(head="k(\u0456nt n)"),
    "too long": lambda r: r["options"].append("x" * (LONGEST + 1)),
    "empty": lambda r: r.update(source=""),
    "no text": lambda r: r["assumed"].append(1),
    "too many": lambda r: r["options"].extend(["-DX"] * 2 * MOST),
    "no list": lambda r: r.update(assumed="nothing"),
    "another field": lambda r: r.update(claim="valid"),
    "a field that is not there": lambda r: r.pop("head"),
}


@pytest.mark.parametrize("change", WRONG.values(), ids=list(WRONG))
def test_both_checkers_refuse(change: Callable[[dict[str, Any]], object], made: Path) -> None:
    other = signed(made, change)
    found = recheck(other)
    assert (found.verdict, found.claim, found.reading) == ("invalid", "", ())
    assert "reading" in found.problem
    with pytest.raises(document.BadCertificate):
        document.read(json.dumps(other), "x.json")


def test_nothing_rests_on_it(made: Path) -> None:
    kept = json.loads(made.read_text())
    without = {name: value for name, value in kept.items() if name != "reading"}
    bare = recheck(without | {"digest": document.digest(without)})
    full = recheck(kept)
    assert (bare.verdict, bare.claim, bare.reading) == ("valid", full.claim, ())
    assert recheck(without | {"digest": kept["digest"]}).problem == "the digest is not that of the content"


def test_more_that_is_assumed_is_worse(made: Path, tmp_path: Path, capsys: Capture) -> None:
    paths = [tmp_path / name for name in ("more.json", "less.json")]
    paths[0].write_text(made.read_text())
    paths[1].write_text(json.dumps(signed(made, lambda r: r["assumed"].remove(ASSUMED[0]))))
    more, less = map(str, paths)
    assert main(["report", less, "--compare", more]) == 0
    assert f"no longer rests on: {ASSUMED[0]}" in " ".join(capsys.readouterr().out.split())
    assert main(["report", more, "--compare", less]) == 1
    assert f"rests on more: {ASSUMED[0]}" in " ".join(capsys.readouterr().out.split())


def test_texts_are_cut_and_escaped() -> None:
    lines = ["void k(int a, //", f"  float (*f)(int), int {'b' * 1000});"]
    found = origin(b"x", ["-D\u0456"], Loc("x", 1, 6), lines, ["two\nlines", "y" * 2000])
    assert found.options == ("-D\\u0456",)
    assert found.head.startswith("k(int a, // float (*f)(int), int bbb")
    assert found.head.endswith("...")
    assert [len(text) for text in (found.head, *found.assumed)] == [LONGEST, 9, LONGEST]
    assert of_json(as_json(found)) == found
    assert origin(b"", [], None, [], []).head == origin(b"", [], Loc("x", 2, 1), ["k"], []).head == "unknown"
    assert origin(b"", [], Loc("x", 1, 1), ["k {", "f(1)"], []).head == "unknown"


@pytest.mark.parametrize("name", ["vectorAdd", "histogramShared"])
def test_kept_certificates_say_it_where_reading_assumed_something(name: str) -> None:
    read = document.read((ROOT / name / "steps.json").read_text(), "x.json").origin
    assert (read is None) == (name == "vectorAdd")
    if read is not None:
        assert isinstance(read, Origin)
        assert read.source == f"sha256:{sha256((ROOT / name / 'kernel.cu').read_bytes()).hexdigest()}"
        assert ASSUMED[2] in read.assumed
