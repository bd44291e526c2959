"""`bound --cluster`: whatever workers elsewhere do, the table is the one that this machine makes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import pytest

from checker.cli import main
from checker.fleet.rows import Found
from checker.testbed.cluster import Cluster
from tests.checker.cli.test_process import ROOT
from tests.checker.fleet import hazards

KERNELS: Final = "".join(
    f"__global__ void k{i}(int *A) {{ A[{i} * threadIdx.x] = 1; }}\n" for i in range(1, 9)
)  # 4, 8, 12, 16, .. sectors


@dataclass
class Strange(Executor):
    """An executor that does what is asked, and then something else with what it found, kernel by kernel."""

    acts: dict[int, Callable[[Any], Any]]
    given: int = 0
    before: list[Any] = field(default_factory=list)

    def submit(self, _: Callable[..., Any], work: Any, content: bytes, *__: Any, **___: Any) -> Future[Any]:  # type: ignore[override]
        self.given += 1
        future, told = Future[Any](), list[Any]()
        act = self.acts.get(self.given, list)
        if act is silent:
            return future

        class Talk:
            began = None
            begin, tell = staticmethod(lambda _: None), staticmethod(told.append)

        work(content, frozenset(), Talk)
        said = [("found", what) for what in told]
        self.before.append(said)
        try:
            future.set_result(act(said))
        except ValueError as problem:
            future.set_exception(problem)
        return future


def silent(_: Any) -> Any:
    """Never answers."""
    raise AssertionError


def lost(_: Any) -> Any:
    raise ValueError("the worker is gone")


def cheaper(said: Any) -> Any:
    """The certificate, with a cheaper claim in each place."""
    text = said[0][1].text
    forged = text.replace("12", "11")
    assert forged != text
    return [("found", Found("sectors", forged, "", 0.1))]


def table(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[Any], str]:
    code = main(["bound", "a.cu", "--metric", "sectors", "--block", "32", "--jobs", "1", "--format", "json", *words])
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    return code, [(r["kernel"], r["bound"], r["verdict"]) for r in document["results"]], printed.err


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("checker.fleet.workers.get_context", hazards.quick)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.cu").write_text(KERNELS)
    return tmp_path


def test_what_workers_lose_or_forge_is_searched_here(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    strange = Strange({})
    strange.acts = {
        2: lost,
        3: cheaper,
        4: lambda _: strange.before[0],  # the certificate of another kernel
        5: lambda _: 7,
        6: lambda said: [*said, ("found", "nothing")],
        7: lambda _: [("found", Found("sectors", "{}", "", 0.1))],
        8: silent,
    }

    @contextmanager
    def joined(_: str) -> Iterator[Cluster]:
        yield Cluster(strange, 1)

    monkeypatch.setattr("checker.testbed.cluster.joined", joined)
    monkeypatch.setattr("checker.fleet.cluster.PATIENCE", -58.0)
    own = table(capsys, "--no-cache")
    assert own[0] == 0
    assert [bound for _, bound, _ in own[1]] == ["4", "8", "12", "16", "20", "24", "28", "32"]
    code, rows, error = table(capsys, "--no-cache", "--cluster", "tcp://there:1", "--time-limit", "60")
    assert (code, rows) == own[:2]
    assert strange.given == 8
    assert error.startswith("warpbound: warning: --cluster tcp://there:1: 7 kernels were searched on this machine: ")
    # what is kept is what was judged: nothing is left to be searched
    assert table(capsys, "--cluster", "tcp://there:1")[:2] == own[:2]
    before = strange.given
    assert table(capsys, "--cluster", "tcp://there:1")[:2] == own[:2]
    assert strange.given == before > 8


def test_what_workers_do_not_speak_of_is_searched_here(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No row is missing where a worker says nothing of a kernel, or of one of its metrics, or of another metric."""
    strange = Strange(
        {
            1: lambda _: [],
            2: lambda said: said[:1],
            3: lambda said: [("found", Found("steps", said[0][1].text, "", 0.1)), *said[:1]],
            4: lambda said: [("found", replace(what, metric="own")) for _, what in said],
            5: lambda said: [("found", replace(what, seconds=float("nan"))) for _, what in said],
            6: lambda said: [("found", replace(what, seconds=10**400)) for _, what in said],
        }
    )

    @contextmanager
    def joined(_: str) -> Iterator[Cluster]:
        yield Cluster(strange, 1)

    monkeypatch.setattr("checker.testbed.cluster.joined", joined)
    code, rows, error = table(capsys, "--no-cache", "--metric", "steps", "--cluster", "tcp://there:1")
    assert code == 0
    assert [(kernel, verdict) for kernel, _, verdict in rows] == [
        (f"k{i}", "certified") for i in range(1, 9) for _ in ("sectors", "steps")
    ]
    assert error.startswith("warpbound: warning: --cluster tcp://there:1: 6 kernels were searched on this machine: ")


@pytest.mark.parametrize("act", [silent, lambda _: []], ids=["silent", "nothing"])
def test_budgets_are_judged_whatever_workers_do(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, act: Callable[[Any], Any]
) -> None:
    """Every source is done in the end, and its budgets are looked at, of a kernel that was searched here, too."""
    (here / "a.cu").write_text(KERNELS.partition("\n")[0])
    (here / "warpbound.toml").write_text('[[budget]]\nkernel = "k1"\nmetric = "sectors"\nmost = 3\n')

    @contextmanager
    def joined(_: str) -> Iterator[Cluster]:
        yield Cluster(Strange({1: act}), 1)

    monkeypatch.setattr("checker.testbed.cluster.joined", joined)
    monkeypatch.setattr("checker.fleet.cluster.PATIENCE", -60.0)
    command = ["bound", "a.cu", "--metric", "sectors", "--block", "32", "--no-cache", "--format", "json"]
    code = main([*command, "--jobs", "1", "--time-limit", "60", "--cluster", "tcp://there:1"])
    found = json.loads(capsys.readouterr().out)
    assert [b["verdict"] for b in found["budgets"]] == ["exceeded"]
    assert code == 1


CLUSTER: Final = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster:
        pids = [w.pid for w in cluster.workers.values()]
        print(cluster.scheduler_address, *pids, flush=True)
        sys.stdin.read()
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[int]]]:
    """The address of a Dask cluster of two workers, and their nannies' children."""
    pytest.importorskip("distributed")
    (tmp_path / "cluster.py").write_text(CLUSTER)
    command = [sys.executable, "cluster.py"]
    about = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env=about,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        address, *pids = process.stdout.readline().split()
        yield address, [int(pid) for pid in pids]
        process.kill()


def test_a_worker_that_is_killed_loses_nothing(here: Path, cluster: tuple[str, list[int]]) -> None:
    address, pids = cluster
    command = [
        sys.executable,
        "-m",
        "warpbound",
        "bound",
        "a.cu",
        "--metric",
        "sectors",
        "--metric",
        "steps",
        "--block",
    ]
    command += ["32", "--no-cache", "--format", "jsonl", "--cluster", address]
    about = {**os.environ, "PYTHONPATH": str(ROOT)}
    rows = []
    with subprocess.Popen(command, env=about, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            rows.append(json.loads(line))
            if len(rows) == 2:
                os.kill(pids[0], signal.SIGKILL)
    assert process.returncode == 0
    assert "summary" in rows[-1]
    told = sorted((r["kernel"], r["metric"], r["verdict"]) for r in rows[:-1])
    assert told == sorted((f"k{i}", m, "certified") for i in range(1, 9) for m in ("sectors", "steps"))
