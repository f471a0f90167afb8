"""Failed calls to OpenAI-compatible endpoints as provider errors: what they end, what to do."""

from __future__ import annotations

import json
import re
from http import HTTPStatus
from typing import Final

from pytest_llmeval.errors import ProviderError
from pytest_llmeval.providers.bodies import ServedError
from pytest_llmeval.providers.content_filters import is_filter
from pytest_llmeval.providers.http_failures import (
    LOOKED_AT,
    NO_QUOTA,
    Verdict,
    is_firewall,
    other_error,
    retry_after,
    status_error,
    verdict_in,
    verdict_of,
)
from pytest_llmeval.providers.openai.client import StatusError
from pytest_llmeval.providers.services import Endpoint

QUOTA_CODES: Final = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
)
"""Error codes of an account without money: no waiting helps."""

_OF_ITS_REQUEST: Final = re.compile(
    r"can only afford|fewer max_tokens|input was flagged|endpoints found that", re.IGNORECASE
)
"""Messages of OpenRouter (402, 403, 404) that say nothing about other requests."""


def provider_error(error: Exception, endpoint: Endpoint) -> ProviderError:
    """Return the error of a failed call.

    Args:
        error: what the client or the reading of the reply raised.
        endpoint: where the call went.
    """
    match error:
        case StatusError(status=status):
            wait = retry_after(error.headers)
            words, drawing = _words(error.said), error.path.startswith("/images/")
            verdict = _verdict(status, words, error.code, endpoint, drawing=drawing)
            return status_error(endpoint, status, words, verdict, wait=wait)
        case _:
            return other_error(
                error, endpoint, lambda status, words: _verdict(status, words, None, endpoint)
            )


def is_filtered(error: Exception) -> bool:
    """Return whether a failed call was refused by a policy filter.

    Args:
        error: what the client or the reading of the reply raised.
    """
    match error:
        case StatusError(status=status):
            body = error.said if isinstance(error.said, dict) else {"message": str(error.said)}
            inner = body.get("innererror")
            deeper = inner.get("code") if isinstance(inner, dict) else None
            codes = (error.code, body.get("type"), deeper)
            return is_filter(status=status, words=str(body.get("message") or ""), codes=codes)
        case ServedError():
            return is_filter(status=error.code, words=str(error), codes=(error.name,))
        case _:
            return False


def _verdict(
    status: int, words: str, code: object, endpoint: Endpoint, *, drawing: bool = False
) -> Verdict:
    if isinstance(code, str) and code in QUOTA_CODES:
        return NO_QUOTA
    verdict = verdict_in(words) or verdict_of(status, endpoint)
    if verdict.reach == "model" and _is_of_its_request(status, words, drawing=drawing):
        return Verdict("sample")
    return verdict


def _is_of_its_request(status: int, words: str, *, drawing: bool) -> bool:
    """Return whether a refusal of key, model or path may spare other requests.

    A page of HTML with status 403 comes from a firewall that dislikes a prompt; a server without an
    image API may well answer chats.
    """
    missing = status == HTTPStatus.NOT_FOUND and drawing
    return (
        is_firewall(status, words)
        or missing
        or _OF_ITS_REQUEST.search(words[:LOOKED_AT]) is not None
    )


def _words(body: object) -> str:
    """Return the message in an error's body of OpenAI's or FastAPI's form, or of plain text."""
    if isinstance(body, dict):
        words = body.get("message") or body.get("detail") or body
        return words if isinstance(words, str) else json.dumps(words, default=str)
    return "" if body is None else str(body)
