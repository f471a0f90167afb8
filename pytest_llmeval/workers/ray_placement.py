"""Workers that Ray places on the nodes of a cluster. The only module that imports Ray."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any, Final

import ray
from ray.exceptions import RayError

from pytest_llmeval.workers.connection import Connection, as_broker
from pytest_llmeval.workers.placement import Placed, PlacementError
from pytest_llmeval.workers.proof import Credentials, ProofError

_REACHED_WITHIN: Final = 5.0
"""Seconds in which a connection to the head of a cluster is made, or it cannot be reached."""

_GONE_AFTER: Final = 5
"""Seconds without the head of the cluster after which no worker is waited for."""

_PACKAGE: Final = str(Path(__file__).parents[2])
"""Where this package is."""

_EXCLUDED: Final = [".git", ".venv", "__pycache__", "reports"]
"""What of a working_dir is not copied to the nodes."""


class RayPlacement:
    """Starts each supervisor as a task of Ray, which connects back."""

    def __init__(self, address: str, *, working_dir: str | None, silence: float) -> None:
        """Use the cluster at an address, ``HOST:PORT`` or ``auto``; see `spec.WorkersSpec`."""
        self._address, self._working_dir, self._silence = address, working_dir, silence
        self._expected: dict[bytes, tuple[Credentials, asyncio.Future[Connection]]] = {}
        self._server: asyncio.Server | None = None
        self._remote: Any = None
        self._head = ("", 0)

    async def open(self) -> None:
        """Connect to the cluster, and listen for supervisors."""
        if self._address != "auto" and not await _answers(_split(self._address)):
            problem = f"nothing answers there within {_REACHED_WITHIN:g} s"
            raise self._unreachable(problem)
        environment = {"working_dir": self._working_dir, "excludes": _EXCLUDED}
        try:
            ray.init(
                address=self._address,
                runtime_env=environment if self._working_dir else None,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
        except (RayError, OSError, RuntimeError, ValueError) as error:
            raise self._unreachable(_first_sentence(error)) from None
        # xdist replaces lost workers; a task that Ray started again would connect to no slot.
        place = ray.remote(num_cpus=1, max_retries=0, scheduling_strategy="SPREAD")
        self._remote = place(_supervisor())
        self._head = _split(ray.get_runtime_context().gcs_address)
        # Only the address that the nodes know this machine by; nothing listens on others.
        self._server = await asyncio.start_server(self._called, ray.util.get_node_ip_address(), 0)

    async def place(self) -> Placed:
        """Have a task placed, and wait until its supervisor has connected back."""
        credentials = Credentials.new()
        connected: asyncio.Future[Connection] = asyncio.get_running_loop().create_future()
        self._expected[credentials.identity] = credentials, connected
        assert self._server is not None  # noqa: S101 - open
        address = self._server.sockets[0].getsockname()[:2]
        task = _Task(
            self._remote,
            (_PACKAGE, address, credentials.identity, credentials.secret, self._silence),
        )
        ended = asyncio.create_task(task.run())
        gone = asyncio.create_task(self._gone())
        futures: list[asyncio.Future[Any]] = [connected, ended, gone]
        try:
            await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            self._expected.pop(credentials.identity, None)
            if not connected.done() or connected.cancelled():
                task.end()
        if connected.done():
            return Placed(connected.result(), ended, task.end)
        raise PlacementError(ended.result() if ended.done() else gone.result())

    async def shortage(self) -> str:
        """Return how many processors the cluster has."""
        try:
            async with asyncio.timeout(_REACHED_WITHIN):
                free, total = await asyncio.to_thread(_processors)
        except (RayError, TimeoutError):
            return "the cluster does not answer"
        return f"the cluster has {free:g} free CPUs of {total:g}, and each worker takes one"

    async def close(self) -> None:
        """End all tasks, and leave the cluster."""
        if self._server is not None:
            self._server.close()
        # In a thread: without its cluster it may block.
        await asyncio.to_thread(ray.shutdown)

    async def _called(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Accept a supervisor that connects back; close a connection without valid proof."""
        try:
            credentials, connection = await as_broker(
                reader, writer, self._credentials, silence=self._silence
            )
        except ProofError:
            writer.transport.abort()
            return
        _, connected = self._expected.pop(credentials.identity, (None, None))
        if connected is None or connected.done():
            connection.close()
        else:
            connected.set_result(connection)

    def _credentials(self, identity: bytes) -> Credentials | None:
        found = self._expected.get(identity)
        return None if found is None else found[0]

    async def _gone(self) -> str:
        """Return once the head of the cluster has not answered for a while."""
        missed = 0
        while missed < _GONE_AFTER:
            await asyncio.sleep(1)
            missed = 0 if await _answers(self._head) else missed + 1
        return f"the Ray cluster at {self._head[0]}:{self._head[1]} has gone"

    def _unreachable(self, problem: str) -> PlacementError:
        fix = "start one with `ray start --head`, or name its head: ray:N,address=HOST:6379"
        place = "on this machine" if self._address == "auto" else f"at {self._address}"
        return PlacementError(f"no Ray cluster can be used {place}: {problem}; {fix}")


class _Task:
    """One task of Ray. Calls are made in threads: without its cluster Ray may never return."""

    def __init__(self, remote: Any, arguments: tuple[object, ...]) -> None:  # noqa: ANN401 - of Ray
        self._remote, self._arguments = remote, arguments
        self._reference: ray.ObjectRef[Any] | None = None
        self._over = False

    async def run(self) -> str:
        """Submit the task, and return how it ended."""
        self._reference = await asyncio.to_thread(self._remote.remote, *self._arguments)
        if self._over:
            self.end()
        return await _ended(self._reference)

    def end(self) -> None:
        """End the task, wherever it runs."""
        self._over = True
        if self._reference is not None:
            Thread(target=_cancel, args=(self._reference,), daemon=True).start()


def _cancel(task: ray.ObjectRef[Any]) -> None:
    with suppress(RayError, ValueError):
        ray.cancel(task, force=True)


def _processors() -> tuple[float, float]:
    """Return the numbers of free and of all processors."""
    free, total = ray.available_resources(), ray.cluster_resources()
    return free.get("CPU", 0), total.get("CPU", 0)


def _supervisor() -> Callable[..., None]:
    # Nested, so that Ray sends its code: a node need not find this package before.
    def serve(
        package: str, address: tuple[str, int], identity: bytes, secret: bytes, silence: float
    ) -> None:
        import sys  # noqa: PLC0415 - in the node's process
        from pathlib import Path  # noqa: PLC0415 - as above

        installed = Path(package).name in {"site-packages", "dist-packages"}
        if not installed and package not in sys.path and Path(package, "pytest_llmeval").is_dir():
            sys.path.insert(0, package)
        from pytest_llmeval.workers.supervisor import connect_back  # noqa: PLC0415 - as above

        connect_back(address, identity, secret, silence)

    return serve


async def _ended(task: ray.ObjectRef[Any]) -> str:
    """Return how a task ended."""
    try:
        await asyncio.wrap_future(task.future())
    except (RayError, asyncio.CancelledError) as error:
        if "No module named 'pytest_llmeval" in str(error):
            return (
                "the nodes' Python has no pytest_llmeval; install pytest-llmeval-suite there, "
                "share the folder, or copy it: ray:N,working_dir=."
            )
        return f"its task of Ray ended: {_first_sentence(error)}"
    return "its task of Ray ended"


async def _answers(address: tuple[str, int]) -> bool:
    """Return whether a connection to an address can be made."""
    try:
        async with asyncio.timeout(_REACHED_WITHIN):
            _, writer = await asyncio.open_connection(*address)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True


def _split(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def _first_sentence(error: BaseException) -> str:
    """Return what an error of Ray says, without its advice on where to look further."""
    line = next(iter(str(error).strip().splitlines()), type(error).__name__)
    return line.partition(". ")[0]
