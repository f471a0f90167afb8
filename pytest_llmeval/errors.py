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

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from pytest_llmeval.safety.keys import without_keys
from pytest_llmeval.safety.printable import printable

Reach = Literal["attempt", "sample", "pictures", "model"]
"""What a provider's failure ends: this attempt (worth a retry), this sample, all requests to the
model that have pictures, or the whole model."""


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


class FailedAttempt(NamedTuple):
    """One attempt at a request, without a reply.

    Attributes:
        cause: see `ProviderError`.
        started: when the request was sent, in seconds since 1970.
        seconds: duration.
    """

    cause: str
    started: float
    seconds: float


class ProviderError(LLMEvalError):
    """A model's provider failed; the sample's outcome is an error, not incorrect.

    Attributes:
        failures: of an error that ends a request, all attempts at it.
    """

    failures: tuple[FailedAttempt, ...] = ()

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
