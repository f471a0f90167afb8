"""Addresses and keys of the providers ``openai`` and ``azure``, by options and environment.

No SDK is imported here, so that checking them is fast.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from pytest_llmeval.engine.addresses import check_address
from pytest_llmeval.errors import UsageError

OPENAI_URL: Final = "https://api.openai.com/v1"

AZURE_VERSION: Final = "2025-04-01-preview"
"""Version of Azure's API when the variable OPENAI_API_VERSION names none."""

_LONGEST_QUOTE: Final = 300
_SHORTEST_SECRET: Final = 8
_KEY_LIKE: Final = re.compile(r"\b(?:sk-[\w*.-]+|eyJ[\w-]{8,}\.[\w.-]+)")
"""Keys in OpenAI's form, also other ones and half masked ones, and the tokens of Entra ID."""
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a model is reached.

    Attributes:
        model: the model's spec without settings, for messages.
        base_url: the server's address.
        key_name: environment variable that holds the key.
        key: the key, "" if there is none.
        version: version of Azure's API, "" elsewhere.
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

    def serves(self, host: str, port: int | None) -> bool:
        """Return whether a connection to this host and port is one to the endpoint."""
        url = urlsplit(self.base_url)
        default = 443 if url.scheme == "https" else 80
        return (host.lower(), port) == (url.hostname, url.port or default)

    @property
    def at_openai(self) -> bool:
        """Whether this is OpenAI's own address."""
        host = self.host.lower().partition(":")[0]
        return host == "api.openai.com" or host.endswith(".api.openai.com")

    def scrub(self, text: str) -> str:
        """Return a text without the key: servers and models repeat it, and replies reach files."""
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
    """Return where an ``openai/`` model is reached.

    The address is the option ``base_url``, else OPENAI_BASE_URL, else OpenAI's own. The key is in
    the variable that the option ``key`` names, else in OPENAI_API_KEY; servers other than OpenAI's
    may need none.

    Raises:
        UsageError: the key is missing, or the address is none.
    """
    key_name = options.get("key", "OPENAI_API_KEY")
    url = options.get("base_url") or environ.get("OPENAI_BASE_URL") or OPENAI_URL
    check_address(url, "base URL")
    endpoint = Endpoint(
        model=f"openai/{model}", base_url=url, key_name=key_name, key=environ.get(key_name, "")
    )
    if not endpoint.key and endpoint.at_openai:
        msg = (
            f"{endpoint.model}: no key; set {key_name}, "
            "or base_url=URL in the spec for a server that needs none"
        )
        raise UsageError(msg)
    if not endpoint.key and "key" in options:
        msg = f"{endpoint.model}: {key_name} is not set, which the spec names for the key"
        raise UsageError(msg)
    return endpoint


def azure_endpoint(
    deployment: str, options: Mapping[str, str], environ: Mapping[str, str]
) -> Endpoint:
    """Return where an ``azure/`` deployment is reached.

    The address is the option ``base_url``, else AZURE_OPENAI_ENDPOINT. The key is in the variable
    that the option ``key`` names, else in AZURE_OPENAI_API_KEY; it may be missing.

    Raises:
        UsageError: there is no address.
    """
    model = f"azure/{deployment}"
    key_name = options.get("key", "AZURE_OPENAI_API_KEY")
    url = options.get("base_url") or environ.get("AZURE_OPENAI_ENDPOINT")
    if not url:
        msg = (
            f"{model}: AZURE_OPENAI_ENDPOINT is not set; "
            "expected a value such as https://NAME.openai.azure.com"
        )
        raise UsageError(msg)
    check_address(url, "AZURE_OPENAI_ENDPOINT")
    version = environ.get("OPENAI_API_VERSION") or AZURE_VERSION
    return Endpoint(
        model=model, base_url=url, key_name=key_name, key=environ.get(key_name, ""), version=version
    )


def endpoints_by(environ: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return what the environment says about where each kind of provider is reached.

    Stored replies are reused from the same endpoint only (`engine.replies`). A function's file is
    relative to `folder`, so that is its endpoint.
    """
    return {
        "openai": environ.get("OPENAI_BASE_URL", ""),
        "azure": environ.get("AZURE_OPENAI_ENDPOINT", ""),
        "python": str(folder),
    }
