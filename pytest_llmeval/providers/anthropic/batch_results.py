"""Lines of results of Anthropic's batches, and what a batch shows of itself."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from pytest_llmeval.engine.batches.ports import Result
from pytest_llmeval.providers.bodies import Object, UnreadableReplyError, clean, load
from pytest_llmeval.records import Json

_UNFINISHED: Final = frozenset({"expired", "canceled"})


def result_in(line: bytes) -> Result | None:
    """Return a line of results; None for one that cannot be read, or of an unanswered request."""
    try:
        data = load(line)
    except UnreadableReplyError:
        return None
    key, result = data.get("custom_id"), data.get("result")
    if not isinstance(key, str) or not isinstance(result, dict):
        return None
    if (kind := result.get("type")) in _UNFINISHED:
        return None
    return Result(key, kind == "succeeded", line.decode("utf-8", "replace"))


def created(batch: Object) -> float:
    """Return when a batch was made (s since 1970); infinity where the list does not say."""
    try:
        return datetime.fromisoformat(clean(batch.get("created_at"))).timestamp()
    except ValueError:
        return float("inf")


def requests_in(batch: Object) -> int:
    """Return the number of requests in a batch."""
    counts = batch.get("request_counts")
    numbers: list[Json] = list(counts.values()) if isinstance(counts, dict) else []
    return sum(number for number in numbers if isinstance(number, int))
