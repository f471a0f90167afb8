"""The program as its tests see it: functions and objects in another process."""

from __future__ import annotations

import builtins
import os
import signal
import time
from contextlib import suppress
from typing import Any, BinaryIO, Final, NoReturn

from pytest_llmeval.scoring.code.wire import LONGEST, from_line, to_line

_PATIENCE: Final = 1.0
"""Seconds in which a process that replies no more should have ended."""

_NEVER_RAISED: Final = ("StopIteration", "StopAsyncIteration", "GeneratorExit")
"""Exceptions that end a loop of the tests in silence, as if all had passed: ``all(map(...))``."""


class ProgramEndedError(BaseException):
    """The program's process ended, or what it replied is no reply.

    No ``except Exception`` of the tests hides it.
    """


class CannotCrossError(BaseException):
    """The tests give the program what cannot be given to another process, such as a function."""


class Program:
    """The process of the program.

    Attributes:
        asked: number of the acts that it was asked for so far.
        last: the last value that it replied; None before.
        raised: the last exception that it raised here; None before.
        ended: why it replies no more; "" while it does.
    """

    def __init__(self, replies: BinaryIO, requests: int, process: int, cpu_seconds: int) -> None:
        """Take the two ends of its pipes, its number, and its limit of processor time."""
        self._replies, self._requests, self._process = replies, requests, process
        self._cpu_seconds = cpu_seconds
        self.asked, self.ended = 0, ""
        self.last: object = None
        self.raised: BaseException | None = None

    def ask(self, act: str, *values: object) -> Any:  # noqa: ANN401 - any value
        """Ask for one act of `program_process`, and return the value.

        Raises:
            ProgramEndedError: there is no reply.
            CannotCrossError: a value cannot be sent.
            BaseException: what the program raised, as the nearest built-in exception.
        """
        self.check()
        line = to_line([act, *values], _handle_of)
        self.asked += 1
        try:
            while line:
                line = line[os.write(self._requests, line) :]
            reply = self._replies.readline(LONGEST)
        except OSError:
            reply = b""
        if not reply.endswith(b"\n"):
            self._end(self._why())
        raised: BaseException | None = None
        try:
            match from_line(reply, self._found):
                case ["value", value]:
                    self.last = value
                    return value
                case ["raised", [*names], str(message)]:
                    raised = _exception(names, message)
        except Exception:  # noqa: BLE001, S110 - whatever the bytes of a hostile process raise
            pass
        if raised is None:
            self._end("it replied what is no reply")
        self.raised = raised
        raise raised

    def check(self) -> None:
        """Raise ProgramEndedError if it has ended, also where the tests hid that."""
        if self.ended:
            raise ProgramEndedError(self.ended)

    def _found(self, handle: int) -> Remote:
        return Remote(self, int(handle))

    def _end(self, why: str) -> NoReturn:
        self.ended = why
        raise ProgramEndedError(why)

    def _why(self) -> str:
        """Return why the program's process ended."""
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            with suppress(ChildProcessError):
                ended, status = os.waitpid(self._process, os.WNOHANG)
                if ended:
                    return self._worded(status)
            time.sleep(0.01)
        return "it closed its connection"

    def _worded(self, status: int) -> str:
        if os.WIFEXITED(status):
            return f"it ended by itself, with status {os.WEXITSTATUS(status)}"
        number = os.WTERMSIG(status)
        if number in {signal.SIGXCPU, signal.SIGKILL}:
            return f"it used more than {self._cpu_seconds} s of processor time"
        return f"it ended by the signal {signal.Signals(number).name}"


class Remote:
    """An object of the program. What is done to it here happens there.

    Two of them may be equal, as the program decides; one never equals a value of the tests, or an
    object that claims to equal everything would pass every test.
    """

    __slots__ = ("_handle_there", "_program")
    _program: Program
    _handle_there: int

    def __init__(self, program: Program, handle: int) -> None:
        """Stand for the object of a handle."""
        object.__setattr__(self, "_program", program)
        object.__setattr__(self, "_handle_there", handle)

    def __call__(self, *arguments: object, **named: object) -> object:
        """Call it."""
        return self._program.ask("call", self, list(arguments), named)

    def __getattr__(self, name: str) -> object:
        """Return its attribute; by special names libraries could be made to read any memory."""
        if name.startswith("__"):
            msg = f"the attribute {name} of the program's objects is out of reach"
            raise AttributeError(msg)
        return self._program.ask("get", self, name)

    def __setattr__(self, name: str, value: object) -> None:
        """Set its attribute."""
        self._program.ask("set", self, name, value)

    def __getitem__(self, key: object) -> object:
        """Return its element."""
        return self._program.ask("item", self, key)

    def __setitem__(self, key: object, value: object) -> None:
        """Set its element."""
        self._program.ask("put", self, key, value)

    def __iter__(self) -> Any:  # noqa: ANN401 - an iterator of the program
        """Return an iterator over it."""
        return self._program.ask("iterate", self)

    def __next__(self) -> object:
        """Return the next element of this iterator."""
        try:
            return self._program.ask("next", self)
        except _ExhaustedError:
            raise StopIteration from None

    def __len__(self) -> int:
        """Return its length."""
        return int(self._program.ask("length", self))

    def __bool__(self) -> bool:
        """Whether it counts as true."""
        return self._program.ask("truth", self) is True

    def __str__(self) -> str:
        """Return its text."""
        return str(self._program.ask("text", self))

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        """Whether both are objects of the program, and equal for it."""
        if isinstance(other, Remote):
            return self._program.ask("equal", self, other) is True
        return NotImplemented

    def __hash__(self) -> int:
        """Return the same number each time."""
        return hash(self._handle_there)


class _ExhaustedError(RuntimeError):
    """The program raised what ends a loop."""


def _exception(names: list[object], message: str) -> BaseException:
    """Return the exception for one that the program raised.

    Args:
        names: of its class and of all that it inherits from, the nearest first.
        message: its message.
    """
    for name in names:
        if name in _NEVER_RAISED:
            return _ExhaustedError(f"the program raised {name}, which ends loops in silence")
        kind = getattr(builtins, str(name), None)
        if isinstance(kind, type) and issubclass(kind, BaseException):
            with suppress(TypeError):  # some take more than a message; what they inherit from, less
                return kind(message)
    return RuntimeError(message)


def _handle_of(value: object) -> int:
    if isinstance(value, Remote):
        return int(object.__getattribute__(value, "_handle_there"))
    msg = (
        f"an argument of type {type(value).__name__} cannot be given to the program, which runs in "
        "a process of its own"
    )
    raise CannotCrossError(msg)
