"""The child: limits itself, gives up what it does not need, then runs one of our modules.

``python -m pytest_llmeval.sandbox.launcher SETTINGS MODULE ARGUMENT...``; the settings are a JSON
object (`Settings`). Standard output begins with the line `SEALED`, from where on all of it is the
module's, which may be under the control of what a model wrote.

With the setting `beside` a second process, sealed alike, runs another module. The two have a pair
of pipes and nothing else in common but standard error: the second one's input and output are
``/dev/null``, and it is made before the first one has read anything. The descriptors of the pipes
are the last arguments of both modules, the one to read first; of the first module the number of the
second process follows, which it may kill.
"""

from __future__ import annotations

import dataclasses
import json
import os
import runpy
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

if sys.platform != "win32":
    import resource

SEALED: Final = "sealed"

_MEGABYTE = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How the child limits itself.

    Attributes:
        isolation: `bwrap` if the child starts in bubblewrap, `container` if in one of docker or
            podman, `landlock` to give up files by itself, `limits` for no isolation but what the
            kernel grants.
        parent: number of the parent process, for `landlock` and `limits`.
        wall_seconds: as in `Limits`, like all that follow; held here in a container only.
        cpu_seconds: as above.
        memory_mb: as above.
        file_mb: as above.
        open_files: as above.
        paths: folders on which modules are found.
        readable: files and folders that `landlock` keeps readable.
        scratch: the scratch folder.
        beside: dotted name of the module of the second process; None for no such process.
    """

    isolation: str
    parent: int
    wall_seconds: float
    cpu_seconds: int
    memory_mb: int
    file_mb: int
    open_files: int
    paths: list[str]
    readable: list[str]
    scratch: str
    beside: str | None = None

    def to_text(self) -> str:
        """Return the settings as one argument of a command."""
        return json.dumps(dataclasses.asdict(self))


def main() -> None:
    """Seal this process, and run the module."""
    settings = Settings(**json.loads(sys.argv[1]))
    if settings.isolation == "container":
        _leave_first_process(settings.wall_seconds)
    elif settings.isolation != "bwrap":
        _die_with(settings.parent)
    os.chdir(settings.scratch)
    _limit(settings)
    sys.path += settings.paths
    module, sys.argv = sys.argv[2], sys.argv[2:]
    child = None
    if settings.beside is not None:
        pipes, child = _start_beside(settings, settings.beside)
        sys.argv += [*map(str, pipes), str(child)]
    _seal(settings, child)
    sys.stdout.write(f"{SEALED}\n")
    sys.stdout.flush()
    _run(module)


def _run(module: str) -> None:
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _start_beside(settings: Settings, module: str) -> tuple[tuple[int, int], int]:
    """Start the second process; return what the first reads from and writes to, and its number.

    It says that it is sealed by an empty line; without one this process ends, unsealed.
    """
    parent = os.getpid()
    (inward, tell), (listen, outward) = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        _die_with(parent)
        null = os.open(os.devnull, os.O_RDWR)
        for taken in (0, 1):
            os.dup2(null, taken)
        for other in (null, tell, listen):
            os.close(other)
        _seal(settings)
        os.write(outward, b"\n")
        sys.argv = [module, str(inward), str(outward)]
        _run(module)
        sys.exit()
    os.close(inward)
    os.close(outward)
    if os.read(listen, 1) != b"\n":
        sys.exit("the process beside it could not be sealed")
    return (listen, tell), child


def _leave_first_process(wall_seconds: float) -> None:
    """Go on as a child; the first process of the container waits for it and ends with its status.

    The kernel keeps most signals from a first process, also those of limits. When it ends so does
    all else in the container. By its clock the container also ends if nobody is left to kill it.
    """
    from pytest_llmeval.sandbox.kernel import (  # noqa: PLC0415 - there is none elsewhere
        PR_SET_DUMPABLE,
        process_control,
    )

    process_control(PR_SET_DUMPABLE, 0)  # no other process reads or writes its memory by /proc
    child = os.fork()
    if child == 0:
        return
    signal.signal(signal.SIGALRM, lambda *_: os._exit(128 + signal.SIGALRM))
    signal.setitimer(signal.ITIMER_REAL, wall_seconds)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os._exit(status if status >= 0 else 128 - status)


def _die_with(parent: int) -> None:
    """End this process when its parent ends; macOS has no such thing."""
    if sys.platform == "linux":
        from pytest_llmeval.sandbox.kernel import (  # noqa: PLC0415 - there is none elsewhere
            PR_SET_PDEATHSIG,
            process_control,
        )

        process_control(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def _limit(settings: Settings) -> None:
    _set_limit(resource.RLIMIT_CORE, 0)
    _set_limit(resource.RLIMIT_CPU, settings.cpu_seconds, more=1)  # SIGXCPU, then SIGKILL
    _set_limit(resource.RLIMIT_FSIZE, settings.file_mb * _MEGABYTE)
    _set_limit(resource.RLIMIT_NOFILE, settings.open_files)
    if sys.platform == "linux":  # macOS knows the limit and does not hold it
        _set_limit(resource.RLIMIT_AS, settings.memory_mb * _MEGABYTE)


def _set_limit(which: int, value: int, *, more: int = 0) -> None:
    """Set a limit, and by `more` a higher one that not even the process itself can raise."""
    hard = resource.getrlimit(which)[1]
    if hard != resource.RLIM_INFINITY:
        value, more = min(value, hard), 0
    resource.setrlimit(which, (value, value + more))


def _seal(settings: Settings, child: int | None = None) -> None:
    """Give up files and system calls, as far as the isolation asks for it; `child` may be ended."""
    if sys.platform != "linux":
        _set_limit(resource.RLIMIT_NPROC, 1)  # no further process
        return
    from pytest_llmeval.sandbox import kernel, landlock, system_calls  # noqa: PLC0415 - as above

    if settings.isolation == "landlock":
        kernel.process_control(kernel.PR_SET_NO_NEW_PRIVS, 1)
        kernel.drop_capabilities()
        landlock.give_up_files(readable=settings.readable, scratch=settings.scratch)
        system_calls.refuse_system_calls(child=child)
        return
    # Bubblewrap and containers are enough where the filter is not known, and `limits` promises
    # nothing of it.
    with suppress(OSError):
        kernel.drop_capabilities()
    try:
        system_calls.refuse_system_calls(child=child)
    except OSError:
        _set_limit(resource.RLIMIT_NPROC, 1)


if __name__ == "__main__":
    main()
