"""One run of a program in the sandbox."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
from asyncio.subprocess import PIPE
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_llmeval.errors import ToolError
from pytest_llmeval.sandbox.containers import SCRATCH as SCRATCH_IN_CONTAINER
from pytest_llmeval.sandbox.containers import START, Container, environment
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
from pytest_llmeval.sandbox.watched import Watched

PROGRAM: Final = "pytest_llmeval.sandbox.program"
"""The module that runs its standard input."""

_LAUNCHER: Final = ("-P", "-s", "-B", "-m", "pytest_llmeval.sandbox.launcher")
_ALONE: Final = ("-S",)  # an image has its libraries where its Python looks for them
_ROOT = Path(__file__).parents[2]

_MEGABYTE = 1 << 20


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
    beside: str | None = None,
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
        beside: dotted name of a module that runs in a second process of the same sandbox, with the
            same limits, and is known to `module` by pipes alone; see `launcher`.
        arguments: arguments of the module.
        readable: files that it may read.
        limits: what it may use.

    Raises:
        ToolError: the sandbox could not be set up.
    """
    start = time.monotonic()
    scratch = Path(tempfile.mkdtemp(prefix="llmeval-sandbox-"))
    container = Container.of(isolation)
    watched = Watched(limits, scratch, start=START if container else 0.0)
    try:
        await _start(
            watched,
            isolation,
            container,
            [module, *arguments],
            beside=beside,
            readable=readable,
            limits=limits,
            scratch=scratch,
        )
        await watched.finish(text)
    finally:
        if container is not None and (watched.killed or not watched.ended):
            await asyncio.shield(container.remove())
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


async def _start(  # noqa: PLR0913 - as above
    watched: Watched,
    isolation: Isolation,
    container: Container | None,
    module: list[str],
    *,
    beside: str | None,
    readable: Sequence[Path],
    limits: Limits,
    scratch: Path,
) -> None:
    """Start the child with `watched` as its protocol; ToolError if it cannot be started."""
    named = [str(path.resolve()) for path in readable]
    paths = [*readable_paths(), *named]
    own = str(scratch)
    if container is not None:
        own = SCRATCH_IN_CONTAINER
    elif isolation == "bwrap":
        own = SCRATCH
    settings = Settings(
        isolation=isolation if container is None else "container",
        parent=os.getpid(),
        wall_seconds=limits.wall_seconds,
        cpu_seconds=limits.cpu_seconds,
        memory_mb=limits.memory_mb,
        file_mb=limits.file_mb,
        open_files=limits.open_files,
        paths=[] if container else library_folders(),
        readable=[] if container else landlock_paths(paths),
        scratch=own,
        beside=beside,
    )
    launcher = [*_LAUNCHER, settings.to_text(), *module]
    command = [python(), *_ALONE, *launcher]
    if container is not None:
        command = container.command(launcher, readable=named, limits=limits)
    elif isolation == "bwrap":
        command = [*bubblewrap(paths, scratch_bytes=limits.scratch_mb * _MEGABYTE), *command]
    try:
        await asyncio.get_running_loop().subprocess_exec(
            lambda: watched,
            *command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            cwd=scratch,
            # The client of a container's engine is ours; what is in the container gets its own.
            env=_environment(settings.scratch) if container is None else None,
            start_new_session=True,  # no terminal, no Ctrl-C; killed as a group
        )
    except OSError as error:
        msg = f"the sandbox ({isolation}) could not be started: {error}"
        raise ToolError(msg) from error


def _environment(scratch: str) -> dict[str, str]:
    """Return the whole environment of a program outside of containers."""
    libraries = os.environ.get("LD_LIBRARY_PATH")
    return {
        **environment(scratch, str(_ROOT)),
        **({"LD_LIBRARY_PATH": libraries} if libraries else {}),
    }
