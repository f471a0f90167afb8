"""The models that the Responses API alone serves."""

from __future__ import annotations

import subprocess
import sys
from typing import Literal, get_args, get_origin

from openai.types.shared import ChatModel, ResponsesModel

from pytest_llmeval.providers.openai.models import responses_only


def test_they_are_those_of_the_sdks_types() -> None:
    listed = (names for names in get_args(ResponsesModel) if get_origin(names) is Literal)
    expected = {name for names in listed for name in get_args(names)} - set(get_args(ChatModel))
    assert responses_only() == expected
    assert "o3-pro" in expected


OPENED = """
import sys
from pathlib import Path
from pytest_llmeval.engine.specs import parse_spec
from pytest_llmeval.files.images import ImageFolder
from pytest_llmeval.providers.opening import open_provider

folder = Path(sys.argv[1])
keys = {"OPENAI_API_KEY": "sk-1234567890"}
open_provider(parse_spec("openai/o3-pro", folder=folder), folder=folder,
              image_store=ImageFolder(folder), environ=keys)
print("aiohttp" in sys.modules, "openai" in sys.modules, "httpx2" in sys.modules)
"""


def test_a_model_of_openai_is_opened_without_the_sdk() -> None:
    done = subprocess.run(
        [sys.executable, "-c", OPENED, "."], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "False", "False"]
