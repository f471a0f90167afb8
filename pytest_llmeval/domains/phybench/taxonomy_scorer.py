"""The scorer ``taxonomy``: a judge labels each wrong answer by the kind of its error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, cast

from pytest_llmeval.domains.phybench.taxonomy import (
    ERROR_KINDS,
    TAXONOMY_PARAMETERS,
    TAXONOMY_PROMPT_DIGEST,
    TAXONOMY_PROMPT_VERSION,
    ErrorLabel,
    error_label,
    taxonomy_messages,
)
from pytest_llmeval.errors import RunStopped
from pytest_llmeval.records import Completion, Display, Json, Sample, Score
from pytest_llmeval.safety.printable import described
from pytest_llmeval.scoring.judge.reply import refused
from pytest_llmeval.scoring.judge.voting import Vote
from pytest_llmeval.scoring.scorer import ScorerContext

SOLUTION: Final = "solution"
"""Key of a sample's metadata that holds the reference solution."""

NO_JUDGE: Final = "no judge is configured: pass --llmeval-judge SPEC or set JUDGE_DEPLOYMENT"

NO_SOLUTION: Final = "no label: the sample's metadata has no `solution` to compare with"

NOT_ASKED: Final = "no label: no judge was asked about this answer"


@dataclass(frozen=True, slots=True)
class TaxonomyScorer:
    """Labels wrong answers as PP or RR (`taxonomy.ERROR_KINDS`); it decides no outcome.

    Only samples whose metadata hold a ``solution`` are labelled. The first of the judges is asked.
    A judge that fails, is missing, or gives no usable reply leaves the answer unlabelled: ``label``
    None, with the reason.

    Details of the score: ``label``, ``reason``, ``judge`` (the model) and ``grader`` (the
    question's version); none where no judge was asked.
    """

    name: ClassVar[str] = "taxonomy"
    grader: ClassVar[str] = f"{TAXONOMY_PROMPT_VERSION} prompt {TAXONOMY_PROMPT_DIGEST}"
    scale: ClassVar[float] = 1.0
    models: ClassVar[tuple[str, ...]] = ()
    only_incorrect: ClassVar[bool] = True
    display: ClassVar[Display] = Display(
        labels={"label": ERROR_KINDS}, headings={"label": "wrong answers by kind of error"}
    )

    def asked(self, models: Sequence[str]) -> Sequence[str]:
        """Return the first model."""
        return models[:1]

    def check(self, target: str) -> None:
        """Accept every target."""

    async def prepare(self, sample: Sample, completion: Completion, context: ScorerContext) -> Json:
        """Return the details of the score; None for a sample without a reference solution.

        Raises:
            RunStopped: the run ended before a judge answered.
        """
        if SOLUTION not in sample.metadata:
            return None
        judge = next(iter(context.models), "")
        try:
            label = await _label(sample, completion, judge, context)
        except RunStopped:
            raise
        except Exception as error:  # noqa: BLE001 - no failure here may cost the scored answer
            label = described(error)
        return {
            "label": label.kind if isinstance(label, ErrorLabel) else None,
            "reason": label.reason if isinstance(label, ErrorLabel) else label,
            "judge": judge,
            "grader": TAXONOMY_PROMPT_VERSION,
        }

    def score(
        self,
        answer: str | None,  # noqa: ARG002 - every scorer gets it
        sample: Sample,
        prepared: Json,
    ) -> Score:
        """Return the score that carries the label; it has no value."""
        details = cast("Mapping[str, Json]", prepared or {})
        missing = NOT_ASKED if SOLUTION in sample.metadata else NO_SOLUTION
        return Score(
            name=self.name,
            value=None,
            correct=None,
            explanation=str(details.get("reason", missing)),
            grader=self.grader,
            decides=False,
            details=details,
        )


async def _label(
    sample: Sample, completion: Completion, judge: str, context: ScorerContext
) -> ErrorLabel | str:
    """Return the judge's label, or why there is none."""
    if not judge:
        return NO_JUDGE
    solution = str(sample.metadata[SOLUTION])
    messages = taxonomy_messages(sample.input, solution, sample.target_text, completion.text)
    vote = Vote(read=error_label)
    while not vote.over:
        reply = await context.generate(
            messages,
            model=judge,
            stage="taxonomy",
            draw=vote.replies,
            parameters=TAXONOMY_PARAMETERS,
        )
        vote.record(reply)
    return vote.result or refused("label", vote.replies, ("label", "reason"), vote.last)
