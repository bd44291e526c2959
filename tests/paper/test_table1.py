"""Table 1, p. 7: the resource constants and the four metrics, entry by entry; M.sync is ours, from Fig. 6."""

from fractions import Fraction

import pytest

from logic.metrics import COUNTED, METRICS

TABLE = """
           sectors  conflicts  divwarps  steps
var        0        0          0         1
const      0        0          0         1
param      0        0          0         1
op         0        0          0         1
gread      n        0          0         n
sread      0        n-1        0         n-1
if         0        0          0         1
div        0        0          1         1
vwrite     0        0          0         1
gwrite     n        0          0         n
swrite     0        n-1        0         n-1
"""
_, HEAD, *ROWS = TABLE.rstrip().split("\n")
ENTRIES = [
    (constant, metric, entry)
    for row in ROWS
    for constant, *entries in [row.split()]
    for metric, entry in zip(HEAD.split(), entries, strict=True)
]


@pytest.mark.parametrize(("constant", "metric", "entry"), ENTRIES)
def test_entry(constant: str, metric: str, entry: str) -> None:
    m = METRICS[metric]
    price = {"n": [1, 5, 32], "n-1": [0, 4, 31], "0": [0, 0, 0]}
    if constant in COUNTED:
        assert [int(m.count(constant, n)) for n in (1, 5, 32)] == price[entry]
    else:
        assert m.cost(constant) == Fraction(entry)
