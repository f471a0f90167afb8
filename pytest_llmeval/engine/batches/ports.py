"""The port of a provider's batch API."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple, Protocol, runtime_checkable

from pytest_llmeval.engine.ports import ProviderSetup
from pytest_llmeval.records import Reply, Request


class BatchForm(NamedTuple):
    """The form of a batch's file.

    Attributes:
        requests: requests of one batch at most.
        size: bytes of its file at most.
        start, between, end: what stands before, between and after the lines of its requests.
    """

    requests: int
    size: int
    start: bytes = b""
    between: bytes = b"\n"
    end: bytes = b"\n"


class Result(NamedTuple):
    """One line of a batch's results.

    Attributes:
        key: the id that the request was sent with, its `Request.key`.
        answered: whether a reply is in it, which is paid.
        line: the line.
    """

    key: str
    answered: bool
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchState:
    """The state of a batch.

    Attributes:
        ended: whether no request of it will be answered any more.
        refused: why the whole batch was refused, so that nothing of it was paid; "" if it was not.
        crowded: whether it was refused because the account has too much waiting already.
        cancelled: whether it was cancelled, so that requests without reply are not repeated.
        places: where its results are, in the provider's own terms.
    """

    ended: bool
    refused: str = ""
    crowded: bool = False
    cancelled: bool = False
    places: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sending:
    """A batch that is created, or was perhaps created.

    Attributes:
        mark: a text that no other batch has; sent with it where the API takes one.
        group: what its requests have in common (`BatchService.group`).
        created: when it was written down, before it was sent (s since 1970).
        requests: number of its requests.
    """

    mark: str
    group: str
    created: float
    requests: int


class BatchService(Protocol):
    """The batch API of one model's provider.

    Each method calls the API once at most, and raises ProviderError when that fails: its `reach` is
    ``"attempt"`` if the same call may succeed later.
    """

    @property
    def form(self) -> BatchForm:
        """The form of a batch's file."""
        ...

    def group(self, request: Request) -> str:
        """Return what the requests of one batch must have in common; "" for nothing."""
        ...

    def line(self, request: Request) -> bytes:
        """Return the JSON of a request in a batch's file, without line break."""
        ...

    async def create(self, sending: Sending, file: BinaryIO) -> str:
        """Create a batch by its file, which is read from its start and closed; return its id."""
        ...

    async def find(self, sending: Sending) -> tuple[str, ...]:
        """Return the ids of the batches that may be the one of an earlier `create`.

        Where the API takes no mark, those of its time and number of requests; its results tell.
        """
        ...

    async def state(self, batch: str) -> BatchState:
        """Return the state of a batch; ProviderError with status 404 if there is none."""
        ...

    def results(self, batch: str, state: BatchState) -> AsyncIterator[Result]:
        """Yield the lines of an ended batch's results that can be read, in any order."""
        ...

    async def reply(self, line: str, request: Request) -> Reply:
        """Return the reply in a line of results; ProviderError if the request failed.

        What a policy filter refused is a reply, as it is where no batch is used.
        """
        ...

    async def cancel(self, batch: str) -> None:
        """Cancel a batch; what is answered already is kept."""
        ...

    async def close(self) -> None:
        """Close connections."""
        ...


@runtime_checkable
class OpenBatches(Protocol):
    """An opener of providers (`OpenProvider`) that have a batch API."""

    def open_batches(self, setup: ProviderSetup) -> BatchService:
        """Return the batch API of one model; UsageError when something is missing."""
        ...
