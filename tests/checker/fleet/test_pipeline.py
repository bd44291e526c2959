"""docs/pipeline.md: every command in it, in the order of the page; and what pipelines run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from checker.cli import main
from tests.checker.cli import one_process

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs/pipeline.md").read_text(encoding="utf-8")
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project with a cache of its own."""
    one_process.here(monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    (tmp_path / "project/src").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


def test_every_command_of_the_page(project: Path, capsys: Capture) -> None:
    tutorial = PAGE[: PAGE.index("## Files and folders")]
    ran = 0
    for kind, text in re.findall(r"```(\w+)\n(.*?)```", tutorial, re.DOTALL):
        if kind == "c":
            (project / "src/scale.cu").write_text(text)
        if kind == "toml":
            (project / "warpbound.toml").write_text(text)
        for command, code in re.findall(
            r"^\$ (.*?)(?: *# exit (\d))?$", text if kind == "console" else "", re.MULTILINE
        ):
            words = shlex.split(command)
            ours = words[0] == "warpbound"
            found = main(words[1:]) if ours else subprocess.run(words, check=False).returncode
            assert (command, found) == (command, int(code or 0))
            ran += ours
    assert ran == 9
    out = capsys.readouterr().out
    assert "scale sectors: exceeded, 12 of at most 8; most of it at src/scale.cu:4" in out
    assert "src/scale.cu:4: scale sectors grew: 8 -> 12" in out or "scale sectors grew: 8 -> 12" in out


def keys(folder: Path) -> dict[str, str]:
    """An environment in which Dask speaks TLS alone, with a certificate that signs itself."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl, which makes the certificate, is not installed")
    key, made = folder / "key.pem", folder / "cert.pem"
    words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=warpbound"]
    subprocess.run([openssl, *words, "-keyout", str(key), "-out", str(made)], check=True, capture_output=True)
    known = {"CA_FILE": made} | {
        f"{who}__{what}": path
        for who in ("CLIENT", "SCHEDULER", "WORKER")
        for what, path in (("CERT", made), ("KEY", key))
    }
    return {f"DASK_DISTRIBUTED__COMM__TLS__{name}": str(path) for name, path in known.items()}


@pytest.mark.parametrize("scheme", ["tcp", "tls"])
def test_the_commands_for_many_machines(scheme: str, project: Path, tmp_path: Path) -> None:
    """With another port. By TLS whoever has no certificate is not let in."""
    pytest.importorskip("distributed")
    (text,) = re.findall(r"```console\n(\$ dask .*?)```", PAGE, re.DOTALL)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    text = text.replace("8786", str(port)).replace("tcp://", f"{scheme}://")
    scheduler, worker, bound = [command.removeprefix("$ ") for command in text.splitlines()]
    assert bound.startswith("warpbound bound src --cluster ")
    (project / "src/k.cu").write_text("__global__ void k(int *A) { A[threadIdx.x] = 1; }\n")
    plain = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    about = plain if scheme == "tcp" else {**plain, **keys(tmp_path)}
    words = [*shlex.split(bound)[1:], "--metric=sectors", "--block=32", "--no-cache"]

    def asked(env: dict[str, str]) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "warpbound", *words], env=env, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    began, log = list[subprocess.Popen[bytes]](), tmp_path / "log"
    try:
        for command in (f"{scheduler} --protocol {scheme} --no-dashboard", f"{worker} --no-dashboard"):
            with log.open("ab") as told_there:
                began.append(subprocess.Popen(shlex.split(command), env=about, stderr=told_there))
        until = time.monotonic() + 90
        while log.read_text().count("Registered to:") < 2 and time.monotonic() < until:
            time.sleep(0.1)
        found = asked(about)
        assert (found[0], "1 file, 1 kernel: 1 certified" in found[1], "warning" in found[1]) == (0, True, False), found
        if scheme == "tls":
            code, told = asked(plain)
            assert (code, "no scheduler answers there" in told) == (2, True)
    finally:
        for process in reversed(began):
            process.terminate()
            process.wait(30)


def test_the_configuration_of_the_page_is_one(project: Path) -> None:
    from checker.fleet.config import read

    text = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)[-1]
    (project / "warpbound.toml").write_text(text)
    found = read(project / "warpbound.toml")
    assert [b.kernel for b in found.budgets] == ["scale", "rows"]
    assert set(found.kernels) == {"scale"}


def script(path: str, key: str) -> str:
    """The text below the last key of this name, as YAML has it."""
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    at = max(i for i, line in enumerate(lines) if line.strip().startswith(f"{key}:"))
    indent = len(lines[at]) - len(lines[at].lstrip())
    inner: list[str] = []
    for line in lines[at + 1 :]:
        if line.strip() and len(line) - len(line.lstrip()) <= indent:
            break
        inner.append(line)
    return textwrap.dedent("\n".join(inner))


@pytest.fixture
def shell(project: Path, tmp_path: Path) -> dict[str, str]:
    """A project that got dearer since its first commit, in two folders, and an environment with the command."""
    kernel = "__global__ void k(int *A) { A[threadIdx.x] = 1; }\n"
    (project / "old").mkdir()
    both = [project / "src/a.cu", project / "old/b.cu"]
    for file in both:
        file.write_text(kernel)
    git = ["git", "-c", "user.name=n", "-c", "user.email=e"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], check=True)
    for file in both:
        file.write_text(kernel.replace("[threadIdx.x]", "[2 * threadIdx.x]"))
    subprocess.run([*git, "commit", "-qam", "two"], check=True)
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin/warpbound"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m warpbound "$@"\n')
    command.chmod(0o755)
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}


def test_what_the_action_runs(shell: dict[str, str], project: Path) -> None:
    text = script("action.yml", "run")
    options = {"PATHS": "src", "OPTIONS": "--metric sectors --block 32", "AGAINST": "HEAD~1"}
    more = {"REPORTS": str(project), "GITHUB_STEP_SUMMARY": str(project / "summary.md")}
    done = subprocess.run(["/bin/bash", "-eo", "pipefail", "-c", text], env={**shell, **options, **more}, check=False)
    assert done.returncode == 1
    summary = (project / "summary.md").read_text()
    assert "1 file, 1 kernel: 1 certified" in summary
    assert "| `k` | src/a.cu:1 | sectors | grew | `4` | `8` |" in summary
    assert "b.cu" not in summary


def test_what_the_action_says_of_a_bound_that_is_worse_than_a_growth(shell: dict[str, str], project: Path) -> None:
    """A file that cannot be read is exit code 2, whatever the comparison says."""
    text = script("action.yml", "run")
    (project / "src/c.cu").write_text("__global__ void c(int *A) { int x = ; }\n")
    options = {"PATHS": "src", "OPTIONS": "--metric sectors --block 32", "AGAINST": "HEAD~1"}
    more = {"REPORTS": str(project), "GITHUB_STEP_SUMMARY": str(project / "summary.md")}
    done = subprocess.run(["/bin/bash", "-eo", "pipefail", "-c", text], env={**shell, **options, **more}, check=False)
    assert done.returncode == 2


def test_what_the_template_runs(shell: dict[str, str], project: Path) -> None:
    commands = [line.removeprefix("- ") for line in script("docs/gitlab.yml", "script").splitlines()]
    more = {"WARPBOUND_PATHS": "src", "WARPBOUND_OPTIONS": "--metric sectors --block 32"}
    base = {"CI_MERGE_REQUEST_DIFF_BASE_SHA": "HEAD~1"}
    done = [
        subprocess.run(
            ["/bin/bash", "-c", command], env={**shell, **more, **base}, check=False, capture_output=True, text=True
        )
        for command in commands
    ]
    codes, told = [d.returncode for d in done], done[-1].stdout
    assert codes == [0, 1]
    assert "b.cu" not in told


def test_what_the_hook_runs(project: Path, capsys: Capture) -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text()
    found = dict(re.findall(r"^[- ] (\w+): (.*)$", text, re.MULTILINE))
    (project / "src/a.cu").write_text("__global__ void k(int *A) { A[threadIdx.x] = 1; }\n")
    (project / "warpbound.toml").write_text('metrics = ["sectors"]\nblock = 32\n')
    words = [str(word) for word in (*shlex.split(found["entry"]), *re.findall(r'"(.*?)"', found["args"]))]
    command = words.pop(0)
    assert (command, found["pass_filenames"]) == ("warpbound", "false")
    assert main(words) == 0
    assert "1 kernel: 1 certified" in capsys.readouterr().out
    assert re.search(found["files"], "src/a.cu")
    assert not re.search(found["files"], "src/a.cpp")
