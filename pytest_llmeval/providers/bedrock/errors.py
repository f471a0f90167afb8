"""Failed calls to Bedrock's Converse API as provider errors: what they end, what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from botocore import exceptions
from botocore.exceptions import ClientError

from pytest_llmeval.errors import ProviderError
from pytest_llmeval.providers.content_filters import is_filter
from pytest_llmeval.providers.http_failures import (
    BLIND,
    LOOKED_AT,
    NO_QUOTA,
    TOO_LARGE,
    Verdict,
    other_error,
    retry_after,
    sampling_refused,
    status_error,
    verdict_in,
    verdict_of,
)
from pytest_llmeval.providers.services import Endpoint

CREDENTIALS: Final = (
    exceptions.NoCredentialsError,
    exceptions.PartialCredentialsError,
    exceptions.CredentialRetrievalError,
    exceptions.NoAuthTokenError,
    exceptions.TokenRetrievalError,
    exceptions.SSOError,
    exceptions.ProfileNotFound,
    exceptions.InvalidConfigError,
)
"""Errors of an environment from which botocore takes no credentials."""

_SIGNING: Final = Verdict("model", "AWS refuses the credentials; set valid ones for this account")
_ATTEMPT: Final = Verdict("attempt")
_CODES: Final[Mapping[str, Verdict]] = {
    **dict.fromkeys(
        (
            *("ExpiredToken", "ExpiredTokenException", "IncompleteSignature"),
            *("InvalidSignatureException", "MissingAuthenticationToken"),
            *("MissingAuthenticationTokenException", "UnrecognizedClientException"),
        ),
        _SIGNING,
    ),
    "AccessDeniedException": Verdict("model", "the account has no access to this model here"),
    "ResourceNotFoundException": Verdict(
        "model", "no such model here; check its name and the region"
    ),
    "ModelErrorException": _ATTEMPT,
    "ServiceQuotaExceededException": _ATTEMPT,
}
"""What a code says that its HTTP status does not."""

_NO_MODEL: Final = re.compile(
    r"model identifier is invalid|on-demand throughput isn.t supported|end of its life",
    re.IGNORECASE,
)
_DAILY: Final = re.compile(r"too many (?:tokens|requests) per day", re.IGNORECASE)
_BLIND: Final = re.compile(
    r"(?:does not|doesn.t|not) support (?:the )?images?\b|image content block", re.IGNORECASE
)
_TOO_LARGE: Final = re.compile(
    r"input is too long|prompt is too long|too many input tokens|exceeds? the .*context",
    re.IGNORECASE,
)
_SCHEMA: Final = re.compile(
    r"output_?config|output_?format|text_?format|json.?schema", re.IGNORECASE
)


def provider_error(error: Exception, endpoint: Endpoint) -> ProviderError:
    """Return the error of a failed call.

    Args:
        error: what the SDK or the reading of the reply raised.
        endpoint: where the call went.
    """
    match error:
        case ClientError():
            status, headers = _status(error), _metadata(error).get("HTTPHeaders") or {}
            wait = retry_after(headers)
            words = f"{_code(error)}: {_words(error)}"
            return status_error(endpoint, status, words, _verdict(error, endpoint), wait=wait)
        case exceptions.ParamValidationError():
            told = endpoint.quote(str(error))
            return ProviderError(f"{endpoint.model}: {told}", cause="request")
        case _ if isinstance(error, CREDENTIALS):
            told = endpoint.quote(str(error))
            return ProviderError(
                f"{endpoint.model}: no AWS credentials ({told}); set AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY, AWS_PROFILE, or AWS_BEARER_TOKEN_BEDROCK",
                reach="model",
                cause="token",
            )
        case _:
            return other_error(error, endpoint, lambda status, _: verdict_of(status, endpoint))


def is_filtered(error: Exception) -> bool:
    """Return whether a failed call was refused by a policy filter."""
    return isinstance(error, ClientError) and is_filter(
        status=_status(error), words=_words(error), codes=(_code(error),)
    )


def refuses_schema(error: Exception) -> bool:
    """Return whether a call failed for the JSON schema of the answer."""
    return (
        isinstance(error, ClientError)
        and _code(error) == "ValidationException"
        and _SCHEMA.search(_words(error)) is not None
    )


def _verdict(error: ClientError, endpoint: Endpoint) -> Verdict:
    code, status, begin = _code(error), _status(error), _words(error)[:LOOKED_AT]
    if _DAILY.search(begin):
        return NO_QUOTA
    if code == "ValidationException":
        if _NO_MODEL.search(begin):
            return Verdict("model", "check the model's name and the region")
        if _BLIND.search(begin):
            return BLIND
        if _TOO_LARGE.search(begin):
            return TOO_LARGE
        if sampling := sampling_refused(begin):
            return sampling
    return _CODES.get(code) or verdict_in(begin) or verdict_of(status, endpoint)


def _metadata(error: ClientError) -> Mapping[str, Any]:
    found: Mapping[str, Any] = error.response.get("ResponseMetadata", {})
    return found


def _status(error: ClientError) -> int:
    return int(_metadata(error).get("HTTPStatusCode", 0))


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


def _words(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Message", ""))
