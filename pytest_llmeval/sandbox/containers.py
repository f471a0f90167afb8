"""Containers of docker and podman, as an isolation: one for each program, gone with it."""

from __future__ import annotations

import asyncio
import shutil
import sys
import uuid
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from pytest_llmeval.sandbox.limits import Limits

ENGINES: Final = ("docker", "podman")

START: Final = 60.0
"""Wall seconds that the start of a container may take; the program's own time begins after it."""

SCRATCH: Final = "/llmeval-scratch"
"""The scratch folder as a program sees it; it is in memory. An image that has a folder of this name
would lend it its mode."""

_OURS: Final = "/llmeval"
"""Where this package is in a container."""

_PACKAGE: Final = Path(__file__).parents[1]
_NOBODY: Final = "65534:65534"
_TASKS: Final = 256  # threads, mostly: no program starts a process
_PROCESSES: Final = 2  # with the one beside it
_PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY")
"""Variables that both engines hand on, and that may hold a password."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """One container.

    Attributes:
        engine: `docker` or `podman`.
        image: its image, which must have Python 3.11 or newer as ``python3``.
        name: its name, unlike any other.
    """

    engine: str
    image: str
    name: str = field(default_factory=lambda: f"llmeval-sandbox-{uuid.uuid4().hex}")

    @classmethod
    def of(cls, isolation: str) -> Self | None:
        """Return a new container for an isolation such as ``podman:python:3.13-slim``.

        It is None for an isolation of another kind.
        """
        engine, _, image = isolation.partition(":")
        return cls(engine=engine, image=image) if engine in ENGINES else None

    def command(
        self, python: Sequence[str], *, readable: Sequence[str], limits: Limits
    ) -> list[str]:
        """Return the command that runs Python with these arguments in the container.

        It has no network, no capabilities and a file system that is read-only but for `SCRATCH`.
        """
        memory = f"{_PROCESSES * limits.memory_mb + limits.scratch_mb}m"
        scratch = f"type=tmpfs,destination={SCRATCH},tmpfs-mode=1777"
        command = [self.engine, "run", "--rm", "--interactive", "--pull", "never"]
        command += ["--name", self.name, "--label", "pytest-llmeval=sandbox"]
        command += ["--network", "none", "--ipc", "none", "--read-only"]
        if self.engine == "podman":  # which adds writable folders otherwise
            command.append("--read-only-tmpfs=false")
        command += ["--cap-drop", "ALL"]
        command += ["--security-opt", "no-new-privileges", "--security-opt", "label=disable"]
        command += ["--user", _NOBODY, "--hostname", "sandbox", "--log-driver", "none"]
        command += ["--memory", memory, "--memory-swap", memory, "--pids-limit", str(_TASKS)]
        command += ["--mount", f"{scratch},tmpfs-size={limits.scratch_mb << 20}"]
        command += ["--workdir", SCRATCH, "--entrypoint", "python3"]
        places = {str(_PACKAGE): f"{_OURS}/{_PACKAGE.name}", **{path: path for path in readable}}
        for path, place in places.items():
            command += ["--mount", f"type=bind,source={path},destination={place},readonly"]
        for name, value in self._environment().items():
            command += ["--env", f"{name}={value}"]
        return [*command, self.image, *python]

    async def remove(self) -> None:
        """Remove the container, running or not; one that is gone already is no failure."""
        process = await asyncio.create_subprocess_exec(
            self.engine, "rm", "--force", "--volumes", self.name,
            stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True,
        )  # fmt: skip
        await process.wait()

    async def missing(self) -> str | None:
        """Return why no container can be made of the image, with the fix; None if one can."""
        if shutil.which(self.engine) is None:
            return f"there is no command {self.engine!r}; install it"
        process = await asyncio.create_subprocess_exec(
            self.engine, "image", "inspect", self.image,
            stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE, start_new_session=True,
        )  # fmt: skip
        _, errors = await process.communicate()
        if process.returncode == 0:
            return None
        lines = errors.decode("utf-8", "replace").strip().splitlines() or ["no reason was given"]
        if any(words in lines[-1].lower() for words in ("no such", "not known", "not found")):
            return (
                f"{self.engine} has no image {self.image!r}, and a run pulls none; "
                f"first: {self.engine} pull {self.image}"
            )
        return f"{self.engine} does not work: {lines[-1]}"

    def _environment(self) -> Mapping[str, str]:
        proxies = dict.fromkeys((*_PROXIES, *map(str.lower, _PROXIES)), "")
        return {**proxies, **environment(SCRATCH, _OURS)}


def default_image() -> str:
    """Return the image that an engine's name alone means: the official one of this Python."""
    return f"docker.io/library/python:{sys.version_info.major}.{sys.version_info.minor}-slim"


def environment(scratch: str, packages: str) -> dict[str, str]:
    """Return the environment of a program: nothing of ours, and the same each time.

    Args:
        scratch: the scratch folder.
        packages: the folder in which Python finds this package.
    """
    return {
        "HOME": scratch,
        "TMPDIR": scratch,
        "LANG": "C.UTF-8",
        "PYTHONPATH": packages,
        "PYTHONHASHSEED": "0",
        # One thread: more would only reserve memory.
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
