"""An MCP server of a task: how it is started, and what of it is offered."""

from __future__ import annotations

import math
import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Json
from pytest_llmeval.task.options import OptionError, build
from pytest_llmeval.task.section import shown

_INHERITED: Final = (
    *("HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME"),
    *("PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"),
)
"""The variables that every server gets; keys are in none of them."""

_PYTHONS: Final = frozenset({"python", "python3"})

EXTRA: Final = "pip install 'pytest-llmeval-suite[mcp]'"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """The options of a server in a task file.

    Attributes:
        command: program to run, found by PATH, or from the task's folder if it has a slash;
            ``python`` is the interpreter that runs the tests.
        args: its arguments.
        env: variables that it gets besides the few of every server.
        pass_env: names of variables that it gets from this process, such as a key of its own.
        tools: names of the tools that are offered; () for all.
        shared: whether one process serves all samples; else each sample has its own.
        timeout: seconds that it may take to start, and for each call.
    """

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    pass_env: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    shared: bool = False
    timeout: float = 30.0

    def __post_init__(self) -> None:
        """Raise ValueError for options of wrong values."""
        if not 0 < self.timeout < math.inf:
            msg = f"timeout is {self.timeout!r}; it is a number of seconds above 0"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServer:
    """A server of a task.

    Attributes:
        name: its name in the task.
        folder: folder of the task, in which it runs.
        options: how it is started.
    """

    name: str
    folder: Path
    options: ServerOptions

    @property
    def argv(self) -> tuple[str, ...]:
        """The command with its arguments."""
        command = self.options.command
        if command in _PYTHONS:
            command = sys.executable
        elif "/" in command:
            command = str(self.folder / command)
        return (command, *self.options.args)

    @property
    def told(self) -> str:
        """The server in messages: its name, command and folder."""
        command = shlex.join([self.options.command, *self.options.args])
        return f"MCP server {self.name!r} (`{command}` in {self.folder})"

    def environment(self) -> dict[str, str]:
        """Return its whole environment; UsageError if a variable to pass on is not set."""
        missing = [name for name in self.options.pass_env if name not in os.environ]
        if missing:
            msg = (
                f"{self.told} is to get the variable {missing[0]}, which is not set; "
                "set it, or take it out of pass_env"
            )
            raise UsageError(msg)
        names = (*_INHERITED, *self.options.pass_env)
        return {name: os.environ[name] for name in names if name in os.environ} | {
            **self.options.env
        }

    def check(self) -> None:
        """Raise ValueError if it cannot be started here."""
        if find_spec("mcp") is None:
            msg = f"needs the package mcp: {EXTRA}"
            raise ValueError(msg)
        if shutil.which(self.argv[0]) is None:
            msg = (
                f"has the command {self.options.command!r}, which is not found on PATH; "
                "install it, or write its path from the task's folder (./server)"
            )
            raise ValueError(msg)


class MadeServers:
    """Makes the option ``mcp``: a mapping of names to options becomes a tuple of servers."""

    def make(self, value: Json, folder: Path) -> tuple[McpServer, ...]:
        """Return the servers, in the order of the mapping; OptionError for a wrong one."""
        if not isinstance(value, dict):
            problem = f"is {shown(value)}; write {{NAME: {{command: python, args: [server.py]}}}}"
            raise OptionError(problem)
        return tuple(_made(str(name), options, folder) for name, options in value.items())


def _made(name: str, options: Json, folder: Path) -> McpServer:
    if not isinstance(options, dict):
        problem = f"is {shown(options)}; write {{command: python, args: [server.py]}}"
        raise OptionError(problem, name)
    try:
        made: ServerOptions = build(ServerOptions, options, folder)
        server = McpServer(name=name, folder=folder.resolve(), options=made)
        server.check()
    except OptionError as error:
        raise OptionError(str(error), name, *error.place) from None
    except ValueError as error:
        raise OptionError(str(error), name) from None
    return server
