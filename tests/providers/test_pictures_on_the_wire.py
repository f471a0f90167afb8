"""Pictures in requests: large ones arrive whole, and a refusal to read any is known."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import pytest
from providers.loopback import failure
from servers.openai_server import png

from pytest_llmeval.records import Image, ImagePart, Message, Request, TextPart


def asking(picture: Image) -> Request:
    message = Message(role="user", parts=(ImagePart(image=picture), TextPart(text="what is x?")))
    return Request(provider="openai", model="m", messages=(message,))


def test_a_picture_of_more_than_a_megabyte_arrives_whole(
    ask: Any, model_server: Any, tmp_path: Path
) -> None:
    data = png() + os.urandom(2 * 2**20)
    (tmp_path / "large.png").write_bytes(data)
    ask(asking(Image.load(tmp_path / "large.png")))
    [seen] = model_server.report()["seen"]
    url = seen["body"]["messages"][0]["content"][0]["image_url"]["url"]
    assert base64.b64decode(url.partition(",")[2]) == data
    assert seen["headers"]["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "Invalid content type. image_url is only supported by certain models."),
        (400, "Qwen/Qwen3-8B is not a multimodal model"),
        (400, "At most 0 image(s) may be provided in one request."),
        (400, "this model does not support image input (ref: b8bd630e)"),
        (500, "image input is not supported - hint: you may need to provide the mmproj"),
        (500, "image input is not supported by this server"),
        (500, 'Failed to parse messages: Unsupported content part type: "image_url"; messages'),
        (500, "failed to process inputs: this model is missing data required for image input"),
        (422, "messages[0]: unknown variant `image_url`, expected `text`"),
        (404, "No endpoints found that support image input"),
    ],
)
def test_a_model_that_reads_no_pictures_loses_its_requests_with_pictures(
    ask: Any, model_server: Any, picture: Image, status: int, words: str
) -> None:
    model_server.program(always={"kind": str(status), "message": words})
    error = failure(ask, asking(picture))
    assert error.reach == "pictures"
    assert "this model reads no pictures; name one that does" in str(error)


@pytest.mark.parametrize(
    "words",
    [
        "You uploaded an unsupported image.",
        "The image is too large.",
        "no such format",
        "bad picture in " + "the prompt " * 40 + "image input is not supported",
    ],
)
def test_a_picture_that_is_refused_ends_its_sample_alone(
    ask: Any, model_server: Any, picture: Image, words: str
) -> None:
    model_server.program(always={"kind": "400", "message": words})
    assert failure(ask, asking(picture)).reach == "sample"
