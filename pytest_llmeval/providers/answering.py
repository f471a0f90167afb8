"""One call by an SDK: its reply, or its failure as a provider error."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, TypeVar

import aiohttp
from msgspec.structs import replace

from pytest_llmeval.errors import ProviderError
from pytest_llmeval.providers.bodies import ServedError, UnreadableReplyError
from pytest_llmeval.providers.content_filters import FILTERED
from pytest_llmeval.providers.services import Endpoint
from pytest_llmeval.records import Reply, Request

Wanted = TypeVar("Wanted")

_OF_ALL: Final = (aiohttp.ClientError, ServedError, UnreadableReplyError)
"""Failures of connections and bodies, which every SDK over aiohttp lets through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    """How the failures of one API are understood.

    Attributes:
        kinds: the exceptions of its SDK.
        is_filtered: whether a failed call was refused by a policy filter.
        provider_error: the error of a failed call.
    """

    kinds: tuple[type[Exception], ...]
    is_filtered: Callable[[Exception], bool]
    provider_error: Callable[[Exception, Endpoint], ProviderError]


def translated(
    translate: Callable[[Request], Wanted], request: Request, endpoint: Endpoint
) -> Wanted:
    """Return a request in an API's own shape; ProviderError if it has none there."""
    try:
        return translate(request)
    except ValueError as error:
        msg = f"{endpoint.model}: {error}"
        raise ProviderError(msg, cause="request") from None


def check_chat(request: Request, endpoint: Endpoint) -> None:
    """Raise ProviderError for a request of a picture, to an API that makes none."""
    if request.operation != "chat":
        msg = f"{endpoint.model} makes no pictures; ask another model for them"
        raise ProviderError(msg, cause="request")


@contextmanager
def told_failures(endpoint: Endpoint, failures: Failures) -> Iterator[None]:
    """Raise the failures of a block as provider errors."""
    kinds: tuple[type[Exception], ...] = (*_OF_ALL, *failures.kinds)
    try:
        yield
    except kinds as error:
        # Without the chain, whose frames hold the key.
        raise failures.provider_error(error, endpoint) from None


async def answered(call: Awaitable[Reply], endpoint: Endpoint, failures: Failures) -> Reply:
    """Return the reply of a call, without keys, with its latency and date.

    The refusal of a policy filter is a reply.

    Raises:
        ProviderError: the call failed.
    """
    kinds: tuple[type[Exception], ...] = (*_OF_ALL, *failures.kinds)
    start = time.perf_counter()
    try:
        reply = await call
    except kinds as error:
        if not failures.is_filtered(error):
            # Without the chain, whose frames hold the key.
            raise failures.provider_error(error, endpoint) from None
        reply = FILTERED
    latency = time.perf_counter() - start
    return replace(endpoint.scrubbed(reply), latency=latency, created=time.time())
