"""Lines of results and errors of OpenAI's batches."""

from __future__ import annotations

from typing import Final

from pytest_llmeval.engine.batches.ports import Result
from pytest_llmeval.providers.bodies import Object, UnreadableReplyError, clean, load, objects

_UNFINISHED: Final = frozenset({"batch_expired", "batch_cancelled"})
"""Codes of lines for requests that were not answered before the batch ended."""


def result_in(line: bytes) -> Result | None:
    """Return a line of results; None for one that cannot be read, or of an unanswered request."""
    try:
        data = load(line)
    except UnreadableReplyError:
        return None
    key, response, error = (data.get(name) for name in ("custom_id", "response", "error"))
    if not isinstance(key, str):
        return None
    if isinstance(error, dict) and error.get("code") in _UNFINISHED:
        return None
    is_reply = isinstance(response, dict) and response.get("status_code") == 200  # noqa: PLR2004
    return Result(key, is_reply, line.decode("utf-8", "replace"))


def errors_of(batch: Object) -> list[Object]:
    """Return the errors of a batch that was refused."""
    errors = batch.get("errors")
    return list(objects(errors.get("data"))) if isinstance(errors, dict) else []


def told(problems: list[Object]) -> str:
    """Return the first of a batch's errors, and how many there are."""
    if not problems:
        return "no reason was given"
    first = problems[0]
    line = first.get("line")
    place = f"line {line}: " if isinstance(line, int) else ""
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{place}{clean(first.get('message')) or clean(first.get('code'))}{more}"
