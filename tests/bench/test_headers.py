"""The names that headers declare: which are found, which are those of their insides, and which are known here."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.headers import HEADERS, Header, folders, main, measured

TEXT = """
#define __device__ __attribute__((device))
namespace vendor {
inline namespace __2 {
__device__ float sqrtf(float); __device__ float no_such_function(float); void of_the_host(int);
__device__ int __internal_helper(int); __device__ int operator+(int, float);
struct thread_block { __device__ void sync(); __device__ void no_such_method(); int field; thread_block(); };
namespace details { __device__ int hidden(int); }
}
typedef int no_such_type;
template <class T> __device__ T __shfl(T, int);
}
"""


def test_names_of_a_header(tmp_path: Path) -> None:
    (tmp_path / "cooperative_groups.h").write_text(TEXT)
    found = measured(Header(("cooperative_groups.h",), r"/cooperative_groups\.h$"), [str(tmp_path)])
    known = {"sqrtf", "__shfl", "thread_block", "thread_block::sync"}
    assert found.names == known | {"no_such_function", "no_such_type", "thread_block::no_such_method"}
    assert found.known == known


COVERED = {"cub": 60, "mma": 75, "cuda/barrier": 70, "curand": 85}
"""What is known of headers of which we leave parts out, in per cent; of the others it is 95."""


@pytest.mark.bench
def test_of_almost_all_headers_almost_all_is_known() -> None:
    try:
        inside = folders()
    except FileNotFoundError as e:
        pytest.skip(str(e))
    for name, header in HEADERS.items():
        found = measured(header, inside)
        least = next((share for part, share in COVERED.items() if part in name), 95)
        assert len(found.names) >= 5, name
        assert 100 * len(found.known) >= least * len(found.names), (name, sorted(found.names - found.known))


def test_without_the_vendors_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(FileNotFoundError, match="headers"):
        main([])
