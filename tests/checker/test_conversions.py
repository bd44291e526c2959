"""Conversions to int of what was loaded, or comes in wider types: C reduces them, whatever values are usual."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checker.cli import main

STORES = "for (int i = 0; i < 50; i++) A[8 * threadIdx.x + 256 * i] = 1;"
"""50 times 32 sectors."""

CASES: list[tuple[str, str, list[str], int]] = [
    # parameters, body, arguments, sectors of the one warp
    ("const unsigned short *a", "unsigned s = a[0]; int x = s * s; if (x < 0) {@}", ["--array", "a=65535,65535"], 1601),
    (
        "const unsigned *a",
        "unsigned u = a[0] & 0xffffu; int x = u * 65536u; if (x < 0) {@}",
        ["--array", "a=65535"],
        1601,
    ),
    ("const unsigned *a", "int s = a[0] & 0xffffffffu; if (s < 0) {@}", ["--array", "a=4294967295"], 1601),
    ("const unsigned *a", "int s = a[0]; if (s == -1) {@}", ["--array", "a=4294967295"], 1601),
    ("const unsigned *a", "int x = (a[0] & 0xffffu) << 16; if (x < 0) {@}", ["--array", "a=65535"], 1601),
    ("const int *a", "int x = a[0] * 65536u; if (x < 0) {@}", ["--array", "a=65535"], 1601),
    ("const int *a", "unsigned u = a[0]; int x = u * 65536u; if (x < 0) {@}", ["--array", "a=65535"], 1601),
    ("const int *a", "int v = a[0]; int x = v * 65536u; if (x < 0) {@}", ["--array", "a=65535"], 1601),
    ("const float *a", "unsigned u = a[0]; int x = u * 65536u; if (x < 0) {@}", ["--array", "a=ones"], 1),
    ("unsigned n", "int s = n; if (s < 0) {@}", ["--arg", "n=4294967295"], 1600),
    ("long long n", "int s = n; if (s < 0 && n > 0) {@}", ["--arg", "n=2147483648"], 1600),
    ("long long n", "long long s = n * n; int x = s; if (x < 1) {@}", ["--arg", "n=65536"], 1600),
]


def told(words: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    main([*words, "--metric", "sectors", "--block", "32", "--format", "json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize(("params", "body", "given", "cost"), CASES)
def test_runs_convert_and_no_bound_is_less(
    params: str, body: str, given: list[str], cost: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bound may rest on a proposition that the arguments break: it is printed."""
    path = tmp_path / "k.cu"
    path.write_text(f"__global__ void k(int *A, {params}) {{ {body.replace('@', STORES)} }}")
    ran = told(["run", str(path), "--grid", "1", *given], capsys)
    assert ran["totals"] == {"sectors": cost}
    (row,) = told(["bound", str(path)], capsys)["results"]
    excluded = [a for a in row["assumptions"] if "wrap around if not: n" in a]
    assert row["bound"] is None or excluded or int(row["bound"]) >= cost
    assert bool(excluded) == ("n" in params.split())
