"""Refusals by a policy filter that come as an error, not as a finish reason.

What a filter did counts the same either way: as a reply that is cut by it, and that is scored as it
is. So a benchmark compares models with the filters that they are served with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

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


def is_filter(*, status: int | None, words: str, codes: Iterable[object]) -> bool:
    """Return whether a policy filter refused a call.

    Args:
        status: the HTTP status; None if there was none.
        words: the server's message.
        codes: the error's codes and types, as far as there are any.
    """
    named = any(str(code).lower() in _CODES for code in codes)
    return status in _STATUSES and (named or _WORDS.search(words) is not None)
