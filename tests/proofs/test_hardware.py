"""docs/hardware.md says what runs say, and the figures that have to be exact are."""

from __future__ import annotations

from fractions import Fraction

import pytest

from proofs.hardware import PAGE, Row, Table, page, section, simulate, source_and_tables

SOURCE, TABLES = source_and_tables()
SLOW = ("matMulBad", "histogram256")
FAST = ("vectorAdd", "reduce0", "reduce1", "reduce2", "reduce3")


def name_of(table: Table) -> str:
    return f"{table.kernel}-{table.metric}"


def said(table: Table) -> list[Row]:
    """The rows of a table in docs/hardware.md."""
    text = PAGE.read_text(encoding="utf-8").partition(f"## {table.kernel}, {table.metric}\n")[2].partition("\n## ")[0]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")][
        2:
    ]
    shown = [int(cell[-2].replace(",", "")) for cell in cells]
    return [
        Row(table.kernel, table.metric, key, counted, Fraction(simulated))
        for (key, counted), simulated in zip(table.counted, shown, strict=True)
    ]


def test_the_page_is_made_of_the_figures() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(SOURCE, [section(t, said(t)) for t in TABLES])
    assert sum(len(t.counted) for t in TABLES) >= 80


@pytest.mark.parametrize("table", [t for t in TABLES if t.kernel not in SLOW], ids=name_of)
def test_a_run_pays_what_the_page_says(table: Table) -> None:
    rows = said(table)[:3] if table.kernel in FAST else said(table)[:1]
    for row in rows:
        assert simulate(row.kernel, row.key).totals[row.metric] == row.simulated


def allowed(row: Row) -> Fraction:
    """The most that a row may be off, to either side."""
    aligned = row.key[0] in range(0, 2**25, 32)
    match row.kernel, row.metric:
        case "histogram256", "conflicts":
            return Fraction("random" in row.key, 1000)
        case ("matMulBad", _):
            return Fraction(2, 1000)
        case ("matMul" | "matMulTrans", "sectors"):
            return Fraction(2, 1000) if aligned else Fraction(1, 10)
        case ("addSub0" | "addSub1", _):
            return Fraction(3, 100)
        case ("addSub2" | "addSub3", _):
            return Fraction(0 if aligned else 1, 10)
    return Fraction(0)


@pytest.mark.parametrize("table", TABLES, ids=name_of)
def test_how_close_the_semantics_is(table: Table) -> None:
    for row in said(table):
        assert abs(row.error) <= allowed(row)
        assert table.why or row.error == 0


def test_histograms_follow_the_law_of_the_counts() -> None:
    """7 conflicts an access in the worst case, 8 accesses a word; a partial histogram of 32 sectors a block."""
    words = 2**17
    for data in ("worst", "random"):
        totals = simulate("histogram256", (words, data)).totals
        assert totals["sectors"] == words // 8 + 240 * 32
        if data == "worst":
            assert totals["conflicts"] == words // 32 * 8 * 7
    counted = {(t.metric, *key): count for t in TABLES if t.kernel == "histogram256" for key, count in t.counted}
    assert counted["conflicts", 2**24, "worst"] == 2**24 // 32 * 8 * 7
    assert counted["sectors", 2**24, "worst"] == counted["sectors", 2**24, "random"] == 2**24 // 8 + 240 * 32


def test_bad_products_pay_13_sectors_an_iteration() -> None:
    assert simulate("matMulBad", (64,)).totals["sectors"] == 4 * 32 * 13 * 64
    (table,) = (t for t in TABLES if t.kernel == "matMulBad")
    assert all(row.simulated == (n // 32) ** 2 * 32 * 13 * n for row in said(table) if (n := int(row.key[0])) % 32 == 0)
