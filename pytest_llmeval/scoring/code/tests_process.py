"""The process of the tests: it asks the program beside it, and reports what came of it.

It is only ever started in the sandbox: ``... READ WRITE PROCESS``; `program_process` is beside it.
Standard input is a JSON object (`Order`). Standard output is a JSON object a line, each written as
soon as it is known: ``{"total": n}``, then for each unit ``{"passed": true}`` or ``{"passed":
false}``, of the first that failed with ``test``, ``why`` and ``gave``; ``{"broken": why}`` if the
tests themselves are at fault; at the end ``{"end": true, "asked": n}``, with the number of acts
that the program was asked for, unless something failed that is no unit.

The program never runs here, and what it replies is never more than values. That the last line is
written therefore proves that the tests ran to their end.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import json
import os
import reprlib
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from pytest_llmeval.scoring.code.remote import CannotCrossError, Program, ProgramEndedError
from pytest_llmeval.scoring.code.units import CHECK, RUNNER, divided, modules_used

LOADING: Final = "(loading the program)"
"""Stands for a test where the program itself cannot be run."""

_FILE: Final = "tests.py"
_SHOWN: Final = 300
"""Characters of a test, of a reason and of a value that are reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What to run.

    Attributes:
        program: texts of the program; the first that is Python is it.
        head: code whose names the tests know; "" for none.
        setup: code of the tests, before them.
        tests: the tests, one text or several.
        entry: expression for what ``check`` is given; "" for nothing.
        solution: the sample's target, in which a built-in function may be defined anew.
        cpu_seconds: limit of processor time, for messages.
    """

    program: list[str]
    head: str
    setup: str
    tests: list[str]
    entry: str
    solution: str
    cpu_seconds: int


class _Names(dict[str, Any]):
    """The names of the tests. What neither they nor Python define, the program does."""

    def __init__(self, program: Program) -> None:
        super().__init__(__name__="tests", __builtins__=builtins, __annotations__={})
        self._program = program

    def __missing__(self, name: str) -> object:
        if hasattr(builtins, name) or name.startswith("__"):
            raise KeyError(name)  # Python looks elsewhere next
        return self._program.ask("name", name)


class _Report:
    """What is written to standard output."""

    def __init__(self, channel: int, program: Program) -> None:
        self._channel, self._program = channel, program
        self.failures = 0

    def tell(self, **line: object) -> None:
        text = json.dumps(line).encode() + b"\n"
        while text:
            text = text[os.write(self._channel, text) :]

    @contextmanager
    def unit(self, test: str) -> Iterator[None]:
        """Run one unit, and report it; nothing that it raises ends the others."""
        try:
            yield
            self._program.check()
        except CannotCrossError:
            raise
        except BaseException as error:  # noqa: BLE001 - a test may raise anything
            self.failed(test, error)
        else:
            self.tell(passed=True)

    def failed(self, test: str, error: BaseException) -> None:
        """Report a failure; the first one with its reason."""
        self.failures += 1
        if self.failures > 1:
            self.tell(passed=False)
            return
        gave = self._gave() if isinstance(error, AssertionError) else ""
        self.tell(passed=False, test=test[:_SHOWN], why=_why(error), gave=gave)

    def _gave(self) -> str:
        with suppress(BaseException):  # objects of the program are asked for their text
            return reprlib.repr(self._program.last)[:_SHOWN]
        return ""


def main() -> None:
    """Run the tests, and report."""
    order = Order(**json.load(sys.stdin.buffer))
    channel, null = os.dup(1), os.open(os.devnull, os.O_RDWR)
    for own in (0, 1, 2):
        os.dup2(null, own)
    read, write, process = map(int, sys.argv[-3:])
    program = Program(os.fdopen(read, "rb"), write, process, order.cpu_seconds)
    report = _Report(channel, program)
    try:
        _run(order, program, report)
    except CannotCrossError as error:
        report.tell(broken=str(error)[:_SHOWN])
    except BaseException as error:  # noqa: BLE001 - of the tests, which may raise anything
        if isinstance(error, ImportError) and error is not program.raised:
            report.tell(broken=_why(error))
        else:
            report.failed("", error)
    finally:
        with suppress(OSError):  # it may have ended
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)


def _run(order: Order, program: Program, report: _Report) -> None:
    parts = [divided(text, _FILE) for text in order.tests]
    report.tell(total=max(1, sum(count for _, count in parts)))
    names = _Names(program)
    names[RUNNER] = report.unit
    try:
        program.ask("load", order.program)
    except BaseException as error:  # noqa: BLE001 - the program may raise anything
        report.failed(LOADING, error)
        return
    _run_head(order.head, names)
    for name in (*_built_ins_in(order.solution), *_names_in(order.entry)):
        names[name] = program.ask("name", name)
    candidate = eval(order.entry or "None", names)  # noqa: S307 - the dataset's expression
    program.asked = 0
    _import_used(parts, names)
    exec(compile(order.setup, _FILE, "exec"), names)  # noqa: S102 - the dataset's code, sandboxed
    for tree, _ in parts:
        exec(compile(tree, _FILE, "exec"), names)  # noqa: S102 - as above
    if order.entry:
        names[CHECK](candidate)
    if not report.failures:
        program.check()
    report.tell(end=True, asked=program.asked)


def _run_head(head: str, names: _Names) -> None:
    """Let the tests know the names of the head, such as its helpers, as the dataset defines them.

    A head may end in the first line of a function, whose body the program adds.
    """
    for text in (head, f"{head}\n    pass"):
        with suppress(SyntaxError):
            exec(compile(text, _FILE, "exec"), names)  # noqa: S102 - the dataset's code, sandboxed
            return


def _names_in(expression: str) -> list[str]:
    if not expression:
        return []
    tree = ast.parse(expression, mode="eval")
    return [one.id for one in ast.walk(tree) if isinstance(one, ast.Name)]


def _built_ins_in(solution: str) -> list[str]:
    """Return the names of built-in functions that a reference solution defines anew."""
    try:
        tree = ast.parse(solution)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []  # the rest of a head, or words
    defined = (one.name for one in tree.body if isinstance(one, ast.FunctionDef | ast.ClassDef))
    return [name for name in defined if hasattr(builtins, name)]


def _import_used(parts: list[tuple[ast.Module, int]], names: _Names) -> None:
    """Import what the tests use as a module of the standard library without importing it.

    It must not be the program's: what compares must be out of its reach.
    """
    used = set[str]().union(*(modules_used(tree) for tree, _ in parts))
    for name in used & sys.stdlib_module_names - names.keys():
        with suppress(ImportError):
            names[name] = importlib.import_module(name)


def _why(error: BaseException) -> str:
    message = str(error)
    if isinstance(error, ProgramEndedError):
        return message
    name = type(error).__name__.strip("_")
    return f"{name}: {message}"[:_SHOWN] if message else name


if __name__ == "__main__":
    main()
