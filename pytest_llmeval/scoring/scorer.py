"""What a scorer is: the port between a task and whatever decides about its answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol, Self, TypeVar, runtime_checkable

from pytest_llmeval.records import Completion, Image, Json, Message, Reply, Role, Sample, Score
from pytest_llmeval.roles import JUDGE

T = TypeVar("T")

NO_ANSWER = "the reply holds no answer in the demanded form"

EMPTY = "the reply is empty"
"""Explanation of a score of a completion without an answer."""


class Scorer(Protocol):
    """Scores answers. One object for each use in a task, made from its options.

    The answer of a completion is None when the reply holds none in the demanded form; every scorer
    gives it the lowest value.
    """

    @property
    def name(self) -> str:
        """Name of the score, and the heading of its column, such as ``number``."""
        ...

    @property
    def grader(self) -> str:
        """What decides, with its version, such as ``number/1``; stored in every row."""
        ...

    @property
    def scale(self) -> float:
        """The highest value, above 0, such as 1 or 100."""
        ...

    def check(self, target: str) -> None:
        """Raise ValueError if answers cannot be scored against `target`. Called at collection."""
        ...

    def score(self, answer: str | None, sample: Sample, prepared: Json) -> Score:
        """Return the score of an answer.

        Args:
            answer: what the answer rule found in the completion.
            sample: the dataset row; its `target` passed `check`.
            prepared: what `prepare` returned; None for scorers without one.

        Raises:
            ScorerError: the scorer itself failed. What is wrong with the answer is no error.
        """
        ...


@runtime_checkable
class PreparingScorer(Scorer, Protocol):
    """A scorer that does something slow before it scores, such as running a program."""

    @property
    def only_incorrect(self) -> bool:
        """Whether only answers found incorrect by the deciding scorers are prepared and scored."""
        ...

    async def prepare(self, sample: Sample, completion: Completion, context: ScorerContext) -> Json:
        """Return what `score` needs. Runs in the engine, as soon as the completion is there."""
        ...


@runtime_checkable
class AskingScorer(PreparingScorer, Protocol):
    """A scorer that asks models before it scores, such as a judge.

    It may have an attribute `role`: whose models it asks (see `role_of`).
    """

    @property
    def models(self) -> tuple[str, ...]:
        """Specs of the models to ask, unless the command line names others."""
        ...


def role_of(scorer: PreparingScorer) -> Role:
    """Return the role of the models that a scorer asks: its attribute `role`, else ``judge``."""
    return str(getattr(scorer, "role", JUDGE))


@runtime_checkable
class SeveralScores(Scorer, Protocol):
    """A scorer that gives further scores beside its own; they decide nothing.

    Each is a column and a mean of its own, such as a criterion of a rubric.
    """

    @property
    def further_names(self) -> tuple[str, ...]:
        """The names of the further scores."""
        ...

    def further(self, score: Score) -> tuple[Score, ...]:
        """Return the further scores of an answer; () where there are none.

        Args:
            score: what `score` returned for it.
        """
        ...


@runtime_checkable
class SampleCheckingScorer(Scorer, Protocol):
    """A scorer that needs more of a sample than its target, such as tests in its metadata."""

    def check_sample(self, sample: Sample) -> None:
        """Raise ValueError or TaskError if no answer to a sample could be scored.

        Called for every selected sample before anything is asked.
        """
        ...


@runtime_checkable
class ToolExpectingScorer(SampleCheckingScorer, Protocol):
    """A scorer that expects certain tools to be called."""

    def expected_tools(self, sample: Sample) -> tuple[str, ...]:
        """Return their names for a sample, which passed `check_sample`.

        Names that the task's solver does not offer are told before anything is asked.
        """
        ...


@runtime_checkable
class RunCheckingScorer(Scorer, Protocol):
    """A scorer that needs something of the machine, such as a sandbox."""

    async def check_run(self, context: RunOptions) -> None:
        """Raise an LLMEvalError if no answer can be scored in this run.

        It is called before the first request of each sample, so that nothing is paid in vain; what
        it finds out is kept by `RunOptions.shared`.
        """
        ...


@runtime_checkable
class ComparingScorer(Scorer, Protocol):
    """A scorer that can tell whether two answers have one value, so that they are one vote."""

    def same(self, one: str, other: str, target: str) -> bool:
        """Whether two answers are equal by the rules and options by which `score` compares.

        Symmetric. False where it cannot be decided, or an answer cannot be read.

        Args:
            one: what the answer rule found in a completion.
            other: what it found in another completion of the same sample.
            target: the sample's target, which may say how answers are read, as by its unit.
        """
        ...


class RunOptions(Protocol):
    """What a scorer may use before any sample: the run's options and shared objects."""

    async def shared(self, key: str, start: Callable[[], Awaitable[T]]) -> T:
        """Return the run's object under `key`, made by the first caller's `start`.

        It is closed at the end of the run, if it has a method `close` (async or not).
        """
        ...

    def setting(self, name: str) -> str | None:
        """Return the value of the option ``--llmeval-NAME``; None when it is not given."""
        ...


class ScorerContext(RunOptions, Protocol):
    """One sample's way to the models that score; the engine supplies it and keeps the transcript.

    `generate` and `shared` may raise an LLMEvalError, which a scorer lets pass.
    """

    @property
    def epoch(self) -> int:
        """Number of the sample's repetition, from 1."""
        ...

    @property
    def models(self) -> tuple[str, ...]:
        """Labels of the models that may be asked, each once; () when none is configured."""
        ...

    @property
    def images(self) -> tuple[Image, ...]:
        """The sample's pictures, as they are sent."""
        ...

    async def generate(  # noqa: PLR0913 - a request has that many parts
        self,
        messages: Sequence[Message],
        *,
        model: str,
        stage: str,
        role: Role | None = None,
        draw: int = 0,
        parameters: Mapping[str, Json] | None = None,
    ) -> Reply:
        """Ask one of `models`; equal requests with different `draw` are different calls.

        The request has the scorer's role, unless it is given another.
        """
        ...

    def branch(self) -> Self:
        """Return a context for the same sample with an empty transcript, for concurrent calls."""
        ...

    def join(self, branches: Sequence[Self]) -> None:
        """Append the transcripts of `branches`, in their order."""
        ...


@runtime_checkable
class FailureText(Protocol):
    """A scorer that words the first line of a failed assertion itself."""

    def failure(self, answer: str | None, sample: Sample, score: Score) -> str:
        """Return the line for an incorrect answer."""
        ...


def score_names(scorer: Scorer) -> tuple[str, ...]:
    """Return the names of all scores that a scorer gives, its own first."""
    return (scorer.name, *(scorer.further_names if isinstance(scorer, SeveralScores) else ()))
