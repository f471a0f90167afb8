"""Failed calls to Anthropic's Messages API as provider errors: what they end, what to do."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Final

import anthropic

from pytest_llmeval.errors import ProviderError
from pytest_llmeval.providers.bodies import ServedError
from pytest_llmeval.providers.content_filters import is_filter
from pytest_llmeval.providers.http_failures import (
    LOOKED_AT,
    NO_QUOTA,
    TOO_LARGE,
    Verdict,
    is_firewall,
    other_error,
    retry_after,
    sampling_refused,
    status_error,
    verdict_in,
    verdict_of,
)
from pytest_llmeval.providers.services import Endpoint

_NO_MONEY_CODES: Final = frozenset(
    {
        "contract_spend_limit_reached",
        "enforced_spend_limit_reached",
        "linked_organization_billing_unavailable",
        "linked_organization_spend_limit_reached",
        "organization_on_hold",
    }
)
"""Codes, with status 400, 402 or 429, of an account that is served nothing more for now."""

_NO_MONEY: Final = re.compile(
    r"credit balance is too low|reached your specified (?:\w+ )?api usage limits"
    r"|reached your api usage limits",
    re.IGNORECASE,
)
"""Messages of the same, with status 400: no code comes with them."""

_TOO_LONG: Final = re.compile(r"prompt is too long|exceed context limit", re.IGNORECASE)


def provider_error(error: Exception, endpoint: Endpoint) -> ProviderError:
    """Return the error of a failed call.

    Args:
        error: what the SDK or the reading of the reply raised.
        endpoint: where the call went.
    """
    match error:
        case anthropic.APIStatusError(status_code=status):
            wait = retry_after(error.response.headers)
            words = error.api_message if isinstance(error.api_message, str) else error.message
            verdict = _verdict(status, words, error.error_code, endpoint)
            return status_error(endpoint, status, words, verdict, wait=wait)
        case _:
            return other_error(
                error, endpoint, lambda status, words: _verdict(status, words, None, endpoint)
            )


def is_filtered(error: Exception) -> bool:
    """Return whether a failed call was refused by a policy filter, such as a gateway's."""
    match error:
        case anthropic.APIStatusError(status_code=status):
            return is_filter(status=status, words=error.message, codes=(error.error_code,))
        case ServedError():
            return is_filter(status=error.code, words=str(error), codes=(error.name,))
        case _:
            return False


def _verdict(status: int, words: str, code: str | None, endpoint: Endpoint) -> Verdict:
    begin = words[:LOOKED_AT]
    if code in _NO_MONEY_CODES or _NO_MONEY.search(begin):
        return NO_QUOTA
    if _TOO_LONG.search(begin):
        return TOO_LARGE
    if is_firewall(status, words):
        return Verdict("sample")
    if status == HTTPStatus.BAD_REQUEST and (sampling := sampling_refused(words)):
        return sampling
    return verdict_in(words) or verdict_of(status, endpoint)
