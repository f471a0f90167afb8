"""A scripted model and a scripted judge of faithfulness for examples/retrieval.

Record the example anew with: pytest examples/retrieval --llmeval-keep
examples/retrieval/replies.jsonl --llmeval-model MODEL --llmeval-judge MODEL, where MODEL is
python/./tests/examples/retrieval_model.py:reply
"""

from __future__ import annotations

import json
from typing import NamedTuple

from pytest_llmeval.records import Request


class Scripted(NamedTuple):
    """An answer, and why the judge finds it unfaithful; "" if it does not."""

    answer: str
    unsupported: str = ""


SCRIPT = {
    "How high": Scripted("It is 38 metres high."),
    "was the lighthouse built": Scripted(
        "It was built in 1887 by the engineer Lund.", "the passages name no engineer"
    ),
    "last keeper": Scripted("Ada Brun was the last keeper."),
    "no ferry": Scripted("There is none on Sundays."),
    "cloth sold": Scripted("Cloth is sold from 9 o'clock."),
    "child pay": Scripted("Children pay nothing."),
    "boiling of salt": Scripted("It ended in 1820."),
    "along the dunes": Scripted("From August on, as the path is closed from May to July."),
    "How many pupils": Scripted("The passages do not tell."),
    "harbour dug": Scripted(
        "The harbour was dug in 1874, and the lamp became electric in 1962.",
        "the passages say nothing of the lamp",
    ),
}
"""By a part of the question."""


def reply(request: Request) -> str:
    """Return the answer, or what the judge says of it."""
    text = request.messages[-1].text
    script = SCRIPT[max(SCRIPT, key=text.rfind)]
    if request.role == "solver":
        return script.answer
    reason = script.unsupported or "the passages say so"
    return json.dumps({"answer_correct": int(not script.unsupported), "reason": reason})
