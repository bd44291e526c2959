"""NVIDIA's compiler, where it is installed: it is nobody's dependency, and proprietary."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from logic.source import SourceError

VARIABLE: Final = "WARPBOUND_NVCC"
"""The environment variable that may name it."""

SECONDS: Final = 300
"""The longest that it may take."""


class CompilerProblem(SourceError):
    """There is no compiler, or it does not take the source."""


def find_nvcc(given: str | None = None) -> str:
    """The compiler: the one that is given, that of the environment variable, the first on the PATH, or the one of the
    package nvidia-cuda-nvcc beside this one. Raises CompilerProblem."""
    for told, name in (("--nvcc", given), (VARIABLE, os.environ.get(VARIABLE))):
        if name:
            found = shutil.which(name)
            if found is None:
                raise CompilerProblem(f"{told} {name}: no such compiler", advice="Give the path of nvcc.")
            return found
    if found := shutil.which("nvcc"):
        return found
    packages = Path(sysconfig.get_paths()["purelib"]) / "nvidia"
    inside = sorted(packages.glob("*/bin/nvcc"))
    if inside:
        return str(inside[-1])
    raise CompilerProblem(
        "no nvcc is here, and this command compiles with it",
        advice=f"Install a CUDA toolkit or the extra [oracle], or name one: --nvcc PATH, or {VARIABLE}=PATH; or give "
        "what it makes: --ptx FILE.ptx.",
    )


def compile_ptx(nvcc: str, source: str, arch: str, options: Sequence[str] = ()) -> str:
    """The PTX of a source, with the lines that it was made of. Raises CompilerProblem with what the compiler says."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "kernel.ptx"
        words = [nvcc, "-ptx", "-lineinfo", f"-arch={arch}", *options, str(Path(source).resolve()), "-o", str(target)]
        try:
            done = subprocess.run(  # noqa: S603 - the compiler that the user chose
                words, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise CompilerProblem(f"cannot run {nvcc}: {problem}", advice="Give another one: --nvcc PATH.") from None
        if done.returncode or not target.is_file():
            said = [line for line in (done.stderr or done.stdout).splitlines() if "error" in line or "fatal" in line]
            told = said[0].strip() if said else f"exit code {done.returncode}"
            raise CompilerProblem(f"nvcc does not compile '{source}': {told}", advice=f"It was run for {arch}.")
        return target.read_text(encoding="utf-8", errors="replace")


def version(nvcc: str) -> str:
    """The compiler's version, as it says it; "" where it says none."""
    try:
        done = subprocess.run(  # noqa: S603 - the compiler that the user chose
            [nvcc, "--version"], capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return next((line.rpartition("V")[2] for line in done.stdout.splitlines() if "release" in line), "")
