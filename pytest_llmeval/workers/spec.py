"""The value of ``--llmeval-workers``: how many workers there are, and how one is started."""

from __future__ import annotations

import math
import re
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from pytest_llmeval.errors import UsageError

NONE: Final = "none"
"""The value that switches the workers of an ini file off."""

MOST: Final = 4096
"""Workers at most; more are a slip of the finger."""

_COUNTED = re.compile(r"\s*(?P<head>[^\s*'\"]*)\s*\*\s*(?P<command>.+)", re.DOTALL)
"""``4,wait=600*srun python``: count and settings before the first asterisk."""

_FORMS: Final = (
    "ray:N[,address=HOST:PORT][,working_dir=DIR][,wait=S][,silence=S], "
    "N[,wait=S][,silence=S][,folder=DIR]*COMMAND, or none"
)

_QUOTED: Final = 200
"""Characters of a value that a message quotes."""

Key = Literal["address", "working_dir", "folder", "wait", "silence"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkersSpec:
    """Workers on other machines.

    Attributes:
        count: number of workers.
        command: words of the command that gives a Python; () if Ray places the workers.
        address: address of Ray, as typed; None for that of the environment.
        working_dir: folder that Ray copies to its nodes; None if they share the file system.
        folder: where the project's folder is on the machines of a command; None for the same path.
        wait: seconds that a worker may take to be placed and to start.
        silence: seconds after which a peer that sends nothing is lost.
    """

    count: int
    command: tuple[str, ...] = ()
    address: str | None = None
    working_dir: str | None = None
    folder: str | None = None
    wait: float
    silence: float


def parse_workers(text: str, *, folder: Path) -> WorkersSpec | None:
    """Return the workers that a text asks for; None for ``none``.

    Args:
        text: such as ``ray:32,wait=300`` or ``4*srun --ntasks=1 python``.
        folder: where relative paths start.

    Raises:
        UsageError: the text has another form, or names a command or folder that is not there.
    """
    if text.strip() == NONE:
        return None
    if text.strip() == "ray" or text.lstrip().startswith("ray:"):
        return _of_ray(text.strip().removeprefix("ray").removeprefix(":"), text, folder)
    counted = _COUNTED.fullmatch(text)
    head, command = ("1", text) if counted is None else (counted["head"], counted["command"])
    count, options = _head(head, text, {"wait", "silence", "folder"})
    return WorkersSpec(
        count=count,
        command=_words(command, text),
        folder=options.get("folder"),
        wait=_seconds("wait", 60.0, options, text),
        silence=_seconds("silence", 30.0, options, text),
    )


def _of_ray(head: str, text: str, folder: Path) -> WorkersSpec:
    count, options = _head(head, text, {"wait", "silence", "address", "working_dir"})
    copied = options.get("working_dir")
    if copied is not None and not (folder / copied).is_dir():
        raise _refused(text, f"working_dir={copied} is no folder; name the project's folder")
    return WorkersSpec(
        count=count,
        address=options.get("address"),
        working_dir=None if copied is None else str((folder / copied).resolve()),
        wait=_seconds("wait", 60.0, options, text),
        silence=_seconds("silence", 30.0, options, text),
    )


def _head(head: str, text: str, known: set[Key]) -> tuple[int, Mapping[str, str]]:
    """Return the count and the options of ``32,wait=300``."""
    number, *rest = head.split(",")
    if not number.isascii() or not number.isdecimal() or not 1 <= int(number[:9]) <= MOST:
        problem = f"{number[:_QUOTED]!r} is no number of workers; expected 1 to {MOST}"
        raise _refused(text, f"{problem}, in one of the forms {_FORMS}")
    options: dict[str, str] = {}
    for part in rest:
        name, _, value = part.partition("=")
        if name not in known or not value or name in options:
            expected = ", ".join(f"{key}=.." for key in sorted(known))
            raise _refused(text, f"{part!r} is no option here; known, each once: {expected}")
        options[name] = value
    return int(number), options


def _seconds(name: Key, usual: float, options: Mapping[str, str], text: str) -> float:
    """Return a number of seconds among the options, or its usual value."""
    if name not in options:
        return usual
    try:
        seconds = float(options[name])
    except ValueError:
        seconds = math.nan
    # In this form the comparison also refuses NaN.
    if not 1 <= seconds < math.inf:
        problem = f"{name}={options[name]} is no number of seconds; expected 1 or more"
        raise _refused(text, problem)
    return seconds


def _words(command: str, text: str) -> tuple[str, ...]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise _refused(text, f"the command cannot be read ({error}); close its quotes") from None
    if not words:
        raise _refused(text, f"the command is missing; expected {_FORMS}")
    if shutil.which(words[0]) is None:
        problem = f"there is no command {words[0]!r}; install it or name its path"
        raise _refused(text, f"{problem}. Forms: {_FORMS}")
    return tuple(words)


def _refused(text: str, problem: str) -> UsageError:
    # The problem stands behind the value, and messages are cut.
    return UsageError(f"--llmeval-workers {text[:_QUOTED]!r}: {problem}")
