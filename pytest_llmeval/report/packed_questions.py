"""The whole texts of the questions, packed into what a report has room for."""

from __future__ import annotations

import json
from typing import Final

from pytest_llmeval.records import Json
from pytest_llmeval.report.asked_questions import AskedQuestions
from pytest_llmeval.report.pack import Pack
from pytest_llmeval.results.questions import questions_of
from pytest_llmeval.results.stored_run import StoredRun

_LONGEST: Final = 40_000
"""Characters of a question on the page of a sample."""

_PART: Final = 4
"""The part of the room, as 1/4, that questions may take: prompts mostly hold them once more."""


def pack_questions(run: StoredRun, questions: AskedQuestions, pack: Pack) -> list[Json]:
    """Return the entries of the questions, with the place of a text that its excerpt is not.

    A text that is too long for its share of the room is packed as the page's texts of evidence are:
    ``{"text": its beginning, "of": its length}``.
    """
    limit = min(_LONGEST, pack.room // _PART // (len(questions.entries) or 1))
    entries = [*questions.entries]
    for question in questions_of(run):
        number, text = questions.numbers[question.key], question.text
        entry = entries[number]
        if isinstance(entry, dict) and entry["text"] != text:
            whole: Json = text if len(text) <= limit else {"text": text[:limit], "of": len(text)}
            entries[number] = {**entry, "place": list(pack.add(json.dumps(whole)))}
    return entries
