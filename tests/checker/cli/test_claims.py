"""What a claim says, and that it says nothing, in the same words from every command."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from checker.certificates.document import canonical, digest
from checker.cli import main
from tests.examples import LONG

VECTOR = Path(__file__).resolve().parents[3] / "proofs/vectorAdd"
Capture = pytest.CaptureFixture[str]

pytestmark = pytest.mark.usefixtures("audits_once", "bounds_once")
FORMS = ("text", "html", "markdown", "sarif", "json")


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("numElements", 5, 5), ("blockDim.x", 32, 300)],
    ids=["each other", "the launch"],
)
def test_vacuous_certificates_are_called_so_by_all(
    name: str, low: int, high: int, tmp_path: Path, capsys: Capture
) -> None:
    """The claim of no launch: the same word and exit code from `check`, `recheck` and `report`."""
    document = json.loads((VECTOR / "sectors.json").read_text())
    parameter = ["param", name]
    number = [["const", ["int", "int", 4], n] for n in (low, high)]
    document["launch"]["assumptions"] = [["op", "<", parameter, number[0]], ["op", ">", parameter, number[1]]]
    path = tmp_path / "vacuous.json"
    path.write_text(canonical(document | {"digest": digest(document)}))
    for command in ("check", "recheck", "report"):
        assert main([command, str(path)]) == 1
        out = capsys.readouterr().out
        assert "vacuous" in out
        assert "accepted:" not in out
        assert main([command, str(path), "--format", "json"]) == 1
        assert json.loads(capsys.readouterr().out)["verdict"] == "vacuous"
        assert main([command, str(path), "--format", "sarif"]) == 1
        (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
        assert (result["ruleId"], result["level"]) == ("vacuous", "error")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--scope", "block"), "the span of a block of one is at most 4 sectors"),
        (("--per", "block"), "the warps of a block of one together cost at most 8 sectors"),
        (("--per", "grid"), "all warps of a grid of one together cost at most 16 sectors"),
        ((), "every warp of one costs at most 4 sectors"),
    ],
)
def test_what_a_certificate_claims_is_said_by_all(
    words: tuple[str, ...], said: str, tmp_path: Path, capsys: Capture
) -> None:
    source, path = tmp_path / "one.cu", str(tmp_path / "c.json")
    source.write_text("__global__ void one(int *A) { A[threadIdx.x] = 1; }")
    bounding = ["bound", str(source), "--metric", "sectors", "--block", "64", "--grid", "2", *words]
    bounding += ["--certificate", path]
    assert main(bounding) == 0
    assert capsys.readouterr().out.startswith(f"one, {said.partition(' of one')[0]} (")
    assert main([*bounding, "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["results"]
    assert row["claim"].startswith(said)
    for command in ("check", "recheck"):
        assert main([command, path]) == 0
        assert (
            capsys.readouterr()
            .out.split("\n")[command == "recheck"]
            .strip()
            .removeprefix("accepted: ")
            .startswith(said)
        )
    assert main(["report", path]) == 0
    assert f"  {said.partition(' of one')[0]}  <= " in capsys.readouterr().out
    assert main(["report", path, "--format", "sarif"]) == 0
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert result["message"]["text"].startswith(said)


# --- names ------------------------------------------------------------------------------------------------------------

FREE: dict[str, Any] = {"fixed": {}, "counted": {}}


def forged(path: Path, where: tuple[Any, ...], value: Any) -> str:
    """vectorAdd's certificate for conflicts, of which it has none, with something else in a place; signed."""
    document = json.loads((VECTOR / "conflicts.json").read_text())
    inner = document
    for key in where[:-1]:
        inner = inner[key]
    inner[where[-1]] = value
    path.write_text(canonical(document | {"digest": digest(document)}))
    return str(path)


@pytest.mark.parametrize("name", ["Sectors", "SECTORS", "sectors.", "sect0rs", "conflict", "custom", "nvidia"])
def test_a_metric_of_ones_own_is_called_so(name: str, tmp_path: Path, capsys: Capture) -> None:
    """Without prices all is free, whatever it is called."""
    path = forged(tmp_path / "c.json", ("metric",), FREE | {"name": name})
    said = f"every warp of vectorAdd costs at most 0 of the custom metric {name} (all is free)"
    for command in (("check", path), ("recheck", path)):
        assert main([*command]) == 0
        assert said in capsys.readouterr().out
    for form in ("text", "markdown", "html", "sarif", "json"):
        assert main(["report", path, "--source", str(VECTOR / "kernel.cu"), "--format", form]) == 0
        out = capsys.readouterr().out
        assert f"custom metric {name} " in out
        assert f"custom {name}" in out or form in ("sarif", "json")
    for form in ("markdown", "html", "json"):
        assert main(["check", path, "--format", form]) == 0
        assert "custom metric" in capsys.readouterr().out


def test_tables_call_a_metric_of_ones_own_so(tmp_path: Path, capsys: Capture) -> None:
    """Where a metric is told by its name alone, too; text that machines read has the name as it is."""
    prices, source = tmp_path / "Sectors.toml", str(VECTOR / "kernel.cu")
    prices.write_text('name = "Sectors"\n')
    many = ["bound", source, str(VECTOR), "--no-cache", "--metric", str(prices), "--block", "32"]
    two = ["compare", source, source, "--metric", str(prices), "--block", "32"]
    for command in (many, two):
        for form in ("text", "markdown", "html"):
            main([*command, "--format", form])
            out = capsys.readouterr().out
            assert re.search(r"\bcustom (<[^>]*>)*Sectors\b", out), out
            assert not re.search(r"^\s*Sectors\b|\| Sectors\b", out, re.MULTILINE), out


@pytest.mark.parametrize(
    ("where", "value"),
    [
        *(
            (("metric",), FREE | {"name": name})
            for name in (
                "sectors",
                "conflicts",
                "sect\u03bfrs",
                "sectors ",
                " sectors",
                "sectors\n",
                "\x1b[2Ksectors",
                "",
            )
        ),
        *((("metric",), FREE | {"name": name}) for name in ("sectors a warp", "sectors<b>", "s\u200bectors", "x" * 99)),
        (("hardware", "sector"), 64),
        (("hardware", "name"), "nvid\u0456a"),
        (("hardware", "name"), "nvidia\r"),
    ],
)
def test_no_name_looks_like_a_known_one(where: tuple[Any, ...], value: Any, tmp_path: Path, capsys: Capture) -> None:
    """Refused by all that read it: a known name with other prices or sizes, and letters that look like others."""
    path = forged(tmp_path / "c.json", where, value)
    for command in ("check", "recheck", "report"):
        assert main([command, path]) == 3
        printed = capsys.readouterr()
        assert (printed.out + printed.err).replace("\n", "").isascii()
        assert (printed.out + printed.err).replace("\n", "").isprintable()


WRONG = {"digest": 3, "bound": 3, "version": 3, "torn": 3, "evidence": 3, "other": 2, "list": 2, "text": 2}
"""Exit codes for what is wrong: what was changed is invalid, with its own digest or another one; what is no certificate
cannot be used."""


def wrong(name: str, folder: Path) -> str:
    """A file in which that is wrong."""
    document = json.loads((VECTOR / "sectors.json").read_text())
    bound = document | {"potentials": [[["11", []]] if row == [["12", []]] else row for row in document["potentials"]]}
    found = {
        "digest": document | {"digest": f"sha256:{0:064}"},
        "bound": bound,
        "version": document | {"version": 99},
        "torn": {key: value for key, value in document.items() if key != "kernel"},
        "evidence": document | {"evidence": []},
        "other": {},
        "list": [],
        "text": "text",
    }[name]
    if WRONG[name] == 3 and name != "digest":
        found |= {"digest": digest(found)}
    assert found != document
    path = folder / f"{name}.json"
    path.write_text(json.dumps(found))
    return str(path)


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_with_a_certificate_has_one_exit_code_everywhere(
    name: str, tmp_path: Path, capsys: Capture
) -> None:
    path, code = wrong(name, tmp_path), WRONG[name]
    for command in ("check", "recheck", "report", "show"):
        for more in ((), ("--format", "json")):
            assert main([command, path, *more]) == code, command
            printed = capsys.readouterr()
            assert "costs at most" not in printed.out
            assert "accepted" not in printed.out
    assert main(["report", str(VECTOR / "sectors.json"), "--compare", path]) == code
    assert "costs at most" not in capsys.readouterr().out
    assert main(["check", path, "--format", "sarif"]) == code
    (told,) = json.loads(capsys.readouterr().out)["runs"][0]["tool"]["driver"]["rules"]
    assert told["id"] == ("unusable" if code == 2 else "rejected" if name in ("bound", "evidence") else "invalid")


@pytest.mark.parametrize("code", [3, 2])
def test_what_is_wrong_with_several_is_told_of_each(code: int, tmp_path: Path, capsys: Capture) -> None:
    """In one run, which takes a process for each file."""
    paths = {wrong(name, tmp_path): name for name in WRONG if WRONG[name] == code}
    assert main(["check", *paths, str(VECTOR / "sectors.json"), "--format", "json"]) == code
    *rows, good = json.loads(capsys.readouterr().out)["results"]
    assert good["verdict"] == "accepted"
    rejected = {"bound": "rejected", "evidence": "rejected"}
    words = [rejected.get(name, "invalid") if code == 3 else "unreadable" for name in paths.values()]
    assert [row["verdict"] for row in rows] == words


def test_a_derivation_without_a_digest_is_no_certificate(tmp_path: Path, capsys: Capture) -> None:
    """`check` judges it, as what a person wrote; `show` shows it."""
    document = json.loads((VECTOR / "sectors.json").read_text())
    path = tmp_path / "c.json"
    path.write_text(json.dumps({key: value for key, value in document.items() if key != "digest"}))
    for command, code in (("check", 1), ("show", 0), ("recheck", 2), ("report", 2)):
        assert main([command, str(path)]) == code, command
        printed = capsys.readouterr()
        assert ("digest" in printed.err) == (code == 2)
    assert main(["report", str(VECTOR / "sectors.json"), "--compare", str(path)]) == 2


ESCAPE = "\x1b[31m<script>\u202e\n"


@pytest.mark.parametrize(
    "where",
    [
        ("kernel", "name"),
        ("kernel", "params", 0, 0),
        ("kernel", "params", 0, 1, 1),
        ("kernel", "arrays", 0, 0),
        ("kernel", "arrays", 0, 1),
        ("kernel", "locals", 0, 0),
        ("metric", "fixed"),
        ("hardware", "name"),
        ("launch", "assumptions"),
        ("rules",),
        ("scope",),
        ("derivation", 0, "rule"),
        ("derivation", 0, "with"),
        ("evidence", 0, "engine"),
        ("evidence", 0, "proof"),
        ("expressions", 0, 1),
        ("expressions", 1),
        ("statements", 0),
        ("version",),
        ("tools",),
        ("admitted",),
        ("ghosts",),
    ],
)
def test_nothing_of_a_certificate_can_write_on_the_terminal(
    where: tuple[Any, ...], tmp_path: Path, capsys: Capture
) -> None:
    for value in (ESCAPE, [ESCAPE], {ESCAPE: ESCAPE}, [["op", ESCAPE, ["param", ESCAPE]]]):
        path = forged(tmp_path / "c.json", where, value)
        for command in ("check", "recheck", "report"):
            for form in FORMS if LONG or value == [ESCAPE] else ("text", "json"):
                main([command, path, "--format", form])
                printed = capsys.readouterr()
                assert printed.err.replace("\n", "").isprintable()
                assert printed.out.replace("\n", "").isprintable()
                assert "\u202e" not in printed.out + printed.err
                assert "<script>" not in printed.out or form != "html"
                assert "Traceback" not in printed.err


# --- places -----------------------------------------------------------------------------------------------------------

PLACES = """__device__ int load(const int *p, int i) { return p[i] + *p; }
__global__ void k(int *A, int *B, int n) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = A[t] + load(B, t); int *q = A + 3; *q = 1; q[t] += s[63 - t];
    if (A[n] > 2) for (int i = 0; i < n; i++) B[A[i]] = s[t];
    atomicAdd(&A[t], 1);
}
"""


def test_the_columns_of_an_access_are_the_same_from_all_commands(tmp_path: Path, capsys: Capture) -> None:
    """An access begins at its own text, also the one that is written in a compound assignment or by a function."""
    source, certificate = tmp_path / "places.cu", str(tmp_path / "c.json")
    source.write_text(PLACES)
    found: dict[str, set[tuple[str, str]]] = {"bound": set(), "report": set()}
    for metric in ("sectors", "conflicts"):
        bounding = ["bound", str(source), "--metric", metric, "--block", "32", "--certificate", certificate]
        assert main([*bounding, "--explain"]) == 0
        said = capsys.readouterr().out
        assert main(["report", certificate, "--source", str(source), "--explain"]) == 0
        for command, out in (("bound", said), ("report", capsys.readouterr().out)):
            rows = re.findall(r"^ +(\d+:\d+) +(\w+)\[.*\]  .*<= \d+", out, re.MULTILINE)
            assert len(rows) == len(set(rows))
            found[command] |= set(rows)
    main(["coalesce", "--quick", str(source), "--block", "32", "--format", "json"])
    rows = json.loads(capsys.readouterr().out)["accesses"]
    coalesced = {(f"{row['line']}:{row['column']}", row["array"]) for row in rows}
    assert found["bound"] == found["report"] == coalesced
    assert {place for place, _ in coalesced} == {
        *("1:51", "1:58", "5:5", "5:12", "5:47", "5:55", "5:63", "6:9", "6:47", "6:49", "6:57", "7:5"),
    }
