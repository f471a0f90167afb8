"""One run of a program in the sandbox."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import tempfile
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_llmeval.errors import ToolError
from pytest_llmeval.sandbox.isolation import (
    SCRATCH,
    Isolation,
    bubblewrap,
    landlock_paths,
    library_folders,
    python,
    readable_paths,
)
from pytest_llmeval.sandbox.launcher import SEALED, Settings
from pytest_llmeval.sandbox.limits import Limits

PROGRAM: Final = "pytest_llmeval.sandbox.program"
"""The module that runs its standard input."""

_LAUNCHER: Final = ("-P", "-s", "-S", "-B", "-m", "pytest_llmeval.sandbox.launcher")
_ROOT = Path(__file__).parents[2]

# Wall seconds.
_GRACE = 2.0  # from the end of the process to that of its pipes
_LOOK = 0.1  # between two looks at the scratch folder

_MEGABYTE = 1 << 20
_CHUNK = 1 << 16
_BLOCK = 512  # of st_blocks, on every system
_SHELL_SIGNALS = 128
"""Bubblewrap exits with this and the number of the signal that ended its program."""

_WORDS = {
    signal.SIGXCPU: "it used more than {cpu_seconds} s of processor time",
    signal.SIGKILL: "it was killed",
    signal.SIGSEGV: "it crashed (segmentation fault)",
    signal.SIGABRT: "it aborted",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What became of a run; all texts are hostile.

    Attributes:
        output: standard output.
        errors: standard error.
        problem: why the program did not end by itself with status 0; None when it did.
        seconds: wall time, with the start of the process.
    """

    output: str
    errors: str
    problem: str | None
    seconds: float


async def run_program(  # noqa: PLR0913 - what is run, on what, and how
    text: str,
    *,
    isolation: Isolation,
    module: str = PROGRAM,
    arguments: Sequence[str] = (),
    readable: Sequence[Path] = (),
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> Run:
    """Run a Python program that a model wrote.

    It finds this package and the installed libraries, and reads `readable`. It may write to its
    working directory, which is empty and does not outlive it. It has no network, starts no process,
    and is killed at the first limit that it exceeds.

    Args:
        text: the program, or whatever else `module` takes on standard input.
        isolation: how it is isolated.
        module: dotted name of the module that runs it.
        arguments: arguments of the module.
        readable: files that it may read.
        limits: what it may use.

    Raises:
        ToolError: the sandbox could not be set up.
    """
    start = time.monotonic()
    scratch = Path(tempfile.mkdtemp(prefix="llmeval-sandbox-"))
    try:
        process = await _start(isolation, [module, *arguments], readable, limits, scratch)
        watched = _Watched(process, limits, scratch)
        await watched.finish(text)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    output = watched.output.removeprefix(f"{SEALED}\n")
    if output == watched.output:  # the line came before anything of the program ran
        why = watched.errors.strip() or watched.problem or "no reason was given"
        msg = f"the sandbox ({isolation}) could not be set up: {why.splitlines()[-1]}"
        raise ToolError(msg)
    return Run(
        output=output,
        errors=watched.errors,
        problem=watched.problem,
        seconds=time.monotonic() - start,
    )


async def _start(
    isolation: Isolation,
    module: list[str],
    readable: Sequence[Path],
    limits: Limits,
    scratch: Path,
) -> Process:
    paths = [*readable_paths(), *(str(path.resolve()) for path in readable)]
    inside = isolation == "bwrap"
    settings = Settings(
        isolation=isolation,
        parent=os.getpid(),
        cpu_seconds=limits.cpu_seconds,
        memory_mb=limits.memory_mb,
        file_mb=limits.file_mb,
        open_files=limits.open_files,
        paths=library_folders(),
        readable=landlock_paths(paths),
        scratch=SCRATCH if inside else str(scratch),
    )
    command = [python(), *_LAUNCHER, settings.to_text(), *module]
    if inside:
        command = [*bubblewrap(paths, scratch_bytes=limits.scratch_mb * _MEGABYTE), *command]
    try:
        return await asyncio.create_subprocess_exec(
            *command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            cwd=scratch,
            env=_environment(settings.scratch),
            start_new_session=True,  # no terminal, no Ctrl-C; killed as a group
        )
    except OSError as error:
        msg = f"the sandbox ({isolation}) could not be started: {error}"
        raise ToolError(msg) from error


def _environment(scratch: str) -> dict[str, str]:
    """Return the whole environment of a program: nothing of ours, and the same each time."""
    libraries = os.environ.get("LD_LIBRARY_PATH")
    return {
        "HOME": scratch,
        "TMPDIR": scratch,
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(_ROOT),
        "PYTHONHASHSEED": "0",
        # One thread: more would only reserve memory.
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        **({"LD_LIBRARY_PATH": libraries} if libraries else {}),
    }


class _Watched:
    """A running child: its output so far, and why it was ended."""

    def __init__(self, process: Process, limits: Limits, scratch: Path) -> None:
        self._process, self._limits, self._scratch = process, limits, scratch
        self._texts = {"output": bytearray(), "errors": bytearray()}
        self.problem: str | None = None

    @property
    def output(self) -> str:
        """Standard output so far."""
        return self._texts["output"].decode("utf-8", "replace")

    @property
    def errors(self) -> str:
        """Standard error so far."""
        return self._texts["errors"].decode("utf-8", "replace")

    async def finish(self, text: str) -> None:
        """Wait until the child has ended, or end it; nothing of it is left."""
        streams = [
            asyncio.create_task(self._write(text)),
            asyncio.create_task(self._read("output", self._process.stdout)),
            asyncio.create_task(self._read("errors", self._process.stderr)),
        ]
        look = asyncio.create_task(self._look_at_scratch())
        try:
            async with asyncio.timeout(self._limits.wall_seconds):
                await self._process.wait()
        except TimeoutError:
            self._end(f"it did not end within {self._limits.wall_seconds:g} s")
        finally:
            self._kill()
            look.cancel()
            await self._process.wait()
            _, pending = await asyncio.wait(streams, timeout=_GRACE)
            for task in pending:
                task.cancel()
        if self.problem is None:
            self.problem = self._ending()

    def _end(self, problem: str) -> None:
        """Kill the child for a reason; the first one counts."""
        self.problem = self.problem or problem
        self._kill()

    def _kill(self) -> None:
        """Kill the process and its group, unless it has ended: its number may be another's then."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    async def _write(self, text: str) -> None:
        assert self._process.stdin is not None  # noqa: S101 - a pipe, by `_start`
        with suppress(ConnectionError):
            self._process.stdin.write(text.encode("utf-8", "surrogatepass"))
            await self._process.stdin.drain()
        self._process.stdin.close()

    async def _read(self, name: str, stream: asyncio.StreamReader | None) -> None:
        assert stream is not None  # noqa: S101 - as above
        most = self._limits.output_bytes + len(f"{SEALED}\n")
        while chunk := await stream.read(_CHUNK):
            self._texts[name] += chunk
            if len(self._texts[name]) > most:
                del self._texts[name][most:]
                self._end(f"it wrote more than {self._limits.output_bytes} bytes")
                return

    async def _look_at_scratch(self) -> None:
        """End the child when its scratch folder is full; in bubblewrap the folder is elsewhere."""
        most = self._limits.scratch_mb * _MEGABYTE
        while _size(self._scratch) <= most:  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(_LOOK)
        self._end(f"its files exceeded {self._limits.scratch_mb} MB")

    def _ending(self) -> str | None:
        """Return why the child ended, None when it ended well."""
        status = self._process.returncode
        if not status:
            return None
        number = -status if status < 0 else status - _SHELL_SIGNALS
        if number in signal.valid_signals():
            name = signal.Signals(number)
            words = _WORDS.get(name, f"it ended by the signal {name.name}")
            return words.format(cpu_seconds=self._limits.cpu_seconds)
        return f"it ended with status {status}"


def _size(folder: Path) -> int:
    """Return the bytes on disk of all below a folder, whatever becomes of it meanwhile."""
    total = 0
    for place, _, files in os.walk(folder):
        for file in files:
            with suppress(OSError):
                total += Path(place, file).lstat().st_blocks * _BLOCK
    return total
