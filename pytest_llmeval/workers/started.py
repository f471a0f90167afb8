"""A worker that was started, and is what the main process is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

from pytest_llmeval.workers.connection import PeerLostError
from pytest_llmeval.workers.frames import Frame, Kind
from pytest_llmeval.workers.order import Order
from pytest_llmeval.workers.placement import Placed, Placement, PlacementError
from pytest_llmeval.workers.setup import Hello


@dataclass(frozen=True, slots=True)
class Started:
    """A worker whose process waits for execnet.

    Attributes:
        placed: its place.
        hello: who it is.
        frames: what its supervisor sends from now on.
        beating: sends signs of life to its supervisor.
    """

    placed: Placed
    hello: Hello
    frames: AsyncIterator[Frame]
    beating: asyncio.Task[None]

    def end(self) -> None:
        """End it, in whatever state it is."""
        self.beating.cancel()
        self.placed.connection.close()
        self.placed.end()


async def start(order: Order, placement: Placement) -> Started:
    """Have a worker started, and check that it is what the main process is.

    Raises:
        PlacementError: it cannot be started, or has another Python or another code.
    """
    placed = await placement.place()
    beating = asyncio.create_task(placed.connection.beat())
    # Retrieved: a lost connection is noticed by reading too.
    beating.add_done_callback(lambda task: task.cancelled() or task.exception())
    try:
        frames = placed.connection.frames()
        await placed.connection.send(Kind.SETUP, order.setup.to_bytes())
        answer = await anext(frames)
        hello = _hello(answer, order)
    except PeerLostError as error:
        placed.end()
        msg = f"a worker was lost while it started: {error}"
        raise PlacementError(msg) from None
    except BaseException:
        beating.cancel()
        placed.connection.close()
        placed.end()
        raise
    return Started(placed, hello, frames, beating)


def _hello(answer: Frame, order: Order) -> Hello:
    """Return who a worker is; PlacementError if it differs in what may change scores."""
    if answer.kind is Kind.REFUSED:
        raise PlacementError(_without_folder(answer.payload.decode(errors="replace")))
    hello = Hello.from_bytes(answer.payload)
    ours = order.python.rpartition(".")[0]
    if hello.python.rpartition(".")[0] != ours:
        msg = (
            f"Python {hello.python} on {hello.host}, Python {order.python} here; "
            f"workers need Python {ours}"
        )
        raise PlacementError(msg)
    if hello.package != order.package:
        msg = (
            f"pytest_llmeval {hello.package} on {hello.host}, {order.package} here; install the "
            "same there, share the folder, or copy it (ray:N,working_dir=DIR)"
        )
        raise PlacementError(msg)
    return hello


def _without_folder(problem: str) -> str:
    return (
        f"{problem}; workers need the project's folder at the same path, a copy of it "
        "(ray:N,working_dir=DIR), or its place there (N,folder=DIR*COMMAND)"
    )
