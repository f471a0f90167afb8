"""Whom the OpenAI adapters talk to, by options and environment.

Knows no SDK, so that checking is fast.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from pytest_llmeval.engine.addresses import check_address
from pytest_llmeval.errors import UsageError

OPENAI_URL: Final = "https://api.openai.com/v1"

AZURE_VERSION: Final = "2025-04-01-preview"
"""Of Azure's API, where OPENAI_API_VERSION names none: the published Geometry3K judge is configured
without one."""

_LONGEST_QUOTE: Final = 300
_SHORTEST_SECRET: Final = 8
_KEY_LIKE: Final = re.compile(r"\b(?:sk-[\w*.-]+|eyJ[\w-]{8,}\.[\w.-]+)")
"""Keys in OpenAI's form, also ones that are not ours or half blotted out, and the tokens of Entra
ID."""
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a model is reached and how its messages tell it.

    `key_name` is the variable that holds the key.

    `version` is the one of Azure's API, elsewhere empty.
    """

    model: str
    base_url: str = field(repr=False)
    key_name: str
    key: str = field(default="", repr=False)
    version: str = ""

    @property
    def host(self) -> str:
        """The host and port."""
        return urlsplit(self.base_url).netloc

    @property
    def at_openai(self) -> bool:
        """Whether this is OpenAI's own address."""
        host = self.host.lower().partition(":")[0]
        return host == "api.openai.com" or host.endswith(".api.openai.com")

    def scrub(self, text: str) -> str:
        """Return a text without the key: servers and models do repeat it, and replies reach files."""
        return (
            text.replace(self.key, "***")
            if len(self.key) >= _SHORTEST_SECRET and self.key in text
            else text
        )

    def quote(self, text: str) -> str:
        """Return a server's words on one line, shortened, with no key in them."""
        text = _CONTROL.sub(" ", _KEY_LIKE.sub("***", self.scrub(text))).strip()
        return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}..."


def openai_endpoint(model: str, options: Mapping[str, str], environ: Mapping[str, str]) -> Endpoint:
    """Return where an ``openai/`` model is: at its base URL, or OPENAI_BASE_URL, or at OpenAI's own address.

    The key comes from OPENAI_API_KEY or the variable that the options name; a base URL of one's own
    works without. UsageError when a key is missing or the URL is none.
    """
    key_name = options.get("key", "OPENAI_API_KEY")
    url = options.get("base_url") or environ.get("OPENAI_BASE_URL") or OPENAI_URL
    check_address(url, "base URL")
    endpoint = Endpoint(
        model=f"openai/{model}", base_url=url, key_name=key_name, key=environ.get(key_name, "")
    )
    if not endpoint.key and endpoint.at_openai:
        msg = f"{endpoint.model}: no key; set {key_name}, or --llmeval-base-url for a server that needs none"
        raise UsageError(msg)
    if not endpoint.key and "key" in options:
        msg = f"{endpoint.model}: {key_name} is not set, which the spec names for the key"
        raise UsageError(msg)
    return endpoint


def azure_endpoint(
    deployment: str, options: Mapping[str, str], environ: Mapping[str, str]
) -> Endpoint:
    """Return where an ``azure/`` deployment is: at its base URL or AZURE_OPENAI_ENDPOINT.

    The key comes from AZURE_OPENAI_API_KEY or the variable that the options name; it may be
    missing. The version is OPENAI_API_VERSION or AZURE_VERSION. UsageError when there is no
    address.
    """
    model = f"azure/{deployment}"
    key_name = options.get("key", "AZURE_OPENAI_API_KEY")
    url = options.get("base_url") or environ.get("AZURE_OPENAI_ENDPOINT")
    if not url:
        msg = f"{model}: AZURE_OPENAI_ENDPOINT is not set; expected a value such as https://NAME.openai.azure.com"
        raise UsageError(msg)
    check_address(url, "AZURE_OPENAI_ENDPOINT")
    version = environ.get("OPENAI_API_VERSION") or AZURE_VERSION
    return Endpoint(
        model=model, base_url=url, key_name=key_name, key=environ.get(key_name, ""), version=version
    )
