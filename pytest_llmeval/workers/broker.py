"""The process between the main process and the workers' machines, one for a run.

``python -m pytest_llmeval.workers.broker`` reads its `Order` from standard input, one line, and
ends when standard input does. It writes `Event` lines to standard output. Its slots stand for the
workers that xdist knows. What is lost is replaced in its slot before xdist learns of the loss, so
that xdist never waits for a replacement while other workers want tests.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from pytest_llmeval.workers.command_placement import CommandPlacement
from pytest_llmeval.workers.connection import PIECE, PeerLostError
from pytest_llmeval.workers.frames import Kind
from pytest_llmeval.workers.order import Event, Order
from pytest_llmeval.workers.placement import Placement, PlacementError
from pytest_llmeval.workers.setup import Exit
from pytest_llmeval.workers.started import Started, start

_A_MOMENT = 1.0
"""Seconds in which the end of a place and that of its connection are both seen."""

_LONGEST_ORDER = 1 << 24
"""Bytes of an order at most."""

_FAREWELL = 5.0
"""Seconds that leaving a cluster may take."""


class Broker:
    """The slots of a run, and the workers in them."""

    def __init__(self, order: Order, placement: Placement, report: Callable[[Event], None]) -> None:
        """Start workers by `placement`, and report what happens to them."""
        self._order, self._placement, self._report = order, placement, report
        self._next: list[asyncio.Task[Started] | None] = []
        # Tests of the lost worker wait for it.
        self._patience = min(order.spec.wait, order.spec.silence)

    async def serve(self, until: asyncio.Task[bytes]) -> None:
        """Start all workers, and serve relays until a task is done."""
        try:
            await self._placement.open()
            hosts = await self._start_all()
        except PlacementError as error:
            self._report(Event(kind="failed", why=str(error)))
            return
        server = await asyncio.start_unix_server(self._relay, self._order.socket)
        self._report(Event(kind="ready", hosts=hosts))
        await until
        server.close()

    async def _start_all(self) -> tuple[str, ...]:
        """Fill all slots; return the workers' machines."""
        spec = self._order.spec
        starting = [asyncio.create_task(self._start(spec.wait)) for _ in range(spec.count)]
        await asyncio.wait(starting, return_when=asyncio.FIRST_EXCEPTION)
        ready = [one for one in starting if one.done() and one.exception() is None]
        if len(ready) == len(starting):
            self._next = [*starting]
            return tuple(one.result().hello.host for one in starting)
        failures = [error for one in starting if one.done() and (error := one.exception())]
        for one in starting:
            one.cancel()
        await asyncio.gather(*starting, return_exceptions=True)
        msg = f"{failures[0]} ({len(ready)} of {len(starting)} workers had started)"
        raise PlacementError(msg) from failures[0]

    async def _start(self, wait: float) -> Started:
        """Start one worker within some seconds; PlacementError if it cannot be started."""
        try:
            async with asyncio.timeout(wait):
                return await start(self._order, self._placement)
        except TimeoutError:
            fix = f"ask for fewer workers, or wait longer (wait={2 * wait:g})"
            shortage = await self._placement.shortage()
            msg = f"a worker did not start within {wait:g} s: {shortage}; {fix}"
            raise PlacementError(msg) from None

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve the relay of one worker, from its start to its end."""
        slot = int(await reader.readline())
        starting, self._next[slot] = self._next[slot], None
        try:
            worker = await (starting or self._start(self._patience))
            event = await self._connected(slot, worker, reader, writer)
            if event is not None:
                self._report(event)
        except PlacementError as error:
            self._report(Event(kind="missing", slot=slot, why=str(error)))
        finally:
            writer.close()

    async def _connected(
        self,
        slot: int,
        worker: Started,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> Event | None:
        """Copy between relay and worker; return what ended it, None if the relay did."""
        up = asyncio.create_task(_up(reader, worker))
        down = asyncio.create_task(_down(worker, writer))
        try:
            signs: list[asyncio.Future[Any]] = [down, worker.placed.ended]
            await asyncio.wait([*signs, worker.beating], return_when=asyncio.FIRST_COMPLETED)
            if not (down.done() and down.exception() is None):
                # Bytes from before the end may be on their way, or the reason for it.
                await asyncio.wait(signs, timeout=_A_MOMENT)
            closing = up.done() and up.exception() is None
            event = _ending(slot, worker, down)
        finally:
            worker.end()
            for task in (up, down):
                task.cancel()
            await asyncio.gather(up, down, return_exceptions=True)
        return None if closing else await self._replaced(event, reader)

    async def _replaced(self, event: Event, reader: asyncio.StreamReader) -> Event | None:
        """Fill a slot again; return the event, None if the relay ends meanwhile."""
        starting = asyncio.create_task(self._start(self._patience))
        over = asyncio.create_task(_until_end(reader))
        either: list[asyncio.Future[Any]] = [starting, over]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        over.cancel()
        if not starting.done():
            starting.cancel()
            return None
        if (error := starting.exception()) is not None:
            return Event(
                kind=event.kind, slot=event.slot, why=f"{event.why}; not replaced: {error}"
            )
        self._next[event.slot] = starting
        return Event(kind=event.kind, slot=event.slot, why=event.why, replaced=True)


def _ending(slot: int, worker: Started, down: asyncio.Task[Exit]) -> Event:
    """Return how a worker ended, from what was noticed."""
    if down.done() and down.exception() is None:
        ended = down.result()
        said = f": {ended.said.strip()}" if ended.said.strip() else ""
        return Event(kind="crashed", slot=slot, why=f"its process ended ({ended.status}){said}")
    reasons = [str(task.exception()) for task in (down, worker.beating) if task.done()]
    if worker.placed.ended.done():
        reasons.append(worker.placed.ended.result())
    why = "; ".join(dict.fromkeys(reasons))
    return Event(kind="lost", slot=slot, why=f"worker on {worker.hello.host} lost: {why}")


async def _up(reader: asyncio.StreamReader, worker: Started) -> None:
    """Copy from the relay until it ends; then the worker gets no more."""
    while piece := await reader.read(PIECE):
        await worker.placed.connection.send(Kind.DATA, piece)
    await worker.placed.connection.send(Kind.END)


async def _down(worker: Started, writer: asyncio.StreamWriter) -> Exit:
    """Copy to the relay until the worker ends; PeerLostError without a supervisor."""
    async for frame in worker.frames:
        if frame.kind is Kind.EXIT:
            return Exit.from_bytes(frame.payload)
        # A relay that has ended reads no more; the worker's end is awaited all the same.
        with suppress(OSError):
            writer.write(frame.payload)
            await writer.drain()
    msg = "the connection ended"
    raise PeerLostError(msg)


async def _until_end(reader: asyncio.StreamReader) -> None:
    while await reader.read(PIECE):
        pass


def placement_of(order: Order) -> Placement:
    """Return how an order's workers are started; PlacementError without Ray where it is needed."""
    spec = order.spec
    if spec.command:
        return CommandPlacement(spec.command, silence=spec.silence)
    try:
        from pytest_llmeval.workers.ray_placement import RayPlacement  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        fix = 'pip install "pytest-llmeval-suite[scale]"'
        msg = f"Ray is not installed ({error}); {fix}"
        raise PlacementError(msg) from None
    address = spec.address or "auto"
    return RayPlacement(address, working_dir=spec.working_dir, silence=spec.silence)


async def _run(report: Callable[[Event], None]) -> None:
    """Serve the main process on standard input."""
    reader = asyncio.StreamReader(limit=_LONGEST_ORDER)
    protocol = asyncio.StreamReaderProtocol(reader)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
    order = Order.from_line(await reader.readline())
    until = asyncio.create_task(reader.read())
    try:
        placement = placement_of(order)
    except PlacementError as error:
        report(Event(kind="failed", why=str(error)))
        return
    serving = asyncio.create_task(Broker(order, placement, report).serve(until))
    try:
        await asyncio.wait([serving, until], return_when=asyncio.FIRST_COMPLETED)
    finally:
        # Also when the main process was killed, which made it.
        shutil.rmtree(Path(order.socket).parent, ignore_errors=True)
        with suppress(TimeoutError):
            async with asyncio.timeout(_FAREWELL):
                await placement.close()
    if serving.done():
        serving.result()


def main() -> None:
    """Run the broker of a run."""
    # Ctrl-C is for the main process, which ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    events = os.dup(1)
    # A print of some library must not stand between the events.
    os.dup2(2, 1)
    # Not `asyncio.run`, which waits for threads that wait for a cluster that has gone.
    asyncio.new_event_loop().run_until_complete(_run(partial(_write, events)))


def _write(events: int, event: Event) -> None:
    # The main process may have been killed; its end ends this process.
    with suppress(BrokenPipeError):
        os.write(events, event.to_line())


if __name__ == "__main__":
    main()
    sys.stderr.flush()
    # Without the exit handlers of Ray, which may wait for a cluster that has gone.
    os._exit(0)
