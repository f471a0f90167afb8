"""Refusals by a policy filter that come as an error, not as a finish reason.

What a filter did counts the same either way: as a reply that is cut by it, and that is scored as it
is. So a benchmark compares models with the filters that they are served with.
"""

from __future__ import annotations

import re
from typing import Final

from openai import APIStatusError

from pytest_llmeval.providers.openai_json import ServedError
from pytest_llmeval.records import Reply, Usage

FILTERED: Final = Reply(text="", stop_reason="filter", usage=Usage(requests=1))
"""The reply that such a refusal amounts to."""

_CODES: Final = frozenset(
    {
        "content_filter",
        "content_policy_violation",
        "data_inspection_failed",
        "datainspectionfailed",
        "image_content_policy_violation",
        "moderation_blocked",
        "responsibleaipolicyviolation",
    }
)
"""Error codes of Azure, OpenAI and Alibaba, in small letters."""

_WORDS: Final = re.compile(
    r"content management policy|violating our usage policy|rejected by (?:the|our) safety system"
    r"|content exists risk|considered high risk|violates usage guidelines"
    r"|requires moderation\b.*\bflagged|may contain inappropriate content",
    re.IGNORECASE,
)
"""Messages of Azure, OpenAI, DeepSeek, Moonshot, xAI, OpenRouter and Alibaba, whose codes do not
always say it."""

_STATUSES: Final = frozenset({None, 200, 400, 403, 422, 451})
"""Statuses with which filters refuse; with others, such words are about something else."""


def is_filtered(error: Exception) -> bool:
    """Return whether a failed call was refused by a policy filter.

    Args:
        error: what the SDK or the reading of the reply raised.
    """
    match error:
        case APIStatusError():
            body = error.body if isinstance(error.body, dict) else {"message": str(error.body)}
            inner = body.get("innererror")
            codes = {
                error.code,
                body.get("type"),
                inner.get("code") if isinstance(inner, dict) else None,
            }
            status: int | None = error.status_code
            words = str(body.get("message") or "")
        case ServedError():
            codes, status, words = {error.name}, error.code, str(error)
        case _:
            return False
    named = any(str(code).lower() in _CODES for code in codes)
    return status in _STATUSES and (named or _WORDS.search(words) is not None)
