"""The scorer ``trajectory``: were the calls of tools those that the sample expects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Final

from pytest_llmeval.errors import ScorerError
from pytest_llmeval.records import Completion, Json, ModelCall, Sample, Score, Target, Transcript
from pytest_llmeval.records.target import TargetForm
from pytest_llmeval.roles import SOLVER
from pytest_llmeval.scoring.binary import no_answer
from pytest_llmeval.scoring.metadata_list import metadata_list
from pytest_llmeval.scoring.scorer import ScorerContext
from pytest_llmeval.scoring.targets import ALL_FORMS
from pytest_llmeval.scoring.trajectory.call_text import written_calls
from pytest_llmeval.scoring.trajectory.matching import (
    Arguments,
    ExpectedCall,
    Found,
    Match,
    compared,
    shown,
)
from pytest_llmeval.scoring.trajectory.written_call import WrittenCall, native_call

MOST_CALLS: Final = 1_000
"""Calls of a completion that are compared; whoever makes more is told so and incorrect."""

_EXPLAINED = 20
"""Calls that the details show."""


def calls_of(transcript: Transcript) -> Iterator[WrittenCall]:
    """Yield the calls that the model under test wrote, in order, also those that were not run.

    Calls come by the provider's interface where the request offered tools, else they stand in the
    text of replies.
    """
    for event in transcript.events:
        if not isinstance(event, ModelCall) or event.asked.role != SOLVER or event.asked.of_scorer:
            continue
        if "tools" in event.asked.parameters or event.reply.tool_calls:
            yield from map(native_call, event.reply.tool_calls)
        else:
            yield from written_calls(event.reply.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrajectoryScorer:
    """Correct when the calls are the expected ones; the value is the share of calls that are.

    Attributes:
        name: name of the score.
        column: name of the metadata with the expected calls: a list of names, or of ``{tool: NAME,
            arguments: {...}}``.
        match, arguments: see `Match` and `Arguments`.
    """

    name: str = "trajectory"
    column: str = "calls"
    match: Match = "strict"
    arguments: Arguments = "exact"

    grader: ClassVar[str] = "trajectory/1"
    scale: ClassVar[float] = 1.0
    only_incorrect: ClassVar[bool] = False
    targets: ClassVar[frozenset[TargetForm]] = ALL_FORMS

    def check(self, target: Target) -> None:
        """Accept every target: the expected calls are metadata."""

    def check_sample(self, sample: Sample) -> None:
        """Raise ValueError if the sample does not say which calls it expects."""
        self._expected(sample)

    def expected_tools(self, sample: Sample) -> tuple[str, ...]:
        """Return the names of the tools that a sample expects to be called."""
        return tuple(dict.fromkeys(one.tool for one in self._expected(sample)))

    async def prepare(
        self,
        sample: Sample,
        completion: Completion,
        context: ScorerContext,  # noqa: ARG002 - part of the port
    ) -> Json:
        """Compare the calls in the completion's transcript; return what `score` tells.

        Raises:
            ScorerError: there is no transcript.
        """
        if not completion.transcript.events:
            msg = (
                f"scorer {self.name}: calls stand in the transcript, which this answer lacks; "
                "run the task again with --llmeval-reuse RUN"
            )
            raise ScorerError(msg)
        called = list(calls_of(completion.transcript))
        told: list[Json] = [shown(one.name, one.arguments) for one in called[:_EXPLAINED]]
        if len(called) > MOST_CALLS:
            problem = f"{len(called)} calls are more than {MOST_CALLS}"
            found = Found(matched=0, share=0.0, difference=problem)
        else:
            expected = self._expected(sample)
            found = compared(expected, called, match=self.match, arguments=self.arguments)
        return {
            "matched": found.matched,
            "share": found.share,
            "difference": found.difference,
            "called": told,
        }

    def score(self, answer: str | None, sample: Sample, prepared: Json) -> Score:  # noqa: ARG002 - part of the port
        """Return the score of the calls; without an answer 0."""
        if not isinstance(prepared, dict):
            return no_answer(self)
        difference = str(prepared["difference"])
        return Score(
            name=self.name,
            value=float(str(prepared["share"])),
            correct=not difference,
            explanation=difference or "the calls are the expected ones",
            grader=self.grader,
            details={"matched": prepared["matched"], "called": prepared["called"]},
        )

    def failure(self, answer: str | None, sample: Sample, score: Score) -> str:  # noqa: ARG002 - part of the port
        """Return the first line of a failed assertion."""
        return f"{self.name}: the calls of tools are not those that the sample expects"

    def _expected(self, sample: Sample) -> list[ExpectedCall]:
        listed = metadata_list(sample, self.column, "calls")
        return [self._call(entry, place) for place, entry in enumerate(listed)]

    def _call(self, entry: Json, place: int) -> ExpectedCall:
        match entry:
            case str(name):
                return ExpectedCall(tool=name)
            case {"tool": str(name), **rest} if not rest:
                return ExpectedCall(tool=name)
            case {"tool": str(name), "arguments": dict(arguments), **rest} if not rest:
                return ExpectedCall(tool=name, arguments=arguments)
        msg = (
            f"metadata.{self.column}[{place}] is {entry!r:.80}; "
            "write a tool's name, or {tool: NAME, arguments: {...}}"
        )
        raise ValueError(msg)
