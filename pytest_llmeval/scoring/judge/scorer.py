"""The scorer ``judge``: models decide about an answer, by a template and on a scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final, cast

from pytest_llmeval.records import (
    Completion,
    Display,
    Json,
    Role,
    Sample,
    Score,
    Target,
    TargetForm,
    Verdict,
    target_texts,
)
from pytest_llmeval.records.score import DECIDED_BY
from pytest_llmeval.roles import JUDGE
from pytest_llmeval.scoring.binary import shown
from pytest_llmeval.scoring.judge.built_in import EQUIVALENCE
from pytest_llmeval.scoring.judge.judgement import (
    CRITERIA,
    LABEL,
    Judgement,
)
from pytest_llmeval.scoring.judge.pairwise_scale import PairwiseScale
from pytest_llmeval.scoring.judge.poll import Poll
from pytest_llmeval.scoring.judge.prefilter import (
    PREFILTER_VERSION,
    PlainDecision,
    decide_plainly,
)
from pytest_llmeval.scoring.judge.prompt import JudgePrompt, built_in_prompt
from pytest_llmeval.scoring.scorer import NO_ANSWER, ScorerContext
from pytest_llmeval.scoring.targets import ALL_FORMS

EMPTY: Final = "no answer"
"""What decides about an empty answer, in place of a rule or a judge."""

NO_JUDGE = "no judge is configured: pass --llmeval-judge SPEC or set JUDGE_DEPLOYMENT"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeScorer:
    """Scores what the judges find of an answer; a task makes it by `making.judge_scorer`.

    Attributes:
        prompt: what is asked, and on which scale.
        votes: how often each judge is asked about one answer.
        prefilter: whether plain answers are decided by rules, without a judge; only where the
            prompt is ``equivalence``.
        models: specs of the judges, unless the command line names others.
        role: whose models of the run are asked.
        pictures: whether the sample's pictures are sent to the judges.
    """

    name: str = "judge"
    prompt: JudgePrompt = field(default_factory=built_in_prompt)
    votes: int = 1
    prefilter: bool = True
    models: tuple[str, ...] = ()
    role: Role = "judge"
    pictures: bool = False
    only_incorrect: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Raise ValueError for a number of votes outside of 1..99, or a prefilter out of place."""
        if not 1 <= self.votes <= 99:  # noqa: PLR2004 - as the message says
            msg = f"votes is {self.votes!r}; it must be from 1 to 99"
            raise ValueError(msg)
        if self.prefilter and self.prompt.source != EQUIVALENCE:
            msg = f"prefilter decides by the rules of the prompt {EQUIVALENCE} alone; leave it out"
            raise ValueError(msg)

    @property
    def scale(self) -> float:
        """The highest value of a score."""
        return self.prompt.scale.highest

    @property
    def further_names(self) -> tuple[str, ...]:
        """A score for each criterion of a rubric: ``judge.accuracy``."""
        return tuple(f"{self.name}.{name}" for name in self.prompt.scale.criteria)

    @property
    def display(self) -> Display:
        """The labels of a scale of labels, to be counted."""
        labels = {label: label for label in self.prompt.scale.labels}
        heading = {LABEL: f"{self.name}: labels"}
        return Display(labels={LABEL: labels}, headings=heading) if labels else Display()

    @property
    def spec(self) -> tuple[str, dict[str, Json]]:
        """Name and options by which the engine makes this scorer again."""
        options: dict[str, Json] = {
            **self.prompt.options,
            "votes": self.votes,
            "prefilter": self.prefilter,
            "models": [*self.models],
            "role": self.role,
            "pictures": self.pictures,
        }
        return "judge", options

    @property
    def question(self) -> str:
        """Version and digest of what is asked, such as ``judge/1 prompt 00895f1b``."""
        return self.prompt.version

    @property
    def grader(self) -> str:
        """What is asked, and version of the prefilter where there may be one."""
        if self.prompt.source != EQUIVALENCE:
            return self.question
        return f"{self.question} {PREFILTER_VERSION if self.prefilter else 'no prefilter'}"

    @property
    def grader_options(self) -> dict[str, Json]:
        """The options that the grader does not name already."""
        pictures: dict[str, Json] = {"pictures": True} if self.pictures else {}
        return {"votes": self.votes, **self.prompt.scale.deciding, **pictures}

    def asked(self, models: Sequence[str]) -> Sequence[str]:
        """Return all models, sorted: what they amount to is the same in every order."""
        return sorted(models)

    @property
    def targets(self) -> frozenset[TargetForm]:
        """A judge is shown several texts, and a mapping as JSON; an equivalence needs a target."""
        if isinstance(self.prompt.scale, PairwiseScale):
            return frozenset({"text", "list"})
        return ALL_FORMS - {"none"} if self.prompt.asks_equivalence else ALL_FORMS

    def check(self, target: Target) -> None:
        """Raise ValueError for a target that is no reply, where it is one to compare with."""
        if not isinstance(self.prompt.scale, PairwiseScale):
            return
        if not isinstance(target, str):
            msg = "the target is a list; on the scale pairwise it is one reply to compare with"
            raise ValueError(msg)  # noqa: TRY004 - of a dataset, not of a caller
        if not target.strip():
            msg = "the target is empty; on the scale pairwise it is the reply to compare with"
            raise ValueError(msg)

    def check_sample(self, sample: Sample) -> None:
        """Raise TaskError if the template cannot be filled with a sample."""
        self.prompt.check(sample)

    def same(self, one: str, other: str, target: str) -> bool:  # noqa: ARG002 - part of the port
        """Whether two answers are equal by the prefilter's rules; no judge is asked."""
        pairs = ((one, other), (other, one)) if self.prompt.asks_equivalence else ()
        return any(decide_plainly(*pair).decision == "equal" for pair in pairs)

    async def prepare(
        self, sample: Sample, completion: Completion, context: ScorerContext
    ) -> dict[str, Json] | None:
        """Return the JSON of the `Judgement` on the completion's answer.

        Without an answer it is incorrect, and nobody is asked. It is undecided when no judge is
        configured, or when the judges come to no majority.
        """
        if _empty(answer := completion.answer or ""):
            return Judgement(
                verdict=self._unanswered, explanation=NO_ANSWER, decided_by=EMPTY
            ).to_json()
        if self.prefilter:
            plain = _plain_answer(answer, sample.target)
            if plain.decision != "undecided":
                return Judgement(
                    verdict=Verdict(correct=plain.decision == "equal", reason=plain.reason),
                    explanation=plain.reason,
                    judge=PREFILTER_VERSION,
                    decided_by="symbolic",
                ).to_json()
        if not context.models:
            return Judgement(verdict=None, explanation=_no_judge(self.role)).to_json()
        return (await self.judged(sample, answer, context)).to_json()

    async def judged(
        self, sample: Sample, candidate: str, context: ScorerContext, *, stop_early: bool = True
    ) -> Judgement:
        """Return what the judges of `context` find of one answer, asked at the same time.

        The prefilter is not asked. A judge that fails loses its vote. The transcript has the judges
        in their order.

        Args:
            sample: the dataset row.
            candidate: the answer.
            context: the way to the judges, at least one.
            stop_early: whether a judge is asked for its votes only until its majority is certain.

        Raises:
            LLMEvalError: the first error of a judge, if all of them failed; any error that is not
                one judge's alone, after all judges are done.
        """
        images = context.images if self.pictures else ()
        poll = Poll(
            prompt=self.prompt,
            questions=[one.messages(sample, candidate, images) for one in self.prompt.orders],
            role=self.role,
            votes=self.votes,
            stop_early=stop_early,
        )
        return await poll.judgement(context)

    def score(self, answer: str | None, sample: Sample, prepared: Json) -> Score:  # noqa: ARG002 - part of the port
        """Return the score that the judgement in `prepared` amounts to.

        Without an answer it is the lowest one.
        """
        if _empty(answer):
            lowest = self._unanswered
            details: dict[str, Json] = {DECIDED_BY: EMPTY}
            if lowest.criteria:
                details[CRITERIA] = dict(lowest.criteria)
            return self._score(lowest.value, NO_ANSWER, details, correct=False)
        judgement = Judgement.from_json(prepared)
        verdict, explanation = judgement.verdict, judgement.explanation
        if verdict is None or verdict.correct is None:
            return self._score(None, explanation, judgement.details, correct=None)
        value = float(verdict.correct) if verdict.value is None else verdict.value
        return self._score(value, explanation, judgement.details, correct=verdict.correct)

    def further(self, score: Score) -> tuple[Score, ...]:
        """Return the score of each criterion of a rubric; () where nothing was decided."""
        values = cast("dict[str, float]", score.details.get(CRITERIA, {}))
        return tuple(
            Score(
                name=f"{self.name}.{name}",
                value=value,
                scale=self.scale,
                correct=None,
                grader=score.grader,
                decides=False,
            )
            for name, value in values.items()
        )

    def failure(self, answer: str | None, sample: Sample, score: Score) -> str:
        """Return the first line of a failed assertion."""
        if _empty(answer):
            return f"{self.name}: not asked"
        if self.prompt.asks_equivalence:
            return f"{self.name}: not equivalent to {shown(sample.target_text)}"
        label = cast("str | None", score.details.get(LABEL))
        return f"{self.name}: {self.prompt.scale.shortfall(score.value, label)}"

    @property
    def _unanswered(self) -> Verdict:
        """The verdict on an empty answer: incorrect, with the lowest value of each criterion."""
        scale = self.prompt.scale
        return Verdict(
            correct=False,
            value=scale.lowest,
            criteria=dict.fromkeys(scale.criteria, scale.lowest),
            reason=NO_ANSWER,
        )

    def _score(
        self,
        value: float | None,
        explanation: str,
        details: dict[str, Json],
        *,
        correct: bool | None,
    ) -> Score:
        return Score(
            name=self.name,
            value=value,
            scale=self.scale,
            correct=correct,
            explanation=explanation,
            grader=self.grader,
            details=details,
        )


def _plain_answer(answer: str, target: Target) -> PlainDecision:
    """Return what the rules decide: for one of the texts, against all of them, or nothing."""
    found = [decide_plainly(answer, text) for text in target_texts(target)]
    for decision in ("equal", "undecided"):
        if one := next((one for one in found if one.decision == decision), None):
            return one
    return found[0]


def _empty(answer: str | None) -> bool:
    return not (answer and answer.strip())


def _no_judge(role: Role) -> str:
    """Return why nobody judged, and the option that names a model of the role."""
    if role == JUDGE:
        return NO_JUDGE
    return f"no model is configured for the role {role!r}: pass --llmeval-model {role}=SPEC"
