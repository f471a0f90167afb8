"""Failures of calls by HTTP as provider errors: what they end, what to do."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final, NamedTuple

import aiohttp

from pytest_llmeval.errors import ProviderError, Reach
from pytest_llmeval.providers.bodies import ServedError, UnreadableReplyError
from pytest_llmeval.providers.services import Endpoint

_LOST: Final = {
    401: "the key is refused; set a valid one in {key_name}",
    402: "the account has no credit left",
    403: "the key of {key_name} may not use this model here",
    404: "no such model or path; check the model's name and the base URL",
}
LOOKED_AT: Final = 400
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

_SAMPLING: Final = re.compile(r"\b(temperature|top_p|top_k)\b")
_TRANSIENT: Final = frozenset({408, 409, 425, 429})
_SERVER_ERRORS: Final = 500


class Verdict(NamedTuple):
    """What a refusal ends, and what to do about it ("" if nothing is known)."""

    reach: Reach
    hint: str = ""


BLIND: Final = Verdict("pictures", "this model reads no pictures; name one that does")
TOO_LARGE: Final = Verdict("sample", "this request is too large for the model or the account")
NO_QUOTA: Final = Verdict(
    "model", "the account's quota is used up; add credit or ask another endpoint"
)


def verdict_in(words: str) -> Verdict | None:
    """Return what a server's message says, whatever its status; None if it is none of the known."""
    begin = words[:LOOKED_AT]
    if _BLIND.search(begin):
        return BLIND
    return TOO_LARGE if _TOO_LARGE.search(begin) else None


def sampling_refused(words: str) -> Verdict | None:
    """Return what is said of a request whose sampling parameter is refused; None for others."""
    named = _SAMPLING.search(words[:LOOKED_AT])
    if named is None:
        return None
    return Verdict("sample", f"{named[1]}=null in the model's spec leaves it out")


def is_firewall(status: int, words: str) -> bool:
    """Return whether a refusal is a firewall's page, about a prompt that it dislikes."""
    return status == HTTPStatus.FORBIDDEN and words.lstrip().startswith("<")


def verdict_of(status: int, endpoint: Endpoint) -> Verdict:
    """Return what an HTTP status alone says."""
    if status in _LOST:
        return Verdict("model", _LOST[status].format(key_name=endpoint.key_name))
    waits = status in _TRANSIENT or status >= _SERVER_ERRORS
    return Verdict("attempt" if waits else "sample")


def status_error(
    endpoint: Endpoint,
    status: int,
    words: str,
    verdict: Verdict,
    *,
    wait: float | None = None,
) -> ProviderError:
    """Return the error of a refusal.

    Args:
        endpoint: where the call went.
        status: the HTTP status.
        words: the server's message; it is quoted, without keys.
        verdict: what it ends.
        wait: seconds that the server asks to wait (`retry_after`).
    """
    said = f"HTTP {status} {endpoint.quote(words)}".rstrip()
    told = "; ".join(part for part in (said, verdict.hint) if part)
    return ProviderError(
        f"{endpoint.model} at {endpoint.host}: {told}",
        reach=verdict.reach,
        status=status,
        retry_after=wait,
        cause=str(status),
    )


def other_error(
    error: Exception, endpoint: Endpoint, judged: Callable[[int, str], Verdict]
) -> ProviderError:
    """Return the error of a call that an SDK did not report as refused by a status.

    The reply held a failure or could not be read, or no whole reply came.

    Args:
        error: what the SDK or the reading of the reply raised.
        endpoint: where the call went.
        judged: the verdict on a failure in a reply, by the status that it names and its words.
    """
    match error:
        case ServedError(code=int(status)) if status >= HTTPStatus.BAD_REQUEST:
            words = str(error)
            return status_error(endpoint, status, words, judged(status, words))
        case ServedError():
            return served_error(endpoint, str(error))
        case UnreadableReplyError():
            return unreadable_error(endpoint, error)
        case _:
            return connection_error(error, endpoint)


def served_error(endpoint: Endpoint, words: str) -> ProviderError:
    """Return the error of a reply with status 200 that holds a failure of the server's."""
    problem = f"{endpoint.model} at {endpoint.host}: {endpoint.quote(words)}"
    return ProviderError(problem, reach="attempt", status=200, cause="served")


def unreadable_error(endpoint: Endpoint, error: UnreadableReplyError) -> ProviderError:
    """Return the error of a body that is cut, no JSON, or of another shape than the API's."""
    quoted = endpoint.quote(str(error))
    problem = f"{endpoint.model} at {endpoint.host}: cannot read the reply: {quoted}"
    return ProviderError(problem, reach="attempt", status=200, cause="truncated")


def connection_error(error: Exception, endpoint: Endpoint) -> ProviderError:
    """Return the error of a call over aiohttp to which no whole response came."""
    origin = aiohttp_failure(error) or error
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


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the wait that a response asks for (s), or None.

    Args:
        headers: with Retry-After (seconds or an HTTP date), or retry-after-ms.
    """
    try:
        if milliseconds := headers.get("retry-after-ms"):
            seconds = float(milliseconds) / 1000
        elif not (value := headers.get("retry-after")):
            return None
        elif value.strip().endswith("GMT"):
            seconds = (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds()
        else:
            seconds = float(value)
    except ValueError:
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def aiohttp_failure(error: BaseException) -> aiohttp.ClientError | None:
    """Return the error of aiohttp behind an SDK's; None if there is none.

    SDKs report a dropped connection as a time-out; the innermost error is the right one.
    """
    return next((e for e in _causes(error) if isinstance(e, aiohttp.ClientError)), None)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
