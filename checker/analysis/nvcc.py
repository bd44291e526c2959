"""NVIDIA's compiler, where it is installed: it is nobody's dependency, and proprietary."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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


def _ran(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """The finished process of a command of the compiler's. Raises OSError, and TimeoutExpired after SECONDS."""
    return subprocess.run(  # noqa: S603 - the compiler that the user chose
        words, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False
    )


def compile_ptx(nvcc: str, source: str, arch: str, options: Sequence[str] = ()) -> str:
    """The PTX of a source, with the lines that it was made of. Raises CompilerProblem with what the compiler says."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "kernel.ptx"
        words = [nvcc, "-ptx", "-lineinfo", f"-arch={arch}", *options, str(Path(source).resolve()), "-o", str(target)]
        try:
            done = _ran(words)
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise CompilerProblem(f"cannot run {nvcc}: {problem}", advice="Give another one: --nvcc PATH.") from None
        if done.returncode or not target.is_file():
            said = [line for line in (done.stderr or done.stdout).splitlines() if "error" in line or "fatal" in line]
            told = said[0].strip() if said else f"exit code {done.returncode}"
            raise CompilerProblem(f"nvcc does not compile '{source}': {told}", advice=f"It was run for {arch}.")
        return target.read_text(encoding="utf-8", errors="replace")


_ENTRY: Final = re.compile(r"(?:Compiling entry function '|Function properties for )([\w$]+)")
_SPILLED: Final = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
_USED: Final = re.compile(r"Used (\d+) registers(?:.*?\b(\d+) bytes smem)?")


@dataclass(frozen=True, slots=True)
class Machine:
    """The needs of a kernel as machine code: registers of a thread, bytes of static shared memory of a block, and bytes
    of registers that a thread stores to memory and loads again, for want of more."""

    registers: int
    shared: int
    spilled: int


def needed(said: str) -> dict[str, Machine]:
    """The needs of kernels as machine code, as the assembler tells them (`ptxas -v`)."""
    found, name, spilled = dict[str, Machine](), "", 0
    for line in said.splitlines():
        if entry := _ENTRY.search(line):
            name = entry[1]
        if spill := _SPILLED.search(line):
            spilled = int(spill[1]) + int(spill[2])
        if name and (used := _USED.search(line)):
            found[name] = Machine(int(used[1]), int(used[2] or 0), spilled)
            name, spilled = "", 0
    return found


def machine_code(nvcc: str, ptx: str, arch: str) -> Mapping[str, Machine]:
    """The needs of a PTX text's kernels as machine code, by their names there; nothing where it is not made."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "kernel.ptx"
        source.write_text(ptx, encoding="utf-8")
        words = [nvcc, "-cubin", f"-arch={arch.replace('compute_', 'sm_')}", "-Xptxas", "-v", str(source)]
        try:
            done = _ran([*words, "-o", str(source.with_suffix(".cubin"))])
        except (OSError, subprocess.TimeoutExpired):
            return {}
    return needed(done.stderr + done.stdout)


def version(nvcc: str) -> str:
    """The compiler's version, as it says it; "" where it says none."""
    try:
        done = _ran([nvcc, "--version"])
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return next((line.rpartition("V")[2] for line in done.stdout.splitlines() if "release" in line), "")
