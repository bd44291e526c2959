"""Queries to the solvers, as files: SMT-LIB texts, and an index of who answered what, in what time."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from checker.notation.problem import OptionProblem
from checker.oracles import Record


def write_queries(log: Iterable[Record], folder: str) -> None:
    """Writes every query of the log once, as `DIGEST.smt2`, and `index.json`.

    The index lists the questions in the order in which they came up first: the side condition, its kind, the verdict,
    the engine that gave it and the seconds that it took; and the queries that were made for it: file, digest (SHA-256
    of the file), engine with its version, answer, seconds, the time limit in seconds, and `cached` where the answer was
    at hand already. Raises OptionProblem where nothing can be written.
    """
    rows: list[dict[str, Any]] = []
    texts: dict[str, str] = {}
    seen: set[int] = set()
    for record in log:
        if id(record) in seen:  # asked again, answered from memory
            continue
        seen.add(id(record))
        for q in record.queries:
            texts[q.digest] = q.text
        rows.append(
            {
                "kind": record.kind,
                "claim": record.claim,
                "verdict": type(record.verdict).__name__.lower(),
                "engine": record.engine,
                "seconds": round(record.seconds, 6),
                "queries": [
                    {
                        "file": f"{q.digest}.smt2",
                        "digest": f"sha256:{q.digest}",
                        "engine": q.engine,
                        "answer": q.said,
                        "seconds": round(q.seconds, 6),
                        "limit": q.limit,
                        "cached": q.cached,
                    }
                    for q in record.queries
                ],
            }
        )
    try:
        there = Path(folder)
        there.mkdir(parents=True, exist_ok=True)
        for digest, text in texts.items():
            (there / f"{digest}.smt2").write_text(text, encoding="utf-8")
        (there / "index.json").write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise OptionProblem(f"--queries {folder}: {reason}", advice="Choose another folder.") from None
