"""docs/compiled.md says what `warpbound compiled` says."""

from __future__ import annotations

import re
import shutil

import pytest

from proofs.compiled import ARCHITECTURES, LAUNCHES, PAGE, ROOT, measured, page, table

TEXT = PAGE.read_text(encoding="utf-8")


def rows(title: str) -> dict[str, list[str]]:
    """The rows of the table under a heading, by their first cell."""
    section = TEXT.partition(f"### {title}\n")[2].partition("\n### ")[0]
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("| ")]
    return {re.sub(r"\[(\w+)\].*", r"\1", row[0]): row[1:] for row in cells[1:]}


def test_every_kernel_of_cuda_is_on_the_page() -> None:
    assert LAUNCHES.keys() == {path.parent.name for path in ROOT.glob("*/kernel.cu")}
    for name, words in LAUNCHES.items():
        assert f"    {name:16}{words}\n" in TEXT


def test_no_bound_is_below_the_run() -> None:
    for title in (
        "Sectors of the dearest warp",
        "Conflicts of the dearest warp",
        "Divergent branches of the dearest warp",
    ):
        found = rows(title)
        assert found
        for name, (bound, run, *compiled) in found.items():
            assert bound == "unknown" or int(bound) >= int(run), name
            for cell in compiled[::2]:
                beyond = cell.startswith("**")
                assert cell == "-" or bound == "unknown" or (int(cell.strip("*")) > int(bound)) == beyond, name


def test_what_is_exceeded_is_listed() -> None:
    bold = {
        name
        for title in ("Sectors", "Conflicts")
        for name, row in rows(f"{title} of the dearest warp").items()
        if "**" in "".join(row)
    }
    told = TEXT.partition("do not cover the compiled code.**")[2].partition("### ")[0]
    assert {name for name in LAUNCHES if f"- {name}, sectors" in told or f"- {name}, conflicts" in told} == bold


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="not here: nvcc")
def test_a_row_made_anew() -> None:
    found = list(measured(["vectorAdd"], ARCHITECTURES))
    (row,) = table(found, "sectors").splitlines()[2:]
    assert row in TEXT
    assert not re.search(r"\{[A-Z_]+\}", page(found))
