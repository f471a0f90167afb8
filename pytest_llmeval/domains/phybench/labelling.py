"""Labels one wrong answer by the kind of its error."""

from __future__ import annotations

from dataclasses import replace

from pytest_llmeval.domains.phybench.taxonomy import TAXONOMY_PROMPT_VERSION, taxonomy_messages
from pytest_llmeval.engine.calls import Calls
from pytest_llmeval.engine.judging import NO_JUDGE
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.records import Completion, ErrorLabel, Sample, Transcript
from pytest_llmeval.scoring.judge.verdict import error_label
from pytest_llmeval.scoring.judge.voting import Vote


async def labelled(
    completion: Completion, sample: Sample, model: ModelSpec | None, calls: Calls
) -> Completion:
    """Return the wrong completion with the label that `model` gives it, and with the calls that this took.

    Whatever goes wrong leaves it unlabelled and says why: the answer is scored by then, and stays
    as it was scored.
    """
    try:
        label = await _label(completion, sample, model, calls)
    except Exception as error:  # noqa: BLE001 - as said, whatever: a test's report is made meanwhile, and must be
        label = ErrorLabel(kind=None, reason=f"{type(error).__name__}: {error}")
    label = replace(
        label, judge="" if model is None else model.label, grader=TAXONOMY_PROMPT_VERSION
    )
    events = (*completion.transcript.events, *calls.transcript.events)
    return replace(completion, transcript=Transcript(events=events)).labelled(label)


async def _label(
    completion: Completion, sample: Sample, model: ModelSpec | None, calls: Calls
) -> ErrorLabel:
    if model is None:
        return ErrorLabel(kind=None, reason=NO_JUDGE)
    solution = str(sample.metadata["solution"])
    messages = taxonomy_messages(sample.input, solution, sample.target, completion.text)
    vote = Vote(read=error_label)
    while not vote.over:
        vote.record((await calls.ask_label(model, messages, draw=vote.replies)).text)
    unusable = f"the judge gave no usable label in {vote.replies} replies (wanted: one JSON object and nothing else)"
    return vote.result or ErrorLabel(kind=None, reason=unusable)
