"""The exceptions of pytest-llmeval, one class for each place where a failure is corrected.

::

    LLMEvalError
    ├── UsageError       an option, an environment variable or a call is wrong
    ├── TaskError        a task's YAML file, dataset, prompt or Python file is wrong
    ├── ProviderError    a model's provider failed: HTTP status, time-out, malformed body
    │   └── ModelSilent  several requests to the model failed in a row, and so did this sample's
    ├── ToolError        a tool that solvers use failed, such as a database
    ├── ScorerError      a scorer failed on input that it should have handled
    ├── ModelLost        the model failed for good; an earlier sample reported the cause
    ├── TaskStopped      the task cannot go on; another sample reported the cause
    └── RunStopped       the run ended before this sample was reached

A wrong answer is not an exception: it is a `Score` with `correct` False and an explanation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Literal

from pytest_llmeval.safety.keys import without_keys
from pytest_llmeval.safety.printable import class_name, message_of, printable

Reach = Literal["attempt", "sample", "pictures", "model"]
"""What a provider's failure ends: this attempt (worth a retry), this sample, all requests to the
model that have pictures, or the whole model."""

_TOO_LARGE: Final = 2**63
"""Integers from here on are left out of what crosses processes."""


class LLMEvalError(Exception):
    """Base class of the failures that pytest-llmeval detects.

    Its message quotes texts of others, and reaches terminals, logs and files: it is made printable
    here, and freed of keys, once for all (`printable`, `without_keys`).
    """

    def __init__(self, message: str = "") -> None:
        """Take the message; control characters in it are left out, and a long one is cut."""
        super().__init__(without_keys(printable(message)))


class UsageError(LLMEvalError):
    """An option, an environment variable or a call is wrong.

    The message names it, its value and the fix.
    """


class TaskError(LLMEvalError):
    """A task file, its dataset or a file that it names is wrong.

    The message starts with file, line and key. The attributes are the constructor's arguments.
    """

    def __init__(
        self, problem: str, *, file: Path | str, line: int | None = None, key: str | None = None
    ) -> None:
        """Compose the message ``file:line: key: problem`` from the parts that are known.

        Args:
            problem: what is wrong, and the fix.
            file: the file in error.
            line: line of the error, from 1.
            key: dotted key in the task file, or column of the dataset.
        """
        place = str(file) if line is None else f"{file}:{line}"
        super().__init__(": ".join(part for part in (place, key, problem) if part))
        self.problem, self.file, self.line, self.key = problem, str(file), line, key

    @classmethod
    def together(cls, errors: Sequence[TaskError], *, more: int = 0) -> TaskError:
        """Return one error whose message has a line for each of several, at the first one's place.

        Args:
            errors: at least one.
            more: number of further ones that are only counted.
        """
        first = errors[0]
        lines = [first.problem, *map(str, errors[1:])]
        if more:
            lines.append(f"and {more} more")
        return cls("\n".join(lines), file=first.file, line=first.line, key=first.key)


class ProviderError(LLMEvalError):
    """A model's provider failed; the sample's outcome is an error, not incorrect."""

    def __init__(
        self,
        problem: str,
        *,
        reach: Reach = "sample",
        status: int | None = None,
        retry_after: float | None = None,
        cause: str = "provider",
    ) -> None:
        """Store the failure; each argument is also an attribute.

        Args:
            problem: the message.
            reach: what the failure ends.
            status: HTTP status, if the provider replied.
            retry_after: seconds that the provider asks to wait before a retry.
            cause: word under which retries are counted: ``429``, ``500``, ``reset``, ``timeout``,
                ``truncated``, ``replay``. ``unreachable`` means that no connection was made, so
                that the request cannot be the reason.
        """
        super().__init__(problem)
        self.reach, self.status, self.retry_after, self.cause = reach, status, retry_after, cause


class ModelSilent(ProviderError):  # noqa: N818 - a state of the model
    """Several requests to the model failed in a row, and this sample's is one more.

    The model is asked on, once for each sample; a reply ends the silence.
    """


class ToolError(LLMEvalError):
    """A tool, such as a database, could not be started, reached or queried.

    The sample's outcome is an error, not incorrect.
    """


class ScorerError(LLMEvalError):
    """A scorer failed for a reason other than what the model wrote."""


class ModelLost(LLMEvalError):  # noqa: N818 - a skip reason, not a failure
    """The sample was not run for a failure of its model that another sample reports in full."""


class TaskStopped(LLMEvalError):  # noqa: N818 - a skip reason, not a failure
    """The sample's task cannot go on, by a mistake that the test of another sample reports.

    The message names the mistake in short, and that test.
    """


class RunStopped(LLMEvalError):  # noqa: N818 - a skip reason, not a failure
    """The run ended before this sample was reached.

    The message names the cause: the budget, -x, Ctrl-C, or the failure of the last model.
    """


_CLASSES: dict[str, type[LLMEvalError]] = {
    one.__name__: one
    for one in (
        LLMEvalError,
        UsageError,
        TaskError,
        ProviderError,
        ToolError,
        ScorerError,
        ModelLost,
        RunStopped,
    )
}


def error_to_json(error: BaseException) -> dict[str, Any]:
    """Return the JSON form of any exception, to raise it in another process.

    It never raises, and what it returns is plain JSON of some kilobytes, whatever the exception
    holds: texts are printable and cut, and attributes that JSON cannot express are left out.

    Returns:
        ``kind`` (the nearest class of this module; else the exception's own name), ``message`` and
        ``fields`` (attributes; {} for foreign classes).
    """
    # By identity: a class of others may have a metaclass that compares as it likes.
    own = next(
        (name for one in type.mro(type(error)) for name, ours in _CLASSES.items() if one is ours),
        None,
    )
    return {
        "kind": own or class_name(error),
        "message": message_of(error),
        "fields": _plain_fields(error) if own else {},
    }


def error_from_json(data: Any) -> LLMEvalError:  # noqa: ANN401 - JSON
    """Return the error that `error_to_json` wrote.

    Returns:
        An instance of the original class, if this module defines it; else an LLMEvalError whose
        message starts with the class name.
    """
    kind, message = str(data["kind"]), str(data["message"])
    known = _CLASSES.get(kind)
    if known is None:
        return LLMEvalError(f"{kind}: {message}".removesuffix(": "))
    # Without __init__, which would compose the message a second time.
    error = known.__new__(known, message)
    vars(error).update(data["fields"])
    return error


def _plain_fields(error: BaseException) -> dict[str, Any]:
    """Return the attributes that are short texts, numbers or None."""
    try:
        # By the base class's own attribute, which a subclass may hide.
        found = dict(BaseException.__dict__["__dict__"].__get__(error))
    except BaseException:  # noqa: BLE001 - a subclass may do anything here
        return {}
    return {
        name: printable(value) if type(value) is str else value
        for name, value in found.items()
        if type(name) is str and name.isidentifier() and _is_plain(value)
    }


def _is_plain(value: object) -> bool:
    if type(value) is int:
        return abs(value) < _TOO_LARGE
    if type(value) is float:
        return math.isfinite(value)
    return value is None or type(value) in (str, bool)
