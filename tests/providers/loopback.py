"""One request to the loopback server, by way of a provider that is opened and closed for it."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_llmeval.errors import ProviderError
from pytest_llmeval.records import Message, Request

KEY = "sk-test-51f0c2a9e8d7"


def question(text: str = "why?", **parameters: Any) -> Request:
    return Request(
        provider="openai", model="m", messages=(Message.of("user", text),), parameters=parameters
    )


def failure(ask: Any, request: Request | str = "why?", **options: Any) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        ask(request, **options)
    return caught.value
