"""Other machines: the workers of a Dask cluster, as an executor of `concurrent.futures`.

One machine needs nothing of it: Dask (`distributed`, the extra `cluster`) is loaded where an address is given. A worker
is not trusted: what it says is either judged by the one who asked (certificates), or counted (trials), and then the
cluster has to be one's own. Dask sends pickles, so whoever may speak to a scheduler may run code: TLS and its
certificates are Dask's own options.
"""

from __future__ import annotations

import logging
import re
import socket
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from checker.notation.problem import OptionProblem
from checker.testbed.installed import digest

if TYPE_CHECKING:
    from distributed import Client

Item = TypeVar("Item")
T = TypeVar("T")

CONNECT: Final = 10.0
"""Seconds that a scheduler has to answer in, and its workers to say what they are."""

MORE: Final = 4
"""Pieces of work that are given out at a time, for each thread of a worker."""

_ADDRESS: Final = re.compile(r"(tcp|tls)://(\[[0-9A-Fa-f:.]+\]|[\w.-]+):[0-9]{1,5}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Cluster:
    """An executor, and how many pieces of work its workers do at a time."""

    pool: Executor
    threads: int


@contextmanager
def joined(address: str) -> Iterator[Cluster]:
    """The workers at a scheduler's address, `tcp://HOST:PORT` or `tls://HOST:PORT`, for as long as the context lasts.

    Raises OptionProblem where that is no address, Dask is not installed, nobody answers, no worker is there, or one has
    another warpbound than this machine, or none.
    """
    option = f"--cluster {address}"
    if not _ADDRESS.fullmatch(address):
        told = "Say local (processes on this machine), or the address of a Dask scheduler, like tcp://host:8786."
        raise OptionProblem(f"{option}: this is no address", advice=told)
    try:
        from distributed import Client
    except ImportError:
        told = f"{option}: Dask is not installed"
        raise OptionProblem(told, advice="Install it: pip install 'warpbound[cluster]'.") from None
    for name in ("distributed", "tornado", "asyncio"):
        logger = logging.getLogger(name)  # what fails is said by us, once
        logger.handlers, logger.propagate = [logging.NullHandler()], False
    host, _, port = address.partition("//")[2].rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT).close()  # Dask tries as long as it may
        client = Client(address, timeout=CONNECT, set_as_default=False)
    except (OSError, OverflowError, RuntimeError, TypeError, ValueError):
        told = f"{option}: no scheduler answers there"
        raise OptionProblem(told, advice=f"Start one: dask scheduler --port {port}.") from None
    pool: Executor | None = None
    try:
        threads = _checked(client, option, address)
        pool = client.get_executor(pure=False)
        yield Cluster(pool, threads)
    finally:
        with suppress(Exception):
            if pool is not None:
                pool.shutdown(wait=False)
            client.close(timeout=2)


def _checked(client: Client, option: str, address: str) -> int:
    """How many pieces of work a cluster does at a time. Raises OptionProblem where its workers are not like us."""
    workers = client.scheduler_info(n_workers=-1)["workers"]
    if not workers:
        told = f"{option}: the scheduler has no workers"
        raise OptionProblem(told, advice=f"Start some: dask worker {address}.")
    asked = {name: client.submit(digest, workers=[name], pure=False, key=f"warpbound-state-{name}") for name in workers}
    own = digest()
    for name, future in asked.items():
        try:
            found = future.result(timeout=CONNECT)
        except ModuleNotFoundError:
            told = f"{option}: the worker {name} has no warpbound"
            raise OptionProblem(told, advice="Install the same one there.") from None
        except Exception:  # noqa: BLE001  # it is busy, or gone: its work is done elsewhere then
            future.cancel()
            continue
        if found != own:
            told = f"{option}: the worker {name} has another warpbound than this machine"
            raise OptionProblem(told, advice="Install the same one there, and start the worker again.")
    return sum(int(about["nthreads"]) for about in workers.values())


def results(
    cluster: Cluster, work: Callable[[Item], T], items: Sequence[Item], fits: Callable[[Item, object], bool]
) -> Iterator[T]:
    """The results of the work for all items, in their order. What is lost with a worker, or is nothing that fits the
    item, is done again here."""
    ahead = MORE * cluster.threads
    running: list[Future[T] | None] = [_given(cluster, work, item) for item in items[:ahead]]
    for i, item in enumerate(items):
        future, found = running[i], None
        running[i] = None
        with suppress(Exception):
            found = future.result() if future is not None else None
        yield found if found is not None and fits(item, found) else work(item)
        if i + ahead < len(items):
            running.append(_given(cluster, work, items[i + ahead]))


def _given(cluster: Cluster, work: Callable[[Item], T], item: Item) -> Future[T] | None:
    """A piece of work as it is given out; None where there is nobody to give it to any more."""
    with suppress(Exception):
        return cluster.pool.submit(work, item)
    return None
