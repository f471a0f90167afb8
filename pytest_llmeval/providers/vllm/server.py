"""``vllm serve`` as a child process: started, watched until it is ready, and ended."""

from __future__ import annotations

import asyncio
import re
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import aiohttp

from pytest_llmeval.errors import ProviderError
from pytest_llmeval.files import watcher
from pytest_llmeval.files.redaction import is_secret_name
from pytest_llmeval.providers.services import Endpoint

EVERY: Final = 30.0
"""Seconds between two lines about a server that is loading."""

_KEY: Final = "VLLM_API_KEY"
_OF_THE_SERVER: Final = ("HF_", "HUGGING_FACE_", "VLLM_")
"""Prefixes of secret variables that the server gets: it loads the model from a hub."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0
_ANSWER_SECONDS = 5.0
_KILLED_SECONDS = 2.0
_REAPED_SECONDS = 1.0
_LOG_TAIL: Final = 1_500
"""Bytes of its log that a message repeats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What one server is started by.

    Attributes:
        program: path of the executable.
        model: the model that it serves.
        arguments: further arguments.
        environ: the environment variables.
        log: file that gets what it prints.
        seconds: that it may take until it is ready.
        tell: shows a line to the user.
    """

    program: str
    model: str
    arguments: Sequence[str]
    environ: Mapping[str, str]
    log: Path
    seconds: float
    tell: Callable[[str], None]


class VllmServer:
    """The server's process, which ends with this one, however this one ends.

    It listens on the loopback interface, at a free port, and answers only who knows a key that is
    made for it.
    """

    def __init__(self, launch: Launch) -> None:
        """Start nothing yet."""
        self._launch = launch
        self._process: subprocess.Popen[bytes] | None = None

    async def start(self) -> Endpoint:
        """Start the server, wait until it is ready, and return where it is reached.

        Raises:
            ProviderError: it ended, was not ready in time, or another program answers in its place;
                the model is lost, and the message has the end of the log.
        """
        launch, began = self._launch, time.monotonic()
        endpoint = Endpoint(
            model=f"vllm/{launch.model}",
            base_url=f"http://127.0.0.1:{_free_port()}/v1",
            key_name=_KEY,
            key=secrets.token_urlsafe(24),
        )
        launch.tell(f"{endpoint.model}: starting `vllm serve` (its log: {launch.log})")
        self._spawn(endpoint)
        try:
            async with asyncio.timeout(launch.seconds):
                await self._ready(endpoint, began)
        except TimeoutError:
            problem = f"was not ready after {launch.seconds:g} s (its spec's startup=)"
            raise self._lost(problem) from None
        launch.tell(f"{endpoint.model}: ready after {time.monotonic() - began:.0f} s")
        return endpoint

    async def ended(self) -> ProviderError | None:
        """Return the error of a server that has ended, after a moment; None if it runs."""
        process = self._process
        if process is None:
            return None
        with suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(process.wait, _REAPED_SECONDS)
        return None if process.returncode is None else self._lost(_ended(process.returncode))

    async def stop(self) -> None:
        """End the process, if it was started."""
        if self._process is None:
            return
        assert self._process.stdin is not None  # noqa: S101 - a pipe
        self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):  # its watcher goes on ending it
            await asyncio.to_thread(self._process.wait, watcher.GRACE + _KILLED_SECONDS)

    def _spawn(self, endpoint: Endpoint) -> None:
        launch = self._launch
        port = endpoint.base_url.rpartition(":")[2].removesuffix("/v1")
        command = [
            *(launch.program, "serve", launch.model, "--host", "127.0.0.1", "--port", port),
            *launch.arguments,
        ]
        try:
            launch.log.parent.mkdir(parents=True, exist_ok=True)
            self._process = subprocess.Popen(  # noqa: S603 - our own file, and the user's program
                [sys.executable, "-P", watcher.__file__, str(watcher.GRACE), launch.log, *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**_environment(launch.environ), _KEY: endpoint.key},
                start_new_session=True,  # Ctrl-C reaches the parent alone
            )
        except OSError as error:
            problem = f"could not be started: {error}"
            raise self._lost(problem) from error

    async def _ready(self, endpoint: Endpoint, began: float) -> None:
        """Wait until the server is ready, and print a progress line every `EVERY` seconds."""
        process, told, pause = self._process, began, _FIRST_PAUSE
        assert process is not None  # noqa: S101 - started by the caller
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(_ANSWER_SECONDS)) as client:
            while not await _healthy(client, endpoint):
                if process.poll() is not None:
                    problem = f"{_ended(process.returncode)} before it was ready"
                    raise self._lost(problem)
                if time.monotonic() - told >= EVERY:
                    told = time.monotonic()
                    self._launch.tell(f"{endpoint.model}: loading for {told - began:.0f} s")
                await asyncio.sleep(pause)
                pause = min(_LONGEST_PAUSE, 2 * pause)
            if not await _serves(client, endpoint, self._launch.model):
                problem = f"is not what answers at {endpoint.base_url}; run again"
                raise self._lost(problem)

    def _lost(self, problem: str) -> ProviderError:
        log = self._launch.log
        told = f"`vllm serve {self._launch.model}` {problem}; its log, {log}, ends:\n{end_of(log)}"
        return ProviderError(f"vllm/{self._launch.model}: {told}", reach="model", cause="server")


async def _healthy(client: aiohttp.ClientSession, endpoint: Endpoint) -> bool:
    try:
        async with client.get(endpoint.base_url.removesuffix("v1") + "health") as response:
            return response.ok
    except (aiohttp.ClientError, TimeoutError):
        return False


async def _serves(client: aiohttp.ClientSession, endpoint: Endpoint, model: str) -> bool:
    """Return whether the server knows its key and its model: the port may be another's by now."""
    headers = {"Authorization": f"Bearer {endpoint.key}"}
    try:
        async with client.get(f"{endpoint.base_url}/models", headers=headers) as response:
            listed = await response.json() if response.ok else {}
            return any(one["id"] == model for one in listed.get("data", ()))
    except (aiohttp.ClientError, TimeoutError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables without keys, except those of what the server loads models from."""
    return {
        name: value
        for name, value in environ.items()
        if not is_secret_name(name) or name.upper().startswith(_OF_THE_SERVER)
    }


def end_of(log: Path) -> str:
    """Return the last words of a log, which may have grown for days; "" without one."""
    if not log.is_file():
        return ""
    with log.open("rb") as file:
        cut = max(0, log.stat().st_size - _LOG_TAIL)
        file.seek(cut)
        said = file.read(_LOG_TAIL).decode("utf-8", "replace").strip()
    return re.sub(r"\A\S*\s+", "... ", said) if cut else said


def _ended(code: int) -> str:
    return f"ended with code {code}"


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
