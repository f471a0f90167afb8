"""A call of a tool as a model wrote it, in a reply's own field or in its text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_llmeval.records import Json, ToolCall
from pytest_llmeval.scoring.json_text import read_json


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenCall:
    """A call as a model wrote it.

    Attributes:
        name: the tool's name, which need not exist.
        arguments: its arguments, not yet checked; None if they cannot be read.
        problem: why they cannot be read, for the model.
    """

    name: str
    arguments: Mapping[str, Json] | None
    problem: str = ""


def native_call(call: ToolCall) -> WrittenCall:
    """Return a call that came by the provider's interface."""
    problem = "The arguments are no JSON object."
    arguments: Mapping[str, Json] | None = None
    try:
        found = read_json(call.arguments)
        # Half of a surrogate pair is JSON, but no text that could be stored or sent.
        json.dumps(found, ensure_ascii=False).encode()
    except ValueError as error:
        problem = f"The arguments are no JSON object: {str(error)[:200]}."
    else:
        arguments = found if isinstance(found, dict) else None
    return WrittenCall(name=call.name, arguments=arguments, problem=problem)
