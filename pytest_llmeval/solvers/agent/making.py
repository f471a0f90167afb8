"""The tools of a task, made from their names and options."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, cast

from pytest_llmeval.engine.tool import Tool
from pytest_llmeval.errors import TaskError, UsageError
from pytest_llmeval.records import Json
from pytest_llmeval.safety.raised import described_with_place
from pytest_llmeval.scoring.schemas import Schema
from pytest_llmeval.solvers.agent.function_tool import FunctionTool, model_parameters
from pytest_llmeval.task.options import OptionError, build, checked
from pytest_llmeval.task.registry import TOOLS
from pytest_llmeval.task.section import shown

_PARTS: Final = ("name", "description", "parameters")
"""The attributes of the port `Tool`, besides that it can be called."""

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""Names that every provider accepts."""


class MadeTools:
    """Makes the option ``tools``: a mapping of names to options becomes a tuple of tools."""

    def make(self, value: Json, folder: Path) -> tuple[Tool, ...]:
        """Return the tools, in the order of the mapping.

        Raises:
            OptionError: a name or an option is wrong, or two tools have the same name.
        """
        if not isinstance(value, dict) or not value:
            problem = f"is {shown(value)}; write the tools with their options: {{NAME: {{}}}}"
            raise OptionError(problem)
        made: dict[str, Tool] = {}
        for name, options in value.items():
            tool = _made(str(name), {} if options is None else options, folder)
            if tool.name in made:
                problem = f"is a second tool that the model calls {tool.name!r}"
                raise OptionError(problem, name)
            made[tool.name] = tool
        return tuple(made.values())


def _made(name: str, options: Json, folder: Path) -> Tool:
    if not isinstance(options, dict):
        problem = f"has the options {shown(options)}, not a mapping"
        raise OptionError(problem, name)
    if not TOOLS.knows(name):
        raise OptionError(TOOLS.unknown(name))
    try:
        tool = _tool(TOOLS.load(name, folder), options, folder)
        _check(tool)
    except OptionError as error:
        raise OptionError(str(error), name, *error.place) from None
    except (UsageError, TaskError, ValueError) as error:
        raise OptionError(str(error), name) from None
    except Exception as error:
        problem = f"cannot be made: {described_with_place(error)}"
        raise OptionError(problem, name) from error
    return tool


def _tool(found: Callable[..., Any], options: dict[str, Json], folder: Path) -> Tool:
    """Return a tool: of a class with its options, a function's, or the object itself."""
    if inspect.isclass(found):
        return cast("Tool", build(found, options, folder))
    if inspect.isroutine(found):
        values = checked(found, options, folder, skip=model_parameters(found))
        return FunctionTool.of(found, values)
    if options:
        problem = "is a tool that is made already, and takes no options"
        raise OptionError(problem)
    return cast("Tool", found)


def _check(tool: Tool) -> None:
    """Raise ValueError for what is no tool, or one that no model could call."""
    missing = [part for part in _PARTS if not hasattr(tool, part)]
    if missing or not callable(tool):
        msg = f"is not a tool: it has no {', '.join(missing or ['method __call__'])}"
        raise ValueError(msg)
    if not _NAME.fullmatch(tool.name):
        msg = f"is called {tool.name!r}; a tool's name has 1 to 64 letters, digits, _ and -"
        raise ValueError(msg)
    if not inspect.iscoroutinefunction(type(tool).__call__):
        msg = "is a tool whose method __call__ is not async"
        raise ValueError(msg)
    Schema(dict(tool.parameters))
    if tool.parameters.get("type") != "object":
        msg = "has parameters whose schema is not of the type object"
        raise ValueError(msg)
