"""What refusals of Anthropic's Messages API end, without its SDK."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Final

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
    sampling_refused,
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


def verdict(status: int, words: str, code: str | None, endpoint: Endpoint) -> Verdict:
    """Return what a refusal ends, by its HTTP status, its words and its code."""
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


def other_provider_error(error: Exception, endpoint: Endpoint) -> ProviderError:
    """Return the error of a call that the SDK did not report as refused by a status."""
    return other_error(
        error, endpoint, lambda status, words: verdict(status, words, None, endpoint)
    )


def is_filtered_body(error: Exception) -> bool:
    """Return whether a failure in a body was a policy filter's."""
    return isinstance(error, ServedError) and is_filter(
        status=error.code, words=str(error), codes=(error.name,)
    )
