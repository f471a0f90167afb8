"""One attempt at a test: what fixtures and assertions ask of it, and what it recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from msgspec.structs import replace

from pytest_llmeval.engine.link import Link
from pytest_llmeval.engine.plan import PlannedTest
from pytest_llmeval.engine.solved import Solved
from pytest_llmeval.errors import LLMEvalError, ScorerError
from pytest_llmeval.records import Completion, Json, Sample, Score, Transcript
from pytest_llmeval.records.plain import plain_json
from pytest_llmeval.scoring.assertions import decided_together, failure_of
from pytest_llmeval.scoring.scorer import NO_ANSWER, PreparingScorer, Scorer
from pytest_llmeval.session.asking import LLM, RunningJudge
from pytest_llmeval.session.undeclared import undeclared_scorers
from pytest_llmeval.task.catalog import LoadedTask
from pytest_llmeval.task.declared import DeclaredScorer

_SLACK = 1e-9
"""Share of the scale by which rounding may carry a value outside of it."""


class Attempt:
    """One attempt at a test, in whichever process it runs.

    Attributes:
        planned: the test's place in the plan; None for tests that wait for no completion.
        loaded, sample: its task and sample; None for tests without a task.
        completion: the completion, once it was waited for.
        scores: the scores recorded so far.
    """

    def __init__(self, nodeid: str, open_link: Callable[[], Link]) -> None:
        """Start an attempt; `open_link` gives the way to the engine once it is wanted."""
        self.nodeid, self._open_link = nodeid, open_link
        self.planned: PlannedTest | None = None
        self.loaded: LoadedTask | None = None
        self.sample: Sample | None = None
        self.completion: Completion | None = None
        self.scores: list[Score] = []
        self._solved: Solved | None = None

    @property
    def declared(self) -> tuple[DeclaredScorer, ...]:
        """The scorers of the task; () without one."""
        return () if self.loaded is None else self.loaded.scorers

    @property
    def scorers(self) -> tuple[Scorer, ...]:
        """The scorers of the task, but for those that wait for an incorrect answer."""
        return tuple(
            one.scorer for one in self.declared if not getattr(one.scorer, "only_incorrect", False)
        )

    @property
    def any_decides(self) -> bool:
        """Whether one correct deciding score is enough; otherwise all must be correct."""
        return self.loaded is not None and self.loaded.task.decides == ("any",)

    @property
    def undeclared(self) -> tuple[str, ...]:
        """Names of deciding scores that the task does not declare, although it declares some."""
        return undeclared_scorers(self.scores, self.declared)

    @property
    def judge(self) -> RunningJudge:
        """The run's judge, as a test body calls it."""
        return RunningJudge(self.ask)

    @property
    def llm(self) -> LLM:
        """The model under test, as a test body asks it."""
        return LLM(self.ask)

    def wait(self) -> Completion:
        """Return the completion, waiting for the engine as long as it takes."""
        __tracebackhide__ = True
        self._solved = Solved.from_json(self.ask("completion", {}))
        self.completion = self._solved.completion
        return self.completion

    def ask(self, want: str, wish: Mapping[str, Json]) -> Json:
        """Return the engine's answer to a wish of this test."""
        __tracebackhide__ = True
        return self._open_link().ask(want, {"nodeid": self.nodeid, **wish})

    def score(self, scorer: Scorer, answer: str | None, sample: Sample) -> Score:
        """Return the recorded score of an answer, prepared by the engine where the scorer asks."""
        __tracebackhide__ = True
        prepared: Json = None
        # What is wrong with an incorrect reply can be asked also where it holds no answer.
        on_failure = getattr(scorer, "only_incorrect", False)
        if isinstance(scorer, PreparingScorer) and (answer or on_failure):
            prepared = self._prepared(scorer, answer, sample)
        score = scorer.score(answer, sample, prepared)
        if answer is None and not on_failure and (reason := self._no_answer()):
            details = {**score.details}
            if "reason" in details:
                details["reason"] = reason
            score = replace(score, explanation=reason, details=details)
        return self.record(score)

    def record(self, score: Score) -> Score:
        """Keep a score and return it; whether it decides is said by the task, if that declares it.

        Raises:
            ScorerError: the score is not plain JSON, or its value lies outside its scale.
        """
        place = "" if self.sample is None else f"sample {self.sample.id!r}, "
        for field in ("value", "details"):
            plain_json(getattr(score, field), f"{place}score {score.name!r}, field {field!r}")
        slack = _SLACK * score.scale
        if score.value is not None and not -slack <= score.value <= score.scale + slack:
            bounds = f"0..{score.scale:g}, its scale"
            msg = f"{place}score {score.name!r}: {score.value} is not in {bounds}"
            raise ScorerError(msg)
        for one in self.declared:
            if one.scorer.name == score.name:
                score = replace(score, decides=one.decides)
        self.scores.append(score)
        return score

    def finish(self, raised: BaseException | None) -> None:
        """Score what the body left to its task, after it ended normally or by `raised`.

        Scorers that do not decide are run here. A failure of theirs is told by an undecided score.

        Raises:
            ScorerError: the task declares a deciding scorer, and the body recorded no score.
            AssertionError: the body passed, and its scores say incorrect.
            UnscoredError: the body passed, and its scores are undecided.
        """
        __tracebackhide__ = True
        if self.planned is None or self.completion is None or self.sample is None:
            return
        if isinstance(raised, LLMEvalError) and not isinstance(raised, ScorerError):
            return
        for one in self.declared:
            if not one.decides and not self._has(one.scorer.name):
                self._score_aside(one.scorer, self.completion, self.sample)
        if raised is None:
            self._follow_scores(self.completion, self.sample)

    def missing(self) -> str:
        """Return the name of a declared deciding scorer that no score is from, "" for none.

        A body that asserted by another scorer is scored by that one.
        """
        if self.undeclared:
            return ""
        names = (one.scorer.name for one in self.declared if one.decides)
        return next((name for name in names if not self._has(name)), "")

    def _has(self, name: str) -> bool:
        return any(score.name == name for score in self.scores)

    def _follow_scores(self, completion: Completion, sample: Sample) -> None:
        __tracebackhide__ = True
        if missing := self.missing():
            msg = (
                f"the task declares the scorer {missing!r}, and the test recorded no score of it: "
                "call assert_correct(sample, completion) in the test"
            )
            raise ScorerError(msg)
        by_name = {one.scorer.name: one.scorer for one in self.declared}
        deciding = []
        for score in self.scores:
            failure = f"{score.name}: {completion.answer!r} is not correct"
            if (scorer := by_name.get(score.name)) is not None:
                failure = failure_of(scorer, completion.answer, sample, score)
            if score.decides:
                deciding.append((score, failure))
        decided_together(deciding, any_decides=self.any_decides)

    def _score_aside(self, scorer: Scorer, completion: Completion, sample: Sample) -> None:
        """Record the score of a scorer that does not decide."""
        if getattr(scorer, "only_incorrect", False) and not self._is_incorrect():
            return
        try:
            self.score(scorer, completion.answer, sample)
        except Exception as error:  # noqa: BLE001 - a scorer of others may raise anything
            reason = f"{type(error).__name__}: {error}"
            unscored = Score.unscored(scorer.name, reason, scale=scorer.scale, grader=scorer.grader)
            self.record(replace(unscored, decides=False))

    def _is_incorrect(self) -> bool:
        return any(score.decides and score.correct is False for score in self.scores)

    def _prepared(self, scorer: PreparingScorer, answer: str | None, sample: Sample) -> Json:
        """Return what the engine prepared for this very answer, or have it prepared now."""
        __tracebackhide__ = True
        ahead = self._solved
        own = ahead is not None and answer == ahead.completion.answer and sample == self.sample
        declared = any(one.scorer == scorer for one in self.declared)
        if ahead is not None and own and declared and not scorer.only_incorrect:
            return ahead.prepared_by(scorer.name)
        named: list[Json] = [scorer.name, {}]
        if not declared:
            named = list(getattr(scorer, "spec", named))
        completion = self.completion or Completion(text=answer or "")
        completion = replace(completion, answer=answer)
        wish: dict[str, Json] = {
            "scorer": named,
            "sample": sample.to_json(),
            "completion": completion.to_json(),
        }
        answered = cast("dict[str, Json]", self.ask("prepare", wish))
        if self.completion is not None:
            made = Transcript.from_json(answered["transcript"])
            events = (*self.completion.transcript.events, *made.events)
            self.completion = replace(self.completion, transcript=Transcript(events=events))
        return answered["prepared"]

    def _no_answer(self) -> str:
        """Return why the completion holds no answer: the solver's reason, or how it was cut."""
        if self.completion is None:
            return ""
        if reason := self.completion.details.get("reason"):
            return str(reason)
        cut = self.completion.stop_reason
        return "" if cut == "stop" else f"{NO_ANSWER}; it ended by {cut}"
