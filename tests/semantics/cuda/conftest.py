"""`read(text)` reads CUDA source text, `lower(body)` gives the printed miniCUDA of a kernel with that body."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from logic.syntax import show_stmt
from semantics.cuda import CudaError, Reading, read_cuda


@pytest.fixture(scope="session")
def read(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Reading]:
    folder: Path = tmp_path_factory.mktemp("cuda")

    def read_text(text: str | bytes, name: str | None = None, **options: Any) -> Reading:
        file = folder / "x.cu"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_cuda(str(file), name, **options)

    return read_text


@pytest.fixture(scope="session")
def refused(read: Callable[..., Reading]) -> Callable[[str, str], None]:
    """Checks that a text is refused, at a place, in these words among others."""

    def refused_text(text: str, words: str) -> None:
        with pytest.raises(CudaError) as caught:
            read(text)
        assert words in caught.value.message
        assert caught.value.loc is not None

    return refused_text


@pytest.fixture(scope="session")
def lower(read: Callable[..., Reading]) -> Callable[..., str]:
    def lower_body(body: str, before: str = "", params: str = "int *A, float *F, int n, bool f") -> str:
        return show_stmt(read(f"{before}\n__global__ void k({params}) {{\n{body}\n}}\n", "k").kernel.body)

    return lower_body


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str | bytes], str]:
    """Write x.cu into an empty current directory, so that messages name it shortly. Gives its name."""
    monkeypatch.chdir(tmp_path)

    def write(text: str | bytes) -> str:
        (tmp_path / "x.cu").write_bytes(text if isinstance(text, bytes) else text.encode())
        return "x.cu"

    return write
