"""The scorer ``taxonomy`` with a scripted judge: it labels, and decides nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import pytest

from pytest_llmeval.domains.phybench.taxonomy import (
    TAXONOMY_PARAMETERS,
    TAXONOMY_PROMPT_DIGEST,
    taxonomy_messages,
)
from pytest_llmeval.domains.phybench.taxonomy_scorer import TaxonomyScorer
from pytest_llmeval.errors import ProviderError, RunStopped
from pytest_llmeval.records import Completion, Json, Message, Reply, Role, Sample, Score
from pytest_llmeval.records.plain import plain_json
from pytest_llmeval.scoring.scorer import PreparingScorer, ScorerContext
from pytest_llmeval.task.registry import SCORERS

SAMPLE = Sample(
    id="1", input="A bead slides.", target="v=\\sqrt{2gh}", metadata={"solution": "Energy."}
)
COMPLETION = Completion(text="so \\boxed{v=gh}", answer="v=gh")
JUDGES = ("openai/j", "openai/k")


def labelled(label: str, reason: str = "because") -> str:
    return json.dumps({"label": label, "reason": reason})


class Context:
    """Replies from a script, and keeps what was asked."""

    epoch = 1

    def __init__(self, *replies: str | Exception, models: tuple[str, ...] = JUDGES) -> None:
        """Reply in turn; an exception is raised."""
        self._replies, self.models = list(replies), models
        self.asked: list[tuple[str, str, int]] = []
        self.messages: list[tuple[Message, ...]] = []

    async def generate(  # noqa: PLR0913 - the port
        self,
        messages: Sequence[Message],
        *,
        model: str,
        stage: str,
        role: Role = "judge",
        draw: int = 0,
        parameters: Mapping[str, Json] | None = None,
    ) -> Reply:
        assert (role, parameters) == ("judge", TAXONOMY_PARAMETERS)
        self.asked.append((model, stage, draw))
        self.messages.append(tuple(messages))
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return Reply(text=reply)


def scored(context: Context, sample: Sample = SAMPLE) -> Score:
    scorer = TaxonomyScorer()
    judges = cast("ScorerContext", context)
    prepared = asyncio.run(scorer.prepare(sample, COMPLETION, judges))
    assert plain_json(prepared, "prepared") == prepared
    return scorer.score(COMPLETION.answer, sample, prepared)


def test_it_is_found_by_its_name_and_prepares_wrong_answers_alone(tmp_path: Path) -> None:
    found = SCORERS.load("taxonomy", tmp_path)()
    assert isinstance(found, TaxonomyScorer)
    assert isinstance(found, PreparingScorer)
    assert found.only_incorrect
    assert found.models == ()
    found.check("any target")
    assert found.display.labels == {
        "label": {"PP": "Physical Perception", "RR": "Robust Reasoning"}
    }


def test_the_first_judge_labels_the_whole_reply_and_decides_nothing() -> None:
    context = Context(labelled("PP", "no friction"))
    assert scored(context) == Score(
        name="taxonomy",
        value=None,
        correct=None,
        explanation="no friction",
        grader=f"taxonomy/1 prompt {TAXONOMY_PROMPT_DIGEST}",
        decides=False,
        details={
            "label": "PP",
            "reason": "no friction",
            "judge": "openai/j",
            "grader": "taxonomy/1",
        },
    )
    assert context.asked == [("openai/j", "taxonomy", 0)]
    assert context.messages == [
        taxonomy_messages(SAMPLE.input, "Energy.", SAMPLE.target_text, COMPLETION.text)
    ]


def test_an_unusable_reply_is_asked_for_again_under_the_next_draw() -> None:
    context = Context("PP", labelled("pp"), labelled("RR"))
    assert scored(context).details["label"] == "RR"
    assert [draw for _, _, draw in context.asked] == [0, 1, 2]


def test_four_unusable_replies_leave_the_answer_unlabelled() -> None:
    score = scored(Context(*["no idea"] * 4))
    assert score.details["label"] is None
    assert score.details["reason"] == (
        "the judge gave no usable label in 4 replies (wanted: one JSON object with the keys "
        "label, reason and nothing else; the last reply: no idea)"
    )
    assert (score.correct, score.decides) == (None, False)


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (ProviderError("no recorded reply"), "ProviderError: no recorded reply"),
        (RuntimeError("the judge is out"), "RuntimeError: the judge is out"),
    ],
)
def test_a_judge_that_fails_leaves_the_answer_unlabelled(failure: Exception, reason: str) -> None:
    details = scored(Context("PP", failure)).details
    assert (details["label"], details["reason"], details["judge"]) == (None, reason, "openai/j")


def test_the_end_of_the_run_passes() -> None:
    with pytest.raises(RunStopped):
        scored(Context(RunStopped("budget")))


def test_without_a_judge_the_answer_is_unlabelled_and_the_reason_says_what_to_do() -> None:
    details = scored(Context(models=())).details
    assert (details["label"], details["judge"]) == (None, "")
    assert details["reason"] == (
        "no judge is configured: pass --llmeval-judge SPEC or set JUDGE_DEPLOYMENT"
    )


def test_without_a_reference_solution_nothing_is_asked_and_nothing_is_unlabelled() -> None:
    context = Context()
    score = scored(context, Sample(id="2", input="?", target="1"))
    assert (context.asked, score.details) == ([], {})
    assert "no `solution`" in score.explanation


def test_without_preparation_there_is_no_label() -> None:
    score = TaxonomyScorer().score(None, SAMPLE, None)
    assert (score.details, score.explanation) == (
        {},
        "no label: no judge was asked about this answer",
    )
