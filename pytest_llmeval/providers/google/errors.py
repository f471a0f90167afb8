"""Failed calls to Google's Gemini API as provider errors: what they end, what to do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from google.auth.exceptions import DefaultCredentialsError, GoogleAuthError
from google.genai.errors import APIError

from pytest_llmeval.errors import ProviderError
from pytest_llmeval.providers.bodies import Object, objects
from pytest_llmeval.providers.content_filters import is_filter
from pytest_llmeval.providers.http_failures import (
    BLIND,
    LOOKED_AT,
    NO_QUOTA,
    TOO_LARGE,
    Verdict,
    is_firewall,
    other_error,
    retry_after,
    status_error,
    verdict_in,
    verdict_of,
)
from pytest_llmeval.providers.services import Endpoint

_BLIND: Final = re.compile(r"image input modality is not enabled", re.IGNORECASE)
_TOO_LARGE: Final = re.compile(
    r"input token count.*exceeds|exceeds the maximum number of tokens|payload size exceeds",
    re.IGNORECASE,
)
_KEY: Final = frozenset({"API_KEY_INVALID", "API_KEY_EXPIRED", "API_KEY_SERVICE_BLOCKED"})
"""Reasons, with status 400 or 403, of a key that is refused."""

_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)s")


def provider_error(error: Exception, endpoint: Endpoint) -> ProviderError:
    """Return the error of a failed call.

    Args:
        error: what the SDK or the reading of the reply raised.
        endpoint: where the call went.
    """
    match error:
        case APIError():
            headers = getattr(error.response, "headers", None) or {}
            wait = _delay(error) or retry_after(headers)
            words = _words(error)
            return status_error(
                endpoint, error.code, words, _verdict(error, words, endpoint), wait=wait
            )
        case GoogleAuthError():
            return _token_error(error, endpoint)
        case _:
            return other_error(error, endpoint, lambda status, _: verdict_of(status, endpoint))


def is_filtered(error: Exception) -> bool:
    """Return whether a failed call was refused by a policy filter."""
    return isinstance(error, APIError) and is_filter(
        status=error.code, words=_words(error), codes=(error.status,)
    )


def refuses_schema(error: Exception) -> bool:
    """Return whether a call failed for the JSON schema of the answer."""
    return (
        isinstance(error, APIError)
        and error.code == 400  # noqa: PLR2004 - INVALID_ARGUMENT
        and re.search(r"schema|mime.?type|json mode", _words(error), re.IGNORECASE) is not None
    )


def _verdict(error: APIError, words: str, endpoint: Endpoint) -> Verdict:
    begin = words[:LOOKED_AT]
    reasons = {str(detail.get("reason")) for detail in _details(error)}
    if _KEY & reasons:
        return verdict_of(401, endpoint)
    if any("PerDay" in quota for quota in _quotas(error)):
        return NO_QUOTA
    if _BLIND.search(begin):
        return BLIND
    if error.status == "FAILED_PRECONDITION":
        return Verdict("model", "the account or its region may not use this API")
    if is_firewall(error.code, words):
        return Verdict("sample")
    large = TOO_LARGE if _TOO_LARGE.search(begin) else verdict_in(words)
    return large or verdict_of(error.code, endpoint)


def _words(error: APIError) -> str:
    message = error.message or error.details
    return message if isinstance(message, str) else json.dumps(message, default=str)


def _details(error: APIError) -> Iterator[Object]:
    body = error.details if isinstance(error.details, dict) else {}
    inner = body.get("error", body)
    return objects(inner.get("details") if isinstance(inner, dict) else None)


def _quotas(error: APIError) -> Iterator[str]:
    """Yield the names of the quotas that are used up, such as ``GenerateRequestsPerDay...``."""
    for detail in _details(error):
        yield from (str(one.get("quotaId")) for one in objects(detail.get("violations")))


def _delay(error: APIError) -> float | None:
    """Return the wait in a `RetryInfo` (s), or None."""
    for detail in _details(error):
        if found := _DURATION.fullmatch(str(detail.get("retryDelay"))):
            return float(found[1])
    return None


def _token_error(error: GoogleAuthError, endpoint: Endpoint) -> ProviderError:
    missing = isinstance(error, DefaultCredentialsError)
    told = endpoint.quote(str(error) or type(error).__name__)
    return ProviderError(
        f"{endpoint.model}: Google gave no token ({told}); gcloud auth application-default login, "
        "or name a file of credentials in GOOGLE_APPLICATION_CREDENTIALS",
        reach="model" if missing or not error.retryable else "attempt",
        cause="token",
    )
