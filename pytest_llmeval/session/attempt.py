"""One attempt at a test: its sample, its completion and the scores that it recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import cast

from msgspec.structs import replace

from pytest_llmeval.engine.link import Link
from pytest_llmeval.engine.pending import Pending
from pytest_llmeval.engine.plan import PlannedTest
from pytest_llmeval.engine.solved import Answer, Solved
from pytest_llmeval.errors import LLMEvalError, ModelLost, RunStopped, ScorerError, TaskStopped
from pytest_llmeval.records import Completion, Json, Role, Sample, Score, Transcript
from pytest_llmeval.records.error_json import error_from_json
from pytest_llmeval.records.plain import plain_json
from pytest_llmeval.safety.raised import described_with_place
from pytest_llmeval.scoring.grader import grader_text
from pytest_llmeval.scoring.scorer import (
    EMPTY,
    NO_ANSWER,
    AskingScorer,
    PreparingScorer,
    Scorer,
    SeveralScores,
)
from pytest_llmeval.scoring.targets import score_of
from pytest_llmeval.session.asking import LLM, RunningJudge
from pytest_llmeval.session.undeclared import undeclared_scorers
from pytest_llmeval.task.catalog import LoadedTask
from pytest_llmeval.task.declared import DeclaredScorer

_SLACK = 1e-9
"""Share of the scale by which a value may lie outside of it, because of rounding."""


class Attempt:
    """One attempt at a test; a rerun is another attempt.

    Attributes:
        nodeid: the test's node id.
        planned: the test's entry in the plan; None for tests that wait for no completion.
        loaded: its task; None for tests without a task.
        sample: its sample; None for tests without a task.
        completion: the completion; None before `wait`.
        transcript: of a completion that failed; else empty.
        scores: the scores recorded so far.
        failures: what scorers failed by, by the scorer's name.
        early: whether its body runs and its turn has not come; what tests wait for goes first.
        unjudged: whether a scorer asked nobody about the answer, because its judge is lost, which
            another sample reports, or because the run has ended.
    """

    def __init__(self, nodeid: str, open_link: Callable[[], Link]) -> None:
        """Begin an attempt; `open_link` returns the connection to the engine on first use."""
        self.nodeid, self._open_link = nodeid, open_link
        self.planned: PlannedTest | None = None
        self.loaded: LoadedTask | None = None
        self.sample: Sample | None = None
        self.completion: Completion | None = None
        self.transcript = Transcript()
        self.scores: list[Score] = []
        self.failures: dict[str, Exception] = {}
        self.early = self.unjudged = False
        self._undecided: dict[str, Score] = {}
        self._solved: Solved | None = None

    @property
    def declared(self) -> tuple[DeclaredScorer, ...]:
        """The scorers of the task; () without a task."""
        return () if self.loaded is None else self.loaded.scorers

    @property
    def scorers(self) -> tuple[Scorer, ...]:
        """The scorers of the task, except those that only score incorrect answers."""
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
        """The run's judge, for the fixture `judge`."""
        return RunningJudge(self)

    @property
    def llm(self) -> LLM:
        """The models of the run, for the fixture `llm`."""
        return LLM(self)

    @property
    def partners(self) -> Mapping[Role, str]:
        """Name of the model that the solver asked in each role but ``solver``."""
        return {} if self._solved is None else self._solved.partners

    def wait(self) -> Completion:
        """Wait for the engine, and return the completion; the one that the body has, if it began.

        Raises:
            LLMEvalError: the sample failed, or the run has ended.
        """
        __tracebackhide__ = True
        try:
            solved = Solved.of(self._wish("completion", {}).result())
        except (RunStopped, ModelLost, TaskStopped):
            raise
        except LLMEvalError:
            self.transcript = self._failed()
            raise
        if self._solved is None or self.completion is None:
            return self._complete(solved)
        return self.completion

    def _failed(self) -> Transcript:
        """Return what happened for the sample that failed, which may have been paid in part."""
        try:
            return Transcript.from_json(self.send("failed", {}).result())
        except LLMEvalError:  # the failure that is told is another one
            return Transcript()

    async def wait_ahead(self) -> None:
        """Wait for the completion before the test's turn.

        Raises:
            LLMEvalError: the sample failed, as `wait` will tell too, or the run has ended.
        """
        self._complete(Solved.of(await self._wish("early", {}).arrival()))

    def _complete(self, solved: Solved) -> Completion:
        self._solved, self.completion = solved, solved.completion
        return solved.completion

    def send(self, want: str, wish: Mapping[str, Json]) -> Pending[Json]:
        """Send a wish of this test that JSON answers to the engine; see `Run.answer`."""
        return cast("Pending[Json]", self._wish(want, wish))

    def _wish(self, want: str, wish: Mapping[str, Json]) -> Pending[Answer]:
        early: dict[str, Json] = {"early": True} if self.early else {}
        return self._open_link().send(want, {"nodeid": self.nodeid, **early, **wish})

    def score(self, scorer: Scorer, answer: str | None, sample: Sample) -> Score:
        """Score an answer, record the score with its further ones, and return it.

        A scorer with a method `prepare` is prepared by the engine. One that fails leaves an
        undecided score.

        Raises:
            Exception: whatever the preparation or the scorer failed by.
        """
        __tracebackhide__ = True
        score, error = self.tried(scorer, answer, sample)
        if error is not None:
            raise error
        return score

    def tried(
        self, scorer: Scorer, answer: str | None, sample: Sample
    ) -> tuple[Score, Exception | None]:
        """Return what `score` does, and None; of a scorer that failed an undecided score, and how.

        Both are recorded.
        """
        __tracebackhide__ = True
        try:
            score = self.record(self._score(scorer, answer, sample))
            for one in scorer.further(score) if isinstance(scorer, SeveralScores) else ():
                self.record(replace(one, decides=False))
        except Exception as error:  # noqa: BLE001 - a scorer of others may raise anything
            self.failures[scorer.name] = error
            undecided = Score.unscored(
                scorer.name,
                described_with_place(error),
                scale=scorer.scale,
                grader=self._known_grader(scorer),
            )
            self._undecided[scorer.name] = self.record(undecided)
            return self._undecided[scorer.name], error
        # A body may try again, for instance with another judge.
        self.failures.pop(scorer.name, None)
        if (failed := self._undecided.pop(scorer.name, None)) is not None:
            self.scores = [one for one in self.scores if one is not failed]
        return score, None

    def _score(self, scorer: Scorer, answer: str | None, sample: Sample) -> Score:
        __tracebackhide__ = True
        prepared: Json = None
        # What is wrong with an incorrect reply can be asked also where it holds no answer.
        on_failure = getattr(scorer, "only_incorrect", False)
        if isinstance(scorer, PreparingScorer) and (answer or on_failure):
            prepared = self._prepared(scorer, answer, sample)
        score = score_of(scorer, answer, sample, prepared)
        if answer is None and not on_failure and (reason := self._no_answer()):
            details = {**score.details}
            if "reason" in details:
                details["reason"] = reason
            score = replace(score, explanation=reason, details=details)
        return replace(score, grader=self.grader(scorer, score.grader))

    def _known_grader(self, scorer: Scorer) -> str:
        """Return who grades; "" where that cannot be told, as by an engine that has ended."""
        try:
            return self.grader(scorer)
        except Exception:  # noqa: BLE001 - the failure that is told is another one
            return ""

    def grader(self, scorer: Scorer, rules: str = "") -> str:
        """Return who grades by a scorer: its rules, options and models; see `grader_text`.

        Args:
            scorer: the scorer.
            rules: version of the rules that a score names.

        Raises:
            LLMEvalError: the engine cannot tell the models.
        """
        declared = next((one for one in self.declared if one.scorer == scorer), None)
        return grader_text(
            scorer,
            self._judges(scorer, declared) if isinstance(scorer, AskingScorer) else (),
            rules=rules,
            declared={} if declared is None else declared.spec.options,
        )

    def record(self, score: Score) -> Score:
        """Record a score and return it; of a declared scorer the task says whether it decides.

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

    def _prepared(self, scorer: PreparingScorer, answer: str | None, sample: Sample) -> Json:
        """Return what the engine has prepared for this answer, or let it prepare that now."""
        __tracebackhide__ = True
        ahead = self._solved
        own = ahead is not None and answer == ahead.completion.answer and sample == self.sample
        declared = any(one.scorer == scorer for one in self.declared)
        if ahead is not None and own and declared and not scorer.only_incorrect:
            with self._judging():
                return ahead.prepared_by(scorer.name)
        completion = self.completion or Completion(text=answer or "")
        completion = replace(completion, answer=answer)
        return self.prepare(_named(scorer, declared=declared), sample, completion).result()

    def prepare(self, scorer: list[Json], sample: Sample, completion: Completion) -> Pending[Json]:
        """Let the engine prepare what a scorer needs for an answer of this test.

        The calls made for it are appended to the transcript of the test's completion, even if it
        fails by an LLMEvalError.

        Args:
            scorer: its name and options.
            sample: the sample as it is scored.
            completion: with the answer to score.
        """
        earlier = Transcript() if self.completion is None else self.completion.transcript
        wish: dict[str, Json] = {
            "scorer": scorer,
            "sample": sample.to_json(),
            "completion": replace(completion, transcript=earlier).to_json(),
        }

        def read(result: Callable[[], Json]) -> Json:
            __tracebackhide__ = True
            with self._judging():
                answered = cast("dict[str, Json]", result())
                self._append(Transcript.from_json(answered["transcript"]), earlier)
                if (failed := answered["failed"]) is not None:
                    raise error_from_json(failed)
            return answered["prepared"]

        return self.send("prepare", wish).then(read)

    def _append(self, made: Transcript, sent: Transcript) -> None:
        """Append calls to the completion's transcript, of which the engine knew `sent` before."""
        if self.completion is None:
            return
        earlier = self.completion.transcript
        together = Transcript(events=(*earlier.events, *made.events))
        self.completion = replace(self.completion, transcript=together)
        if earlier is not sent and made.events:
            # Other calls of this body came meanwhile; the engine has stored these without them.
            self.send("transcript", {"transcript": together.to_json()})

    @contextmanager
    def _judging(self) -> Iterator[None]:
        """Note whether nobody was asked about the answer, for a reason that is not its own."""
        try:
            yield
        except (RunStopped, ModelLost):
            self.unjudged = True
            raise

    def _judges(self, scorer: AskingScorer, declared: DeclaredScorer | None) -> Sequence[str]:
        """Return the models that a scorer may ask, as the engine names them.

        A test that gives no row does not start the engine for them.
        """
        __tracebackhide__ = True
        known = {} if self._solved is None else self._solved.judges
        if declared is not None and scorer.name in known:
            return known[scorer.name]
        if self.planned is None:
            return ()
        wish: dict[str, Json] = {"scorer": _named(scorer, declared=declared is not None)}
        return cast("list[str]", self.send("judges", wish).result())

    def _no_answer(self) -> str:
        """Return why the completion holds no answer: the solver's reason, or how it was cut.

        It is "" when neither is known.
        """
        if self.completion is None:
            return ""
        if reason := self.completion.details.get("reason"):
            return str(reason)
        cut, empty = self.completion.stop_reason, not self.completion.text.strip()
        if cut == "stop":
            return EMPTY if empty else ""
        return f"{EMPTY if empty else NO_ANSWER}; it ended by {cut}"


def _named(scorer: Scorer, *, declared: bool) -> list[Json]:
    """Return name and options by which the engine finds or makes a scorer."""
    named: list[Json] = [scorer.name, {}]
    return named if declared else list(getattr(scorer, "spec", named))
