"""Failed calls to OpenAI-compatible endpoints as provider errors: what they end, what to do."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final

import aiohttp
import openai

from pytest_llmeval.errors import ProviderError, Reach
from pytest_llmeval.providers.endpoints import Endpoint
from pytest_llmeval.providers.openai_json import ServedError, UnreadableReplyError

QUOTA_CODES: Final = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
)
"""Error codes of an account without money: no waiting helps."""

_LOST: Final = {
    401: "the key is refused; set a valid one in {key_name}",
    402: "the account has no credit left",
    403: "the key of {key_name} may not use this model here",
    404: "no such model or path; check the model's name and the base URL",
}
_LOOKED_AT: Final = 400
"""Characters of a message in which words are looked for: some servers add the whole prompt."""

_BLIND: Final = re.compile(
    r"image_url is only supported|not a multimodal model|at most 0 image"
    r"|image inputs? (?:is|are) not supported|missing data required for image"
    r"|unknown variant `?image_url|unsupported content part type: \W*image_url"
    r"|endpoints found that support image|not compiled for multimodal"
    r"|(?:does not|doesn't|not) support (?:image|vision)s? ?(?:inputs?|$|[.,;(])",
    re.IGNORECASE,
)
"""Messages of OpenAI, vLLM, llama.cpp, Ollama, DeepSeek and OpenRouter when a model that reads no
pictures gets one."""

_TOO_LARGE: Final = re.compile(
    r"request too large|tokens must be reduced|exceeds the available context", re.IGNORECASE
)
"""Messages of OpenAI (429) and older llama.cpp (500) about a request that no waiting helps."""

_OF_ITS_REQUEST: Final = re.compile(
    r"can only afford|fewer max_tokens|input was flagged|endpoints found that", re.IGNORECASE
)
"""Messages of OpenRouter (402, 403, 404) that say nothing about other requests."""

_TRANSIENT: Final = frozenset({408, 409, 425, 429})
_SERVER_ERRORS: Final = 500


def provider_error(
    error: Exception, endpoint: Endpoint, *, now: datetime | None = None
) -> ProviderError:
    """Return the error of a failed call.

    Args:
        error: what the SDK or the reading of the reply raised.
        endpoint: where the call went.
        now: what a date in Retry-After is compared with; None for the present.
    """
    match error:
        case openai.APIStatusError():
            wait = retry_after(error.response.headers, datetime.now(UTC) if now is None else now)
            words, drawing = _words(error.body), "/images/" in error.request.url.path
            return _status_error(
                error.status_code, words, error.code, wait, endpoint, drawing=drawing
            )
        case ServedError(code=int(status)) if status >= 400:  # noqa: PLR2004 - HTTP's errors
            return _status_error(status, str(error), None, None, endpoint)
        case ServedError():
            problem = f"{endpoint.model} at {endpoint.host}: {endpoint.quote(str(error))}"
            return ProviderError(problem, reach="attempt", status=200, cause="served")
        case UnreadableReplyError():
            quoted = endpoint.quote(str(error))
            problem = f"{endpoint.model} at {endpoint.host}: cannot read the reply: {quoted}"
            return ProviderError(problem, reach="attempt", status=200, cause="truncated")
        case _:
            return _connection_error(error, endpoint)


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the wait that a response asks for (s), or None.

    Args:
        headers: with Retry-After (seconds or an HTTP date), or retry-after-ms.
        now: what a date is compared with.
    """
    try:
        if milliseconds := headers.get("retry-after-ms"):
            seconds = float(milliseconds) / 1000
        elif not (value := headers.get("retry-after")):
            return None
        elif value.strip().endswith("GMT"):
            seconds = (parsedate_to_datetime(value) - now).total_seconds()
        else:
            seconds = float(value)
    except ValueError:
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _status_error(  # noqa: PLR0913 - the parts of a response
    status: int,
    words: str,
    code: str | None,
    wait: float | None,
    endpoint: Endpoint,
    *,
    drawing: bool = False,
) -> ProviderError:
    reach: Reach = "sample"
    hint = ""
    begin = words[:_LOOKED_AT]
    if code in QUOTA_CODES:
        reach, hint = "model", "the account's quota is used up; add credit or ask another endpoint"
    elif _BLIND.search(begin):
        reach, hint = "pictures", "this model reads no pictures; name one that does"
    elif _TOO_LARGE.search(begin):
        hint = "this request is too large for the model or the account"
    elif status in _LOST and not _is_of_its_request(status, begin, drawing=drawing):
        reach, hint = "model", _LOST[status].format(key_name=endpoint.key_name)
    elif status in _TRANSIENT or status >= _SERVER_ERRORS:
        reach = "attempt"
    said = f"HTTP {status} {endpoint.quote(words)}".rstrip()
    problem = f"{endpoint.model} at {endpoint.host}: " + "; ".join(
        part for part in (said, hint) if part
    )
    return ProviderError(problem, reach=reach, status=status, retry_after=wait, cause=str(status))


def _is_of_its_request(status: int, words: str, *, drawing: bool) -> bool:
    """Return whether a refusal of key, model or path may spare other requests.

    A page of HTML with status 403 comes from a firewall that dislikes a prompt; a server without an
    image API may well answer chats.
    """
    firewall = status == HTTPStatus.FORBIDDEN and words.lstrip().startswith("<")
    missing = status == HTTPStatus.NOT_FOUND and drawing
    return firewall or missing or _OF_ITS_REQUEST.search(words) is not None


def _words(body: object) -> str:
    """Return the message in an error's body of OpenAI's or FastAPI's form, or of plain text."""
    if isinstance(body, dict):
        words = body.get("message") or body.get("detail") or body
        return words if isinstance(words, str) else json.dumps(words, default=str)
    return "" if body is None else str(body)


def _connection_error(error: Exception, endpoint: Endpoint) -> ProviderError:
    # The client reports a dropped connection as a time-out; the innermost error is the right one.
    origin = next((e for e in _causes(error) if isinstance(e, aiohttp.ClientError)), error)
    told = endpoint.quote(str(origin) or type(origin).__name__)
    reach: Reach = "attempt"
    if isinstance(origin, aiohttp.ClientConnectorError) and not endpoint.serves(
        origin.host, origin.port
    ):
        elsewhere = f"{origin.host}:{origin.port}"
        problem = f"the server redirected to {elsewhere}, where nothing answers ({told})"
        return ProviderError(
            f"{endpoint.model} at {endpoint.host}: {problem}", reach="attempt", cause="redirect"
        )
    match origin:
        case aiohttp.InvalidURL():
            reach, cause, what = "model", "url", "the base URL is wrong"
        case aiohttp.ClientConnectorError() | aiohttp.ConnectionTimeoutError():
            cause, what = (
                "unreachable",
                f"nothing answers at {endpoint.base_url}; is the server running, the URL right?",
            )
        case aiohttp.ServerTimeoutError():
            cause, what = "timeout", "no reply in time"
        case aiohttp.ClientPayloadError():
            cause, what = "truncated", "the reply broke off"
        case _:
            cause, what = "reset", "the connection broke"
    return ProviderError(
        f"{endpoint.model} at {endpoint.host}: {what} ({told})", reach=reach, cause=cause
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
