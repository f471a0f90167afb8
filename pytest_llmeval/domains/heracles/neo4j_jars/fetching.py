"""Jars from a Maven repository over HTTP: several at a time, each resumed where it broke off."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Final

import httpx2

from pytest_llmeval.domains.heracles.neo4j_jars.installed import is_whole
from pytest_llmeval.domains.heracles.neo4j_jars.locked import Jar
from pytest_llmeval.errors import UsageError

PARTIAL: Final = ".partial"
"""Ending of the name of a file that is not whole."""

_AT_ONCE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a poor connection is put up with.

    Attributes:
        tries: attempts at a file of which none brought `least` bytes, until it is given up.
        least: bytes.
        stall: seconds in which an attempt must bring `least` bytes, or is broken off.
        wait: seconds before the second try; doubled before each further one.
        longest_wait: most seconds between two tries, also when the server asks for more.
    """

    tries: int = 4
    least: int = 20_000
    stall: float = 20.0
    wait: float = 0.5
    longest_wait: float = 30.0


USUAL: Final = Patience()


class _BrokenError(Exception):
    """An attempt failed that is worth another one, after `wait` seconds if the server says so."""

    def __init__(self, problem: str, *, wait: float | None = None) -> None:
        super().__init__(problem)
        self.wait = wait


async def fetch_jars(
    jars: Iterable[Jar],
    url: str,
    folder: Path,
    *,
    fetched: Callable[[int], None],
    patience: Patience,
) -> None:
    """Fetch jars into a folder; those that are whole afterwards have their own names.

    Args:
        jars: which ones.
        url: address of the Maven repository.
        folder: where they go; a partial file that it holds is continued.
        fetched: called with the number of bytes that came, negative when they were dropped.
        patience: how long a poor connection is put up with.

    Raises:
        UsageError: a file cannot be had; the message names its address. The others of its moment
            are kept as far as they came.
    """
    slots = asyncio.Semaphore(_AT_ONCE)
    timeout = httpx2.Timeout(patience.stall, connect=min(patience.stall, 10.0), pool=None)
    async with httpx2.AsyncClient(timeout=timeout, follow_redirects=True) as client:

        async def fetch(jar: Jar) -> None:
            async with slots:
                await _Download(client, jar, url, folder, fetched, patience).run()

        try:
            async with asyncio.TaskGroup() as group:
                for jar in jars:
                    group.create_task(fetch(jar))
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None


@dataclass(frozen=True, slots=True)
class _Download:
    """One jar on its way."""

    client: httpx2.AsyncClient
    jar: Jar
    url: str
    folder: Path
    fetched: Callable[[int], None]
    patience: Patience

    @property
    def address(self) -> str:
        return f"{self.url.rstrip('/')}/{self.jar.path}"

    @property
    def partial(self) -> Path:
        return self.folder / (self.jar.name + PARTIAL)

    async def run(self) -> None:
        """Try until the jar is whole; UsageError when it cannot be had."""
        if self._held() > 0:
            self.fetched(self._held())
        poor = 0
        while True:
            before, wait = self._held(), None
            try:
                await self._attempt()
                self._check()
            except _BrokenError as error:
                problem, wait = str(error), error.wait
            except (httpx2.HTTPError, TimeoutError) as error:
                problem = str(error) or type(error).__name__
            except OSError as error:
                msg = f"{self.partial}: cannot be written: {error.strerror or error}"
                raise UsageError(msg) from error
            else:
                return
            if self._held() - before < self.patience.least:
                poor += 1
            if poor == self.patience.tries:
                msg = f"{self.address}: {problem}, {poor} times"
                raise UsageError(msg)
            usual = self.patience.wait * 2 ** max(0, poor - 1) * random.uniform(0.5, 1)  # noqa: S311 - no secret
            await asyncio.sleep(min(usual if wait is None else wait, self.patience.longest_wait))

    async def _attempt(self) -> None:
        """Send one request, and append what comes to the partial file."""
        if (held := self._held()) == self.jar.size:
            return
        # Bytes of the file itself, not compressed ones, or else a range means something else.
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={held}-"} if held else {})
        async with self.client.stream("GET", self.address, headers=headers) as response:
            self._check_status(response)
            if held and not _continues(response, held):
                self._drop()
            with self.partial.open("ab") as file:
                await self._append(file.write, response)

    async def _append(self, write: Callable[[bytes], object], response: httpx2.Response) -> None:
        """Write the body; a stream that is slower than `patience` is broken off."""
        loop = asyncio.get_running_loop()
        new = 0
        async with asyncio.timeout(self.patience.stall) as deadline:
            # As it comes: what waited for a chunk to be full would be lost with the connection.
            async for chunk in response.aiter_raw():
                write(chunk)
                self.fetched(len(chunk))
                new += len(chunk)
                if new >= self.patience.least:
                    deadline.reschedule(loop.time() + self.patience.stall)
                    new = 0
                if self._held() > self.jar.size:
                    break

    def _check_status(self, response: httpx2.Response) -> None:
        """Raise _BrokenError for a status worth another try, UsageError for any other failure."""
        status = response.status_code
        if status in {HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT}:
            return
        problem = f"HTTP {status} {response.reason_phrase}".rstrip()
        if status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            self._drop()
            raise _BrokenError(problem)
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in {
            HTTPStatus.TOO_MANY_REQUESTS,
            HTTPStatus.REQUEST_TIMEOUT,
        }:
            wait = None
            with suppress(ValueError):
                wait = max(0.0, float(response.headers.get("Retry-After", "")))
            raise _BrokenError(problem, wait=wait)
        msg = f"{self.address}: {problem}; is it a Maven repository with all of Maven Central?"
        raise UsageError(msg)

    def _check(self) -> None:
        """Give a whole file its name, and drop one with other bytes."""
        if self._held() < self.jar.size:
            msg = f"the connection ended after {self._held()} of {self.jar.size} bytes"
            raise _BrokenError(msg)
        if not is_whole(self.partial, self.jar):
            self._drop()
            msg = f"its bytes are not those of the list (sha256 {self.jar.sha256})"
            raise _BrokenError(msg)
        self.partial.replace(self.folder / self.jar.name)

    def _held(self) -> int:
        return self.partial.stat().st_size if self.partial.exists() else 0

    def _drop(self) -> None:
        self.fetched(-self._held())
        self.partial.unlink(missing_ok=True)


def _continues(response: httpx2.Response, held: int) -> bool:
    """Return whether a response begins where the partial file ends; some servers send all again."""
    return response.status_code == HTTPStatus.PARTIAL_CONTENT and response.headers.get(
        "Content-Range", ""
    ).startswith(f"bytes {held}-")
