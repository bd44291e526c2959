"""The limits of searches, all in one place: how far a search for a bound, for a dear run or for a mended outline goes.

None of them decides anything: whatever a search finds is judged, whatever it misses is not claimed. With a larger one
more may be found, and it takes longer (docs/limits.md, which has those of the oracles, too). Limits of oracles, that
bound the work of checkers, and of formats stand where they are read.
"""

from __future__ import annotations

from typing import Final

# --- bounds ----------------------------------------------------------------------------------------------------------

UNROLLED: Final = 32
"""Turns of a loop that is unrolled, where its counter goes through known numbers."""

FEW: Final = 4
"""Turns that a loop by a step of unknown size has at most, to be taken one by one."""

PEELED: Final = 2
"""Loops in one another whose first turns are taken apart: each writes what is inside it twice."""

MODULUS: Final = 1 << 10
"""The modulus of residues that are guessed: sectors, banks and warps are powers of two."""

ENDS: Final = 4
"""Ends of a range that are guessed for a value that an array decides."""

DEFINITION: Final = 24
"""Terms of a definition that is put in the place of a variable."""

KNOWN: Final = 24
"""Facts past which what is known of variables that are not read any more is dropped."""

FLAGGED: Final = 8
"""Facts that are kept with one flag, where two ways meet."""

RELAXED: Final = 16
"""Polynomials that one potential is known to be at most."""

TURNS: Final = 32
"""Branches that a search for a bound looks at, and terms of that bound that it looks at where they begin to count."""

SHARPER: Final = 8
"""Base functions that branches add to the heads of loops in a search for a sharper bound, twice as many where copies of
a loop add the same: it takes long with more."""

FACTORS: Final = 24
"""Nonnegative factors that facts are multiplied by, for potentials that are products."""

NAMES: Final = 8
"""Ghosts for values before assignments: each makes the proof longer by the program."""

VALUE: Final = 256
"""Terms of a value that ghosts take apart."""

ZONES: Final = 4
"""Branches that are proved before, in and behind the turns in which they part lanes: each is written thrice."""

PARTED: Final = 4
"""Parts of a block's warps that are proved one by one, where branches tell them apart."""

RANGES: Final = 12
"""Ranges of how many lanes take a branch, in which it is proved one by one: each writes it once more."""

LOOPS: Final = 6
"""Loops of a program in which ghosts are looked for a second time."""

CASES: Final = 16
"""max(0, .) in a bound that is tried in fewer words."""

FAMILY: Final = 64
"""Steps between the terms of one family, in a sum over warps or blocks."""

LEFT_OUT: Final = 4
"""Stated potentials of which each is left out alone, to see which one is wrong."""

BOUND_SECONDS: Final = 60.0
"""Seconds of processor time for the bounds of a kernel: after a part of it, a search asks less and ends sooner."""

# --- dear runs -------------------------------------------------------------------------------------------------------

INPUTS: Final = 300
"""Inputs that a search for the dearest run tries."""

STALE: Final = 60
"""Inputs in a row that are no better, which end such a search."""

PATIENCE: Final = 150
"""The same of the search of `--tight`."""

EFFORT: Final = 40_000
"""The cost of all inputs together, in tests, assignments and accesses: the same on every machine."""

LONGEST: Final = 5_000
"""Steps of a warp; an input with more is left."""

WARPS: Final = 64
"""Warps of a grid that is tried."""

SEARCH_SECONDS: Final = 20.0
"""Seconds of processor time after which a search ends in any case: only where the fast engine cannot follow."""

# --- refusals --------------------------------------------------------------------------------------------------------

STATES: Final = 60
"""Random states in which a side condition is looked at."""

STEPS: Final = 4_000
"""Steps of a statement or a warp that is run to see what it costs."""

RUNS: Final = 40
"""Launches of a whole program, to see whether one costs more than is claimed."""

BLOCKS: Final = 300
"""Blocks of a grid that is run because a refuted state is of it."""

SHOWN: Final = 300
"""The largest number of a solver's model that is shown where a smaller state may be found."""

REPLAY_SECONDS: Final = 1.0
"""Seconds of processor time of one search among states or launches: a busy machine finds as much, and so does one
thread among others."""

REPAIR_SECONDS: Final = 3.0
"""Seconds of processor time of the search for a change that would make an outline pass."""

RAISED: Final = 8
"""Times that a constant is raised before a difference is taken for one that is not constant."""

UNNEEDED_SECONDS: Final = 2.0
"""Seconds of processor time of the search for assumptions that are not needed."""
