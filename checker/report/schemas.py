"""The JSON that commands print, as JSON Schema (draft 2020-12): what every key means, and that there is no other."""

from __future__ import annotations

from typing import Final

from checker.report.shapes import Schema, flag, many, maybe, number, one, real, row, table, text, whole

DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"

ANY: Final[Schema] = {}
SIZES: Final = many(whole(), "x, y, z")
TEXTS: Final = many(text())
ASSUMED: Final = many(text(), "all that the result rests on besides the derivation, as sentences")
VERDICT: Final = one(
    *("certified", "solver-backed", "holey", "not-proved", "refuted", "unsupported"),
    *("crashed", "timeout", "out of memory", "not run"),
)
PER: Final = one("warp", "block", "grid", "span", told="what the bound is on")
PLACE: Final = row({"file": maybe(text()), "line": whole(), "column": whole()})
DIGEST: Final = text("sha256 of the certificate")
RUN: Final = row(
    {"args": table(ANY), "arrays": table(ANY), "block": SIZES, "grid": SIZES, "cost": number(), "bound": number()},
    run=text("the command that shows it"),
    told="a run, and what it costs beside the bound",
)
BACKED: Final = many(
    row(
        {
            "place": maybe(PLACE),
            "engine": text("who decided it"),
            "fact": text("what the second checker did not verify"),
            "known": text("what is known there of the same variables"),
            "advice": maybe(text("what would have it verified")),
        }
    ),
    "what a solver-backed claim rests on, in words",
)

SHARES: Final = row(
    {
        "of": number("the bound of which they are"),
        "block": maybe(SIZES),
        "warp": maybe(whole()),
        "lines": many(
            row({"file": maybe(text()), "line": maybe(whole()), "spent": number(), "paid": number("by the run")})
        ),
    },
    told="the parts of the bound that lines take, in the dearest run found; of one warp, or of all",
)

BOUNDED: Final = row(
    {
        "kernel": text("the kernel, or the instance of a template: k<float, 256>"),
        "metric": text(),
        "per": PER,
        "bound": maybe(text("the bound as a formula")),
        "verdict": VERDICT,
        "value": maybe(number("the bound at --at")),
        "assumptions": ASSUMED,
        "certificate": maybe(DIGEST),
        "seconds": real(),
        "claim": maybe(text("the claim as a sentence")),
    },
    witness=RUN,
    exact=flag("whether the run reaches the bound"),
    shares=maybe(SHARES),
    problem=maybe(text("why there is no bound")),
    engines=many(text(), "the solvers whose word it rests on"),
    solver_backed=many(text(), "the side conditions that rest on it"),
    backed=BACKED,
    line=maybe(whole()),
    file=text(),
    lines=many(ANY, "what each line costs"),
    cached=flag("whether a certificate was at hand"),
    since=maybe(text("when it was found, where nothing has changed since: this run judged nothing of it")),
)

ON_TRIAL: Final = row(
    {
        "kernel": text(),
        "metric": text(),
        "per": one("warp"),
        "verdict": one("on-trial", "not-proved", "refuted", told="none of them certifies anything"),
        "certifies": {"const": False},
        "rules": text("the file of the rules on trial"),
        "bound": maybe(text("the bound by them, as a formula")),
        "sound": maybe(text("the bound by the sound rules alone")),
        "lower": flag("whether the rules on trial give a lower one"),
        "value": maybe(number("the bound at --at")),
        "sound_value": maybe(number("that by the sound rules there")),
        "used": many(row({"rule": text(), "line": maybe(whole()), "column": maybe(whole()), "times": whole()})),
        "refused": many(
            row({"rule": text(), "line": maybe(whole()), "column": maybe(whole()), "reason": text()}),
            "where the kernel refused a rule, and the sound ones are used",
        ),
        "witness": maybe(RUN),
        "run": maybe(text("the command that runs the witness")),
        "problem": maybe(text("why there is no bound")),
        "assumptions": ASSUMED,
    },
    told="a bound by rules on trial (--rules)",
)

NODE: Final = row(
    {
        "level": whole("0 for the root"),
        "rule": text(),
        "line": maybe(whole()),
        "column": maybe(whole()),
        "judgement": text(),
        "hidden": whole("applications above it that are not in the tree"),
        "refused": flag("whether a checker stopped here"),
    }
)

REFUSED: Final = row(
    {
        "rule": maybe(text()),
        "path": many(whole(), "the numbers of premises from the root to the application"),
        "line": maybe(whole()),
        "column": maybe(whole()),
        "reason": text(),
        "expected": maybe(text()),
        "got": maybe(text()),
        "witness": maybe(table(ANY, "a state that refutes it")),
        "run": maybe(table(ANY, "a run that refutes it")),
        "advice": maybe(text()),
    }
)

MADE: Final = row(
    {
        "tools": table(text(), "the versions of the tools that wrote it"),
        "source": maybe(text("sha256 of the source that it was made of")),
        "options": many(text(), "with which that was read"),
        "head": maybe(text("the kernel's head as that has it")),
    },
    told="what a certificate says of its making, which no checker judges",
)

_WHERE: Final[Schema] = {"file": maybe(text()), "line": maybe(whole()), "column": maybe(whole())}
_NOTES: Final = many(text(), "what is said of it")
_REPORTED: Final[dict[str, Schema]] = {
    "file": text(),
    "digest": DIGEST,
    "kernel": text(),
    "metric": text(),
    "counts": text("what the metric counts"),
    "custom": many(text(), "what of metric and hardware is not built in"),
    "per": PER,
    "block": text(),
    "grid": text(),
    "hardware": text(),
    "bound": maybe(text()),
    "claim": maybe(text("the claim as a sentence")),
    "value": maybe(number("the bound at --at")),
    "missing": many(text(), "parameters that --at lacks"),
    "at": maybe(table(whole(), "the part of --at that is about this kernel")),
    "verdict": one(
        "rejected",
        "vacuous",
        "crashed",
        "out-of-memory",
        "timeout",
        "not-proved",
        "holey",
        "solver-backed",
        "certified",
    ),
    "problem": maybe(text("why it does not prove its claim")),
    "explanation": maybe(text("the rule that fails as it is applied, in lines, and what shows that")),
    "second_checker": maybe(one("valid", "solver-backed", "vacuous", "invalid")),
    "second_claim": maybe(text("the claim as the second checker reads it")),
    "solver_backed": TEXTS,
    "backed": BACKED,
    "assumptions": ASSUMED,
    "admitted": many(whole(), "the barriers that are assumed to be reached by whole blocks, from 0 in program order"),
    "side_conditions": table(table(whole()), "how many, by kind and engine"),
    "made": maybe(MADE),
    "source": maybe(
        row({"file": text(), "same": flag(), "difference": text(), "unchanged": maybe(flag("since it was made"))})
    ),
    "launches": many(row({"block": text(), "grid": text(), "covered": flag("whether a certificate speaks of it")})),
    "warnings": TEXTS,
    "accesses": many(row(_WHERE | {"access": text(), "most": text("what one execution counts at most")})),
    "turns": many(row(_WHERE | {"rule": text(), "told": _NOTES}), "loops and branches"),
    "shares": maybe(SHARES),
    "listing_of": maybe(text("the file of the listing")),
    "listing": many(row({"line": maybe(whole("null for a gap")), "text": text(), "notes": _NOTES})),
    "apart": many(row(_WHERE | {"told": _NOTES}), "places that are in no line of the listing"),
}

_SIDE: Final = row({"file": text(), "digest": DIGEST, "bound": maybe(text())})
_COMPARED: Final = row(
    {
        "kernel": text(),
        "metric": text(),
        "old": _SIDE,
        "new": _SIDE,
        "change": one("same", "lower", "not higher", "grew", "unclear"),
        "engine": maybe(text("whose word that is")),
        "at": maybe(table(whole(), "a point that shows it")),
        "before": maybe(number()),
        "after": maybe(number()),
        "added": many(text(), "what it rests on and did not"),
        "dropped": TEXTS,
        "worse": flag(),
    }
)

CHECKED: Final[Schema] = {
    "verdict": one("accepted", "rejected", "vacuous", "not-proved"),
    "judgement": maybe(text()),
    "claim": maybe(text()),
    "rules": text("the rule set"),
    "certifies": flag("whether these rules certify anything"),
    "obligations": many(
        row({"kind": text(), "claim": text(), "verdict": text(), "engine": text(), "seconds": real()}),
        "the side conditions that were proved",
    ),
    "second_checker": maybe(one("valid", "solver-backed", "vacuous", "invalid")),
    "solver_backed": TEXTS,
    "backed": BACKED,
    "warnings": TEXTS,
    "admitted": many(whole(), "the barriers that are assumed to be reached by whole blocks, from 0 in program order"),
    "assumptions": ASSUMED,
    "made": maybe(MADE),
    "error": maybe(REFUSED),
}
UNREAD: Final = row(
    {"file": text(), "verdict": one("unreadable", "invalid", "timeout", "out of memory", "crashed"), "problem": text()},
    told="a file without an answer",
)

RECHECKED: Final = {
    "verdict": one("valid", "solver-backed", "vacuous", "invalid", "unreadable"),
    "claim": text("verified only where the verdict is valid"),
    "digest": text(),
    "solver_backed": TEXTS,
    "problem": text(),
    "reading": many(text(), "what the certificate says of its source, which the second checker does not check"),
}

SHOWN: Final = row(
    {
        "file": text(),
        "kernel": text(),
        "metric": text(),
        "claim": text("as the second checker words it; empty where there is none"),
        "verdict": one("valid", "solver-backed", "vacuous", "invalid", "unchecked", told="the second checker's word"),
        "problem": text(),
        "solver_backed": TEXTS,
        "assumptions": ASSUMED,
        "program": text("the program that it is about, as CUDA-like text"),
        "rules": text(),
        "applications": whole("of rules in the derivation"),
        "digest": text(),
        "made": MADE,
    }
)

COSTS: Final = table(number(), "amounts by metric")

INSTRUCTION: Final = row(
    {
        "line": whole("of the PTX text"),
        "opcode": text(),
        "array": text(),
        "space": one("global", "shared", "local"),
        "width": whole("bytes of a lane"),
        "most": whole("what one execution costs at most in the run"),
        "executions": whole(),
        "cost": whole(),
    }
)
"""A memory instruction of compiled code, in a run."""

ACCESS: Final = {
    "file": text(),
    "line": whole(),
    "column": whole(),
    "kind": one("load", "store"),
    "array": text(),
    "space": one("global", "shared"),
}
"""Where an access stands, and to what."""

_REMEDY: Final = row(
    {
        "remedy": text(),
        "counts": one("lines", "conflicts"),
        "before": whole("what an access needs at most; all of `accesses` together"),
        "after": whole("what it needs at most then; the one that is made of them"),
        "accesses": whole("how many it makes one of"),
        "verdict": text("`certified` where both checkers accept both certificates"),
        "problem": maybe(text("why it is not certified")),
        "bound_before": maybe(text("on what a warp needs")),
        "bound_after": maybe(text()),
        "assumes": many(text(), "what has to hold for the program to compute the same"),
    }
)

COALESCED: Final[dict[str, Schema]] = {
    "kernel": text(),
    "domain": one("exact", "gpudrano"),
    "threshold": one("fewest", "paper"),
    "accesses": many(
        row(
            {
                **ACCESS,
                "access": text(),
                "verdict": one("coalesced", "misaligned", "uncoalesced", "conflict-free", "conflicting", "unknown"),
                "transactions": maybe(whole("the most lines of one access, or turns of a bank")),
                "fewest": maybe(whole("the fewest that the same lanes could need")),
                "lanes": maybe(whole()),
                "exact": maybe(text()),
                "gpudrano": maybe(text()),
                "confirmed": maybe(flag("whether a run shows it")),
                "reason": text(),
                "advice": maybe(text("the best of the remedies")),
                "remedies": many(_REMEDY, "what mends it, certified"),
                "tried": many(_REMEDY, "what seemed to help when it was tried, and is not proved to: no advice"),
                "share": maybe(number("of all transactions")),
                "depth": maybe(whole("of loops around it")),
                "observed": maybe(table(ANY, "what it did in the run")),
            }
        )
    ),
    "shares": text("what the shares are of"),
    "assumptions": TEXTS,
}

SCHEMAS: Final[dict[str, Schema]] = {
    "bound": row(
        {"results": many({"anyOf": [BOUNDED, ON_TRIAL]})},
        summary=table(ANY, "kernels by their worst verdicts"),
        budgets=many(table(ANY), "the budgets of the configuration"),
        told="bounds, a row a kernel and metric",
    ),
    "check": {
        "anyOf": [
            row(CHECKED, tree=many(NODE, "with --tree: the applications, each before its premises")),
            row(
                {"verdict": text("the worst"), "results": many({"anyOf": [row({"file": text(), **CHECKED}), UNREAD]})},
                told="of several files",
            ),
        ]
    },
    "recheck": {
        "anyOf": [row(RECHECKED), row({"verdict": text(), "results": many(row({"file": text(), **RECHECKED}))})]
    },
    "show": {"anyOf": [SHOWN, row({"results": many(SHOWN)})]},
    "run": row(
        {
            "kernel": text(),
            "totals": maybe(COSTS),
            "max_per_warp": maybe(COSTS),
            "work": maybe(COSTS),
            "span": maybe(COSTS),
            "engine": maybe(text()),
            "seconds": real(),
        },
        lines=many(row({"file": text(), "line": whole(), "executions": whole(), "totals": COSTS}), "with --by-line"),
        error=row({"reason": text(), "places": many(PLACE)}, block=maybe(SIZES)),
        zeros=many(text(), "arrays that are read, and of which no --array says what they hold"),
        time_bound=number("of the parallel semantics (Theorem 2)"),
        out_of_bounds=many(row({"place": maybe(PLACE), "access": text()}), "accesses outside of arrays, one a place"),
    ),
    "contracts": row(
        {
            "contracts": many(
                row(
                    {
                        "text": text(),
                        "verdict": one("kept", "broken", "untested"),
                        "index": maybe(table(whole(), "the first index that breaks it")),
                    },
                    outside=text("where an array has no element that the contract speaks of there"),
                    short=table(whole(), "how many elements too few arrays have for the ranges"),
                )
            )
        }
    ),
    "coalesce": {
        "anyOf": [
            row(COALESCED),
            row(
                {
                    "results": many(
                        {
                            "anyOf": [
                                row({"file": text(), **COALESCED}),
                                row(
                                    {"file": text(), "kernel": maybe(text()), "problem": text("why there is no answer")}
                                ),
                            ]
                        }
                    ),
                    "summary": table(whole(), "files, kernels, accesses, and these by their verdicts"),
                },
                told="of several kernels",
            ),
        ]
    },
    "compiled": row(
        {
            "kernel": text(),
            "arch": text("what the compiled code is for"),
            "compiler": maybe(text("the version of nvcc; null where the compiled code was given")),
            "block": many(whole()),
            "grid": many(whole()),
            "metrics": many(
                row(
                    {
                        "metric": one("sectors", "conflicts", "divwarps"),
                        "verdict": text("on the bound of the source"),
                        "bound": maybe(text("what a warp of the source costs at most")),
                        "value": maybe(number("the bound in this launch")),
                        "run": number("what the dearest warp of the source costs"),
                        "compiled": whole("what the dearest warp of the compiled code costs"),
                        "run_total": number("all warps of the source"),
                        "compiled_total": whole("all warps of the compiled code"),
                        "exceeded": flag("whether a warp of the compiled code costs more than the bound"),
                    }
                )
            ),
            "accesses": many(
                row(
                    {
                        **ACCESS,
                        "width": whole("bytes of a lane"),
                        "became": many(
                            one(
                                *("as written", "unrolled", "made wide", "hoisted"),
                                *("repeated", "merged", "gone", "not executed"),
                            ),
                            "what became of it",
                        ),
                        "merged_with": maybe(text("the place of the access whose instructions do its work")),
                        "instructions": many(INSTRUCTION),
                        "bound": maybe(whole("what one execution costs at most, certified")),
                        "allowed": maybe(whole("what the bound allows in this run, of all that is merged with it")),
                        "run": row({"most": whole("of one execution"), "executions": whole(), "cost": whole()}),
                        "exceeded": flag("whether some warp of the compiled code pays more than the bound allows"),
                    }
                )
            ),
            "others": many(INSTRUCTION, "memory instructions that are of no access of the source"),
            "differences": many(
                row(
                    {
                        "array": text(),
                        "exact": flag("whether it has integers"),
                        "elements": whole("that differ"),
                        "of": whole("that were looked at"),
                        "index": whole("the first of them"),
                        "run": text("what the run of the source leaves there"),
                        "compiled": text("what the compiled code leaves there"),
                    }
                ),
                "arrays that the two leave different",
            ),
            "equal_without_contraction": maybe(flag("whether floats are equal with -fmad=false; null: not tried")),
            "collided": flag("whether lanes met in an atomic instruction"),
            "machine": maybe(
                row(
                    {
                        "registers": whole("of a thread"),
                        "shared": whole("bytes of static shared memory"),
                        "spilled": whole("bytes of registers that a thread stores to memory and loads again"),
                    }
                )
            ),
            "notes": TEXTS,
            "problems": TEXTS,
            "assumptions": TEXTS,
        }
    ),
    "machine": row(
        {"cycles": maybe(whole()), "trace": many(table(ANY))},
        issued=whole(),
        memory=table(ANY),
        deadlock=table(ANY),
        blocks=ANY,
    ),
    "wcet": row(
        {
            "estimate": maybe(number("cycles at most")),
            "mode": one("sound", "paper"),
            "machine": maybe(number("the cycles of the machine, where it was run")),
            "work_span": maybe(number()),
        },
        evidence=maybe(text()),
        formula=maybe(text()),
        formula_evidence=maybe(text()),
        problem=maybe(text()),
        bounds=table(ANY),
        engines=TEXTS,
        work_span_evidence=maybe(text()),
        assumptions=TEXTS,
        divergent=many(ANY),
    ),
    "predict": row(
        {
            "formula": maybe(text()),
            "milliseconds": maybe(real("an estimate")),
            "exact": maybe(number("the same")),
            "device": text(),
            "model": one("max", "sum"),
            "at": table(ANY),
            "terms": table(number()),
            "kernels": many(table(ANY)),
            "ignores": TEXTS,
        }
    ),
    "rules": many(
        row(
            {
                "name": text(),
                "premises": TEXTS,
                "side_conditions": TEXTS,
                "conclusion": text(),
                "source": text(),
                "notes": text(),
            }
        )
    ),
    "trial": row(
        {"rules": text()},
        certifies=flag(),
        examples=whole(),
        violations=whole(),
        power=maybe(table(ANY)),
        counterexample=maybe(table(ANY)),
        covered=table(ANY),
        seconds=real(),
        mutants=whole(),
        killed=whole(),
        equivalent=many(ANY),
        survived=many(ANY),
        unfinished=many(ANY),
    ),
    "suite": row(
        {"rows": many(table(ANY)), "summary": table(ANY)},
        rules=text("the file of the rules on trial (--rules)"),
        certifies={"const": False},
    ),
    "report": row(
        {
            "verdict": text("the worst of the certificates"),
            "good": flag(),
            "sources": many(row({"file": text(), "sha256": text()}), "the files of --source"),
            "reading": many(text(), "the options with which these were read"),
            "at": maybe(table(whole(), "the point of --at")),
            "certificates": many(row(_REPORTED)),
            "comparison": many(_COMPARED, "each certificate of --compare"),
        }
    ),
    "baseline": row({"format": text(), "version": whole(), "rows": many(table(ANY))}),
    "diff": row(
        {
            "rows": many(
                row(
                    {
                        "kernel": text(),
                        "metric": text(),
                        "per": PER,
                        "file": maybe(text()),
                        "line": maybe(whole()),
                        "change": text("same, grew, shrank, differs, appeared or disappeared"),
                        "old": maybe(text()),
                        "new": maybe(text()),
                        "at": maybe(table(ANY, "a point where they differ")),
                        "before": maybe(number()),
                        "after": maybe(number()),
                        "added": TEXTS,
                    }
                )
            )
        }
    ),
    "compare": row(
        {
            "rows": many(
                row(
                    {
                        "kernel": text(),
                        "metric": text(),
                        "per": PER,
                        "file": maybe(text("of the new version")),
                        "line": maybe(whole()),
                        "verdict": one(
                            *("certified", "solver-backed", "holey", "dearer", "not-known", "unsupported"),
                            told="certified: every warp of the new version costs at most the old bound",
                        ),
                        "old": maybe(text("the old bound")),
                        "new": maybe(text("the new bound")),
                        "at": maybe(table(ANY, "a point where the bounds differ")),
                        "before": maybe(number("the old bound there")),
                        "after": maybe(number("the new bound there")),
                        "run": maybe(
                            row(
                                {
                                    "block": SIZES,
                                    "grid": SIZES,
                                    "args": table(ANY),
                                    "arrays": table(text()),
                                    "before": number("the dearest warp of the old version"),
                                    "after": number("the dearest warp of the new version"),
                                    "commands": TEXTS,
                                },
                                told="a run that is dearer than before",
                            )
                        ),
                        "why": maybe(text("why it is not known")),
                        "added": many(text(), "what the new version assumes and the old one does not"),
                        "assumptions": ASSUMED,
                    }
                )
            )
        }
    ),
    "cache": row(
        {"folder": text(), "certificates": whole(), "notes": whole("of sources"), "bytes": whole()},
        sealed=whole("the notes that this user sealed: no others are used"),
        valid=whole(),
        refused=TEXTS,
        removed=whole(),
    ),
}

PROBLEM: Final = row(
    {"error": row({"message": text(), "place": maybe(PLACE), "advice": maybe(text())})}, told="exit code 2"
)


VERSION: Final = 1
"""The version of what commands print: another one where a key goes, or means something else. New keys are none."""


def schema(command: str) -> Schema:
    """The schema of what a command prints with --format json, unusable input included. Raises KeyError."""
    found: Schema = {"$schema": DRAFT, "title": f"warpbound {command} --format json"}
    return found | {"anyOf": [_versioned(SCHEMAS[command]), _versioned(PROBLEM)]}


def _versioned(found: Schema) -> Schema:
    """The schema of an object with the version; lists, and what has a version of its own, have none."""
    if "anyOf" in found:
        return found | {"anyOf": [_versioned(one) for one in found["anyOf"]]}
    if found.get("type") != "object" or "version" in found["properties"]:
        return found
    own = {"version": {"const": VERSION, "description": "of the keys and what they mean"}}
    return found | {"properties": own | found["properties"], "required": ["version", *found["required"]]}
