"""The process of the program: it does what the tests ask for, and knows nothing of them.

It is only ever started in the sandbox, beside `tests_process`: ``... READ WRITE``, two descriptors.
Each request is a line ``[act, value, ...]``, each reply ``["value", value]`` or ``["raised", [names
of the exception's classes], message]``. The program shares this process, and can do here what it
likes: reply what it wants, or not at all.
"""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import ModuleType
from typing import Any, Final

from pytest_llmeval.scoring.code.source import FILE, compiled, tell
from pytest_llmeval.scoring.code.wire import from_line, to_line

_LONGEST_MESSAGE: Final = 1_000


class _Program:
    """The program as a module, and its objects that the tests hold."""

    def __init__(self) -> None:
        self._module = ModuleType("program")
        self._objects: list[object] = []
        self._tracebacks = 10
        """Tracebacks that are still written to standard error."""
        self._acts: Mapping[str, Callable[..., Any]] = {
            "load": self._load,
            "name": self._name,
            "call": lambda function, arguments, named: function(*arguments, **named),
            "get": getattr,
            "set": setattr,
            "item": operator.getitem,
            "put": operator.setitem,
            "iterate": iter,
            "next": next,
            "length": len,
            "truth": operator.truth,
            "text": str,
            "equal": lambda one, other: bool(one == other),
        }

    def reply(self, request: bytes) -> bytes:
        """Return the reply to a request."""
        try:
            act, *values = from_line(request, self._objects.__getitem__)
            return to_line(["value", self._acts[act](*values)], self._keep)
        except BaseException as error:  # noqa: BLE001 - it is the program's, whatever it is
            self._trace(error)
            names = [kind.__name__ for kind in type(error).__mro__]
            return to_line(["raised", names, _message(error)], self._keep)

    def _keep(self, value: object) -> int:
        self._objects.append(value)
        return len(self._objects) - 1

    def _load(self, texts: list[str]) -> None:
        """Run the first of these texts that is Python as the module ``program``."""
        sys.modules["program"] = self._module
        exec(compiled(texts), self._module.__dict__)  # noqa: S102 - what the sandbox is for

    def _name(self, name: str) -> object:
        """Return what the program defines under a name."""
        try:
            return self._module.__dict__[name]
        except KeyError:
            msg = f"the program defines no {name!r}"
            raise NameError(msg) from None

    def _trace(self, error: BaseException) -> None:
        if self._tracebacks and not isinstance(error, StopIteration):
            self._tracebacks -= 1
            with suppress(BaseException):
                tell(error)


def main() -> None:
    """Reply to requests until there are no more."""
    read, replies = map(int, sys.argv[-2:])
    requests = os.fdopen(read, "rb")
    sys.argv = [FILE]
    program = _Program()
    for request in requests:
        reply = program.reply(request)
        while reply:
            reply = reply[os.write(replies, reply) :]


def _message(error: BaseException) -> str:
    try:
        return str(error)[:_LONGEST_MESSAGE]
    except BaseException:  # noqa: BLE001 - the program's own __str__
        return ""


if __name__ == "__main__":
    main()
