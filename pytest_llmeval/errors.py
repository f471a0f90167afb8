"""The errors of pytest-llmeval, one shallow tree by who must act.

::

    LLMEvalError
    ├── UsageError       who runs: an option, a variable, a command line
    ├── TaskError        who wrote the task: its YAML, dataset, prompt or solver file
    ├── ProviderError    whoever serves the model: HTTP status, time-out, bad body
    ├── ToolError        whoever runs a tool that solvers use, such as a database
    ├── ScorerError      us: a scorer broke on input it should have coped with
    ├── ModelLost        nobody: another sample was told already why this sample's model answers no more
    └── RunStopped       nobody: the run ended before this sample was reached

A wrong answer is no error: it is a `Score` with a reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pathlib import Path

Reach = Literal["attempt", "sample", "model"]
"""What a provider's failure ends: this attempt (worth a retry), this sample, or the whole model."""


class LLMEvalError(Exception):
    """Any failure that pytest-llmeval names itself."""


class UsageError(LLMEvalError):
    """An option, an environment variable or a call is wrong; the message names it, its value and the fix."""


class TaskError(LLMEvalError):
    """A task file, its dataset or a file it names is wrong; the message starts with file, line and key."""

    def __init__(
        self, problem: str, *, file: Path | str, line: int | None = None, key: str | None = None
    ) -> None:
        """Compose ``file:line: key: problem`` from the parts that are known (lines count from 1)."""
        place = str(file) if line is None else f"{file}:{line}"
        super().__init__(": ".join(part for part in (place, key, problem) if part))
        self.problem, self.file, self.line, self.key = problem, str(file), line, key


class ProviderError(LLMEvalError):
    """A model's provider failed; never counted against the model."""

    def __init__(
        self,
        problem: str,
        *,
        reach: Reach = "sample",
        status: int | None = None,
        retry_after: float | None = None,
        cause: str = "provider",
    ) -> None:
        """Take what failed, how far it reaches, the HTTP status, the wait it asked for (s) and a short cause.

        `cause` is a word for counting retries: ``429``, ``500``, ``reset``, ``timeout``,
        ``truncated``, ``replay``.
        """
        super().__init__(problem)
        self.reach, self.status, self.retry_after, self.cause = reach, status, retry_after, cause


class ToolError(LLMEvalError):
    """A tool, such as a database, could not be started, reached or asked.

    Never counted against the model.
    """


class ScorerError(LLMEvalError):
    """A scorer failed on its own account (not because of what the model wrote)."""


class ModelLost(LLMEvalError):  # noqa: N818 - told once as an error, this is only its echo
    """The sample's model was lost while others were at it; the message is the short form of what the first was told."""


class RunStopped(LLMEvalError):  # noqa: N818 - the ending of a run is no fault, and the message says which ending
    """The run ended (budget, -x, Ctrl-C, a model's last failure) before this sample was reached."""


def error_to_json(error: BaseException) -> dict[str, Any]:
    """Return the JSON form of an error, for a process that is to raise it again."""
    fields = vars(error) if isinstance(error, LLMEvalError) else {}
    return {"kind": type(error).__name__, "message": str(error), "fields": dict(fields)}


def error_from_json(data: Any) -> LLMEvalError:  # noqa: ANN401 - JSON
    """Return the error that `error_to_json` wrote.

    It is of the class that it was; one of another module is a plain LLMEvalError with its name.
    """
    kind, message = str(data["kind"]), str(data["message"])
    known = globals().get(kind)
    if not (isinstance(known, type) and issubclass(known, LLMEvalError)):
        return LLMEvalError(f"{kind}: {message}")
    # Not by its own constructor, which composes the message from other things.
    error = known.__new__(known, message)
    vars(error).update(data["fields"])
    return error
