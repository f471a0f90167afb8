"""The running test, in whichever process it runs: what fixtures and assertions ask of it, and what it recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import pytest

from pytest_llmeval.errors import LLMEvalError, ModelLost, RunStopped
from pytest_llmeval.records import Completion, ErrorLabel, Json, Message, Reply, Sample, Score
from pytest_llmeval.records.plain import plain_json
from pytest_llmeval.scoring.assertions import NO_ANSWER
from pytest_llmeval.scoring.judge.judgement import Judgement

if TYPE_CHECKING:
    from pytest_llmeval.engine.link import Link
    from pytest_llmeval.engine.plan import PlannedTest
    from pytest_llmeval.task.catalog import LoadedTask


class RunningJudge:
    """The run's judge, as a test asks it."""

    def __init__(self, link: Link, nodeid: str) -> None:
        """Ask through `link` on behalf of the test `nodeid`."""
        self._link, self._nodeid = link, nodeid

    def __call__(self, *, problem: str, target: str, candidate: str, votes: int = 1) -> Judgement:
        """Return the judgement on one candidate; one that the engine asked for beforehand costs nothing."""
        __tracebackhide__ = True
        wish: dict[str, Json] = {"nodeid": self._nodeid, "problem": problem, "target": target}
        answer = _asked(self._link, "judge", {**wish, "candidate": candidate, "votes": votes})
        return Judgement.from_json(cast("dict[str, Json]", answer))


class LLM:
    """The model under test, for tests of one's own."""

    def __init__(self, link: Link, nodeid: str) -> None:
        """Ask through `link` on behalf of the test `nodeid`."""
        self._link, self._nodeid = link, nodeid

    def generate(
        self, messages: str | list[Message], *, draw: int = 0, **parameters: Json
    ) -> Reply:
        """Return the reply to `messages` (a text is one user message); equal requests are asked once per `draw`."""
        __tracebackhide__ = True
        if isinstance(messages, str):
            messages = [Message.of("user", messages)]
        wish: dict[str, Json] = {
            "nodeid": self._nodeid,
            "messages": [message.to_json() for message in messages],
        }
        answer = _asked(
            self._link, "generate", {**wish, "parameters": dict(parameters), "draw": draw}
        )
        return Reply.from_json(cast("dict[str, Json]", answer))


class Running:
    """One attempt at a test: its place in the plan, its sample and completion as far as it has them, its scores."""

    def __init__(self, nodeid: str, open_link: Callable[[], Link]) -> None:
        """Start an attempt; `open_link` gives the way to the engine once it is wanted."""
        self._nodeid, self._open_link = nodeid, open_link
        self.planned: PlannedTest | None = None
        self.loaded: LoadedTask | None = None
        self.sample: Sample | None = None
        self.completion: Completion | None = None
        self.scores: list[Score] = []

    @property
    def problem(self) -> str:
        """What the sample asks, "" without a sample."""
        return "" if self.sample is None else self.sample.input

    @property
    def judge(self) -> RunningJudge:
        """The run's judge."""
        return RunningJudge(self._open_link(), self._nodeid)

    @property
    def llm(self) -> LLM:
        """The model under test."""
        return LLM(self._open_link(), self._nodeid)

    @property
    def no_answer(self) -> str:
        """Why the completion holds no answer: what the solver says of it, or that the reply was cut."""
        if self.completion is None:
            return ""
        if reason := self.completion.details.get("reason"):
            return str(reason)
        cut = self.completion.stop_reason
        return "" if cut == "stop" else f"{NO_ANSWER}; it ended by {cut}"

    def setting(self, scorer: str, name: str) -> Any:  # noqa: ANN401 - as the task file says
        """Return what the task says of a scorer's setting, or None."""
        if (
            self.loaded is None
            or self.loaded.task.scorer is None
            or self.loaded.task.scorer.kind != scorer
        ):
            return None
        return getattr(
            self.loaded.task.judge if scorer == "judge" else self.loaded.task.scorer, name
        )

    def record(self, score: Score) -> None:
        """Keep a score; ScorerError when it is not plain JSON."""
        sample = "" if self.sample is None else f"sample {self.sample.id!r}, "
        for field in ("value", "details"):
            plain_json(getattr(score, field), f"{sample}score {score.name!r}, field {field!r}")
        self.scores.append(score)

    def wait(self) -> Completion:
        """Return the completion, waiting for the engine as long as it takes."""
        __tracebackhide__ = True
        answer = self._open_link().ask("completion", {"nodeid": self._nodeid})
        self.completion = Completion.from_json(cast("dict[str, Json]", answer))
        return self.completion

    def label(self) -> None:
        """Have the judge label the completion if it was scored wrong and the sample has its reference solution.

        A judge that cannot be reached leaves it unlabelled, with the reason.
        """
        wrong = any(score.decides and score.correct is False for score in self.scores)
        if (
            self.completion is None
            or self.sample is None
            or not wrong
            or not self.sample.metadata.get("solution")
        ):
            return
        try:
            wish: dict[str, Json] = {
                "nodeid": self._nodeid,
                "completion": self.completion.to_json(),
            }
            answer = self._open_link().ask("label", wish)
            self.completion = Completion.from_json(cast("dict[str, Json]", answer))
        except LLMEvalError as error:
            self.completion = self.completion.labelled(ErrorLabel(kind=None, reason=str(error)))


def _asked(link: Link, want: str, wish: dict[str, Json]) -> Json:
    """Return the engine's answer to a body's request; when none can come any more, the test is skipped, not failed."""
    __tracebackhide__ = True
    try:
        return link.ask(want, wish)
    except RunStopped as stopped:
        pytest.skip(f"run stopped: {stopped}")
    except ModelLost as lost:
        pytest.skip(f"its model is lost: {lost}")


RUNNING_TEST = pytest.StashKey[Running]()
