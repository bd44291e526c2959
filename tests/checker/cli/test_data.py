"""Values of parameters and arrays, as a command line says them."""

from pathlib import Path

import numpy as np
import pytest

from checker.cli.data import read_args, read_arrays
from checker.notation.problem import OptionProblem
from logic.syntax import (
    BOOL,
    FLOAT,
    INT,
    Array,
    Decl,
    Kernel,
    Skip,
)
from semantics.lockstep import Initial
from semantics.values import Value

ARRAYS = {
    "G": Array("G", "global", INT, 4),
    "H": Array("H", "global", INT, 4),
    "C": Array("C", "global", INT, 1),
    "F": Array("F", "global", FLOAT, 4),
    "B": Array("B", "global", BOOL, 1),
}


def kernel_with(*params: Decl) -> Kernel:
    return Kernel("k", params, tuple(ARRAYS.values()), (), Skip())


@pytest.mark.parametrize(
    ("decl", "text", "value"),
    [
        (Decl("p", INT), "-5", -5),
        (Decl("p", INT), "0x10", 16),
        (Decl("p", FLOAT), "0.1", 0.10000000149011612),
        (Decl("p", FLOAT), "2", 2.0),
        (Decl("p", BOOL), "True", True),
        (Decl("p", BOOL), "0", False),
    ],
)
def test_values_of_parameters(decl: Decl, text: str, value: Value) -> None:
    got = read_args(kernel_with(decl), {"p": text})["p"]
    assert (got, type(got)) == (value, type(value))


@pytest.mark.parametrize(("decl", "text"), [(Decl("p", INT), "1.5"), (Decl("p", FLOAT), "x"), (Decl("p", BOOL), "2")])
def test_values_that_no_parameter_has(decl: Decl, text: str) -> None:
    with pytest.raises(OptionProblem, match=f"--arg p={text}: 'p' is {decl.type}"):
        read_args(kernel_with(decl), {"p": text})


def contents(text: str, array: str = "G") -> Initial:
    got = read_arrays(kernel_with(), {array: text})[array]
    assert isinstance(got, Initial)
    return got


@pytest.mark.parametrize(
    ("text", "length", "values"),
    [
        ("ones", None, [1, 1, 1]),
        ("ones:2", 2, [1, 1, 1]),
        ("iota", None, [0, 1, 2]),
        ("iota:7", 7, [0, 1, 2]),
    ],
)
def test_fills(text: str, length: int | None, values: list[int]) -> None:
    fill = contents(text)
    assert fill.value
    assert fill.length == length
    assert [fill.value(i) for i in range(3)] == values


def test_zeros_are_the_default_of_the_type() -> None:
    assert (contents("zeros").value, contents("zeros").length, contents("zeros:9").length) == (None, None, 9)


def test_random_arrays_depend_on_seed_name_and_index_only() -> None:
    def draw(text: str, array: str) -> list[Value]:
        fill = contents(text, array)
        assert fill.value
        return [fill.value(i) for i in range(200)]

    assert draw("random:1", "G") == draw("random:1", "G")
    assert draw("random:1", "G") != draw("random:2", "G")
    assert draw("random:1", "G") != draw("random:1", "H")
    assert all(0 <= v < 2**15 for v in draw("random:1", "G"))
    assert max(draw("random:1", "G")) > 2**14
    assert all(0 <= v < 128 for v in draw("random:1", "C"))
    assert set(draw("random:1", "B")) == {True, False}
    floats = draw("random:1:200", "F")
    assert all(isinstance(v, float) and 0 <= v < 1 and np.float32(v) == v for v in floats)


@pytest.mark.parametrize("text", ["twos", "zeros:", "zeros:-1", "zeros:1:2", "random", "random:x", "iota:1.5", ""])
def test_fills_that_are_none(text: str) -> None:
    with pytest.raises(OptionProblem, match=f"--array G={text}: not"):
        contents(text)


def test_a_npy_file_gives_values_and_length(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.array([3, -1, 4]))
    assert np.asarray(read_arrays(kernel_with(), {"G": f"@{path}"})["G"]).tolist() == [3, -1, 4]
    np.save(path, np.array([0.5, 2], np.float32))
    assert np.asarray(read_arrays(kernel_with(), {"F": f"@{path}"})["F"]).tolist() == [0.5, 2.0]


@pytest.mark.parametrize(
    ("array", "data", "message"),
    [
        ("G", np.array([1.0]), "holds float64, 'G' is an array of int"),
        ("F", np.array([1]), "holds int64, 'F' is an array of float"),
        ("G", np.array([True]), "holds bool, 'G' is an array of int"),
        ("G", np.zeros((2, 2), np.int32), "holds int32 in 2 dimensions"),
        ("C", np.array([255, 256]), "element 1 is 256, which does not fit into 1 bytes"),
        ("G", np.array([-(2**31) - 1]), "element 0 is -2147483649, which does not fit into 4 bytes"),
    ],
)
def test_npy_files_of_the_wrong_type(tmp_path: Path, array: str, data: np.ndarray, message: str) -> None:
    path = tmp_path / "a.npy"
    np.save(path, data)
    with pytest.raises(OptionProblem, match=message):
        read_arrays(kernel_with(), {array: f"@{path}"})


@pytest.mark.parametrize("content", [b"", b"not numpy", b"\x93NUMPY\x01\x00\x10\x00{'descr': '<i4'}", None])
def test_files_that_are_no_npy(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "a.npy"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(OptionProblem, match="No such file" if content is None else "not a .npy file"):
        read_arrays(kernel_with(), {"G": f"@{path}"})
