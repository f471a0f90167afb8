"""Where models are reached: the addresses and keys of providers' services.

No SDK is imported here, so that checking them is fast.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from msgspec.structs import replace

from pytest_llmeval.engine.addresses import check_address
from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Reply

_LONGEST_QUOTE: Final = 300
_SHORTEST_SECRET: Final = 8
_KEY_LIKE: Final = re.compile(r"\b(?:sk-[\w*.-]+|eyJ[\w-]{8,}\.[\w.-]+)")
"""Keys in OpenAI's and Anthropic's form, also other ones and half masked ones, and the tokens of
Entra ID."""
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

    def scrub(self, text: str) -> str:
        """Return a text without the key: servers and models repeat it, and replies reach files."""
        return (
            text.replace(self.key, "***")
            if len(self.key) >= _SHORTEST_SECRET and self.key in text
            else text
        )

    def scrubbed(self, reply: Reply) -> Reply:
        """Return a reply without the key, which a server may have repeated in it."""
        calls = tuple(
            replace(call, name=self.scrub(call.name), arguments=self.scrub(call.arguments))
            for call in reply.tool_calls
        )
        return replace(
            reply,
            text=self.scrub(reply.text),
            reasoning=self.scrub(reply.reasoning),
            model=self.scrub(reply.model),
            continuation=self.scrub(reply.continuation),
            tool_calls=calls,
        )

    def quote(self, text: str) -> str:
        """Return a server's words on one line, shortened, with no key in them."""
        text = _CONTROL.sub(" ", _KEY_LIKE.sub("***", self.scrub(text))).strip()
        return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}..."


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A provider's own service, whose protocol other servers may speak too.

    Attributes:
        kind: the provider's name in specs, such as ``openai``.
        url: the service's address.
        url_name: environment variable that names another address.
        key_names: environment variables that may hold the key; the first one that does counts.
    """

    kind: str
    url: str
    url_name: str
    key_names: tuple[str, ...]

    def address(self, options: Mapping[str, str], environ: Mapping[str, str]) -> str:
        """Return a model's address: the option ``base_url``, else the variable, else the own."""
        return options.get("base_url") or environ.get(self.url_name) or self.url

    def serves(self, url: str) -> bool:
        """Return whether an address is one of the service's own."""
        host, own = urlsplit(url).hostname or "", urlsplit(self.url).hostname
        return host == own or host.endswith(f".{own}")

    def endpoint(
        self, model: str, options: Mapping[str, str], environ: Mapping[str, str]
    ) -> Endpoint:
        """Return where a model is reached.

        The key is in the variable that the option ``key`` names, else in one of `key_names`;
        servers other than the service's own may need none.

        Raises:
            UsageError: the key is missing, or the address is none.
        """
        url = self.address(options, environ)
        check_address(url, "base URL")
        held = (name for name in self.key_names if environ.get(name))
        key_name = options.get("key") or next(held, self.key_names[0])
        endpoint = Endpoint(
            model=f"{self.kind}/{model}",
            base_url=url,
            key_name=key_name,
            key=environ.get(key_name, ""),
        )
        if not endpoint.key and self.serves(url):
            msg = (
                f"{endpoint.model}: no key; set {key_name}, "
                "or base_url=URL in the spec for a server that needs none"
            )
            raise UsageError(msg)
        if not endpoint.key and "key" in options:
            msg = f"{endpoint.model}: {key_name} is not set, which the spec names for the key"
            raise UsageError(msg)
        return endpoint
