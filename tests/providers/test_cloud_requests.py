"""Whatever a task can hold becomes a request that the published types take, or one clear error.

The rules are those of the loopback servers: the classes of Google's SDK read what is sent, and so
does the model of the service that botocore ships.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from botocore.serialize import create_serializer
from botocore.validate import ParamValidator
from google.genai import Client
from google.genai.types import HttpOptions
from hypothesis import given, settings
from hypothesis import strategies as st
from providers.chats import JSON, PARAMETERS, conversations
from servers import converse_rules, gemini_rules
from servers.openai_server import png

from pytest_llmeval.errors import ProviderError
from pytest_llmeval.files.images import ImageFolder
from pytest_llmeval.providers.bedrock.requests import converse_request
from pytest_llmeval.providers.google.provider import GoogleProvider
from pytest_llmeval.providers.services import Endpoint
from pytest_llmeval.records import Image, Message, Request

MODELS = st.sampled_from(["m", "gemini-2.5-pro", "us.anthropic.claude-x-v1:0"])
ODD = st.dictionaries(
    st.sampled_from(
        [
            *("tools", "tool_choice", "response_format", "reasoning_effort", "stop", "n"),
            *("safety_settings", "thinking_config", "imageConfig", "guardrailConfig"),
            *("inferenceConfig", "outputConfig", "additionalModelRequestFields", "verbosity"),
        ]
    ),
    JSON,
    max_size=3,
)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    path = tmp_path_factory.mktemp("pictures") / "a.png"
    path.write_bytes(png())
    return Image.load(path)


@pytest.fixture(scope="module")
def gemini_body(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Return a function that gives the body that Google's SDK sends for a request."""
    bodies: list[Any] = []

    def keep(request: httpx2.Request) -> httpx2.Response:
        bodies.append(json.loads(request.content))
        return httpx2.Response(200, json={"candidates": [{"content": {"parts": []}}]})

    http = httpx2.AsyncClient(transport=httpx2.MockTransport(keep))
    options = HttpOptions(base_url="http://gemini", httpx_async_client=http)
    client = Client(vertexai=False, api_key="none", http_options=options)
    provider = GoogleProvider(
        client,
        http,
        Endpoint(model="google/m", base_url="http://gemini", key_name="GOOGLE_API_KEY"),
        image_store=ImageFolder(tmp_path_factory.mktemp("images")),
    )

    with asyncio.Runner() as runner:

        def body(request: Request) -> Any:
            runner.run(provider.send(request))
            return bodies.pop()

        yield body


def made(make: Callable[[Request], Any], request: Request) -> Any:
    """Return what is made of a request, or the error of its kind."""
    try:
        return make(request)
    except (ProviderError, ValueError) as error:
        return error


def is_clear(error: Exception) -> bool:
    """Return whether an error is one readable line."""
    return len(str(error)) > 20 and "\n" not in str(error)


@settings(max_examples=60)
@given(data=st.data(), parameters=PARAMETERS, model=MODELS)
def test_the_gemini_api_takes_what_is_sent(
    image: Image, gemini_body: Any, data: Any, parameters: dict[str, Any], model: str
) -> None:
    request = Request(
        operation=data.draw(st.sampled_from(["chat", "image"])),
        provider="google",
        model=model,
        messages=data.draw(conversations(image)),
        parameters=parameters,
    )
    body = made(gemini_body, request)
    if isinstance(body, ProviderError):
        assert is_clear(body), str(body)
        assert body.cause == "request", str(body)
        return
    assert gemini_rules.wrong(model, gemini_rules.camel(body)) is None, body


@settings(max_examples=60)
@given(data=st.data(), parameters=PARAMETERS, model=MODELS)
def test_the_converse_api_takes_what_is_sent(
    image: Image, data: Any, parameters: dict[str, Any], model: str
) -> None:
    messages = data.draw(conversations(image))
    request = Request(provider="bedrock", model=model, messages=messages, parameters=parameters)
    body = made(converse_request, request)
    if isinstance(body, ValueError):
        assert is_clear(body), str(body)
        return
    assert wrong_for_bedrock(body) is None, body


def wrong_for_bedrock(request: dict[str, Any]) -> str | None:
    """Return what the service refuses of a request that botocore takes and writes as JSON."""
    report = ParamValidator().validate(request, converse_rules.input_shape())
    if report.has_errors():  # an error by which nothing is sent
        return None
    written = create_serializer("rest-json").serialize_to_request(
        request, converse_rules.operation()
    )
    return converse_rules.wrong(request["modelId"], json.loads(written["body"]))


@given(parameters=ODD)
def test_parameters_of_any_shape_end_in_no_other_error(
    gemini_body: Any, parameters: dict[str, Any]
) -> None:
    request = Request(
        provider="any", model="m", messages=(Message.of("user", "hi"),), parameters=parameters
    )
    error = made(gemini_body, request)
    assert not isinstance(error, ProviderError) or error.cause == "request"
    made(converse_request, request)
