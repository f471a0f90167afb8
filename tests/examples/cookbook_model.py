"""A scripted model for the examples of docs/cookbook; recordings are made with it.

Record an example anew with: pytest examples/NAME --llmeval-keep examples/NAME/replies.jsonl
--llmeval-model python/./tests/examples/cookbook_model.py:reply
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from pytest_llmeval.records import Request

KNOWN: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("cookbook_replies.json").read_text("utf-8")
)
MISTAKEN = {"plain": {"Turkey": "Istanbul"}, "terse": {"Turkey": "Istanbul", "Australia": "Sydney"}}


def reply(request: Request) -> str:
    """Return the reply to the last question in the request."""
    text = request.messages[-1].text
    for country, capital in KNOWN["capitals"].items():
        if f" of {country}" in text:
            return _capital(text, country, capital)
    for question, right in KNOWN["choices"].items():
        if text.startswith(question):
            letter = re.search(rf"^([A-Z])\. {re.escape(right)}$", text, re.MULTILINE)
            assert letter is not None
            return f"It is {right}.\nAnswer: {letter[1]}"
    found = max((text.rfind(question), question) for question in KNOWN["replies"])
    written: str = KNOWN["replies"][found[1]]
    return written


def _capital(text: str, country: str, capital: str) -> str:
    if "largest cities" in text:
        return f"The capital need not be the largest city. It is {capital}."
    kind = "terse" if "one word" in text else "plain"
    city = MISTAKEN[kind].get(country, capital)
    return city if kind == "terse" else f"The capital of {country} is {city}."
