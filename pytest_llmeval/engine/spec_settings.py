"""The parts of a model's spec: provider, name, and settings of three kinds."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Final

from pytest_llmeval.engine.addresses import check_address
from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.redaction import is_secret_name
from pytest_llmeval.records import Json

SETTING: Final = re.compile(r",(?=[A-Za-z_]\w*=)")
"""Where a setting begins: a comma elsewhere belongs to a name or a value."""

_KIND: Final = re.compile(r"((?:\.{0,2}/[^,:]*\.py|[\w.]+):[A-Za-z_]\w*|[^/]*)/(.*)", re.DOTALL)
"""The provider (``./file.py:function``, ``module:function`` or a name) and the model's name."""

OPTIONS: Final = ("api", "base_url", "cache", "key", "serve", "vision")
"""SpecSettings for how a model is reached and what it can do."""

PLACES: Final[Mapping[str, tuple[str, ...]]] = {
    "bedrock": ("region",),
    "google": ("location", "project"),
}
"""Further ones for how the models of one provider are reached; elsewhere they are parameters."""

STARTED: Final = "vllm"
"""The provider whose servers the run starts and ends."""

_UNCACHED: Final = frozenset({"openai", "azure", "google", "bedrock", STARTED})
"""Providers that cache prompts by themselves, or not at all."""

_KEY_NAMES: Final = frozenset(
    {"api_key", "apikey", "access_token", "auth", "authorization", "bearer", "password", "secret"}
    | {"token", "api_token"}
)
"""Settings that would hold a key itself, which then would stand in files and messages."""

_PLACE: Final = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9.:-]*")

TIMEOUT: Final = 600.0
"""Seconds that one attempt of a request may take."""

PATIENCE: Final = 180.0
"""Seconds that a server may be away, or refuse everything, counted from the first refusal without a
reply since, before its model is given up."""

STARTUP: Final = 1800.0
"""Seconds that a server which the run starts may take until it is ready; the model may have to be
downloaded first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLimits:
    """How much is asked of one model; None where the spec does not say.

    Attributes:
        rpm: requests per minute, at most.
        tpm: tokens per minute, at most.
        concurrency: requests in flight, at most.
        timeout: seconds that one attempt of a request may take (else TIMEOUT).
        patience: seconds that the server may be away before the model is given up (else PATIENCE).
        startup: seconds that a server of the run's own may take to start (else STARTUP).
    """

    rpm: float | None = None
    tpm: float | None = None
    concurrency: int | None = None
    timeout: float | None = None
    patience: float | None = None
    startup: float | None = None


LIMITS: Final = tuple(limit.name for limit in fields(ModelLimits))


@dataclass(slots=True, kw_only=True)
class SpecSettings:
    """The settings of one spec, by their kind."""

    options: dict[str, str] = field(default_factory=dict)
    limits: dict[str, float] = field(default_factory=dict)
    parameters: dict[str, Json] = field(default_factory=dict)


def split_spec(text: str) -> tuple[str, str, str]:
    """Return a spec's provider, model name and settings; the last begin with their comma.

    The first two are "" if the text is of another form.
    """
    plain = SETTING.split(text)[0]
    kind, name = found.groups() if (found := _KIND.fullmatch(plain)) else ("", "")
    return kind, name, text[len(plain) :]


def read_settings(text: str, kind: str, settings: Sequence[str]) -> SpecSettings:
    """Return the settings of a spec.

    Args:
        text: the whole spec, for messages.
        kind: the provider's name.
        settings: texts of the form NAME=VALUE.

    Raises:
        UsageError: a setting is repeated, or has a value that it cannot have.
    """
    read = SpecSettings()
    seen: set[str] = set()
    for setting in settings:
        name, _, value = setting.partition("=")
        if name in seen:
            raise wrong(text, f"{name} stands there twice")
        seen.add(name)
        if name.lower() in _KEY_NAMES:
            problem = "keys come from environment variables only; key=NAME names one"
            raise wrong(text.partition(f",{name}=")[0], problem)
        if name in OPTIONS or name in PLACES.get(kind, ()):
            read.options[name] = _option(text, kind, name, value)
        elif name in LIMITS:
            read.limits[name] = _limit(text, kind, name, value)
        else:
            read.parameters[name] = _parameter(text, name, value)
    return read


def wrong(text: str, problem: str) -> UsageError:
    """Return the error of a spec."""
    return UsageError(f"model spec {text!r}: {problem}")


def _parameter(text: str, name: str, value: str) -> Json:
    """Return what the value is in JSON, else the text itself."""
    if not value:
        raise wrong(text, f"{name} has no value; null leaves a parameter out")
    try:
        parsed: Json = json.loads(value, parse_constant=str)
    except ValueError:
        return value
    return parsed


def _limit(text: str, kind: str, name: str, value: str) -> float:
    if name == "startup" and kind != STARTED:
        raise wrong(text, f"startup is for {STARTED}/ models, whose server the run starts")
    whole = name == "concurrency"
    try:
        number = int(value) if whole else float(value)
    except ValueError:
        number = 0
    if not 0 < number < math.inf:
        expected = "a whole number from 1 on" if whole else "a number above 0"
        raise wrong(text, f"{name} is {value!r}; expected {expected}")
    return number


def _option(text: str, kind: str, name: str, value: str) -> str:
    _check_taken(text, kind, name)
    match name:
        case "api" if value not in {"chat", "responses"} or kind not in {"openai", "azure"}:
            raise wrong(text, f"api is {value!r}; openai/ and azure/ models take chat or responses")
        case "cache" | "vision" if value not in {"on", "off"}:
            raise wrong(text, f"{name} is {value!r}; it is on or off")
        case "base_url":
            check_address(value, "base_url")
        case "region" | "location" | "project" if not _PLACE.fullmatch(value):
            raise wrong(text, f"{name} is {value!r}; expected a name of letters, digits, . : and -")
        case "key" if not (value.isidentifier() and is_secret_name(value)):
            problem = (
                "key names an environment variable such as VLLM_API_KEY; "
                "the key itself never stands here"
            )
            raise wrong(text.partition(",key=")[0], problem)
    return value


def _check_taken(text: str, kind: str, name: str) -> None:
    """Raise UsageError for an option that the models of a provider do not take."""
    problem = ""
    match name:
        case _ if kind in {"replay", "python"}:
            problem = f"{kind}/ models take no {name}"
        case "serve" if kind != STARTED:
            problem = f"serve is for {STARTED}/ models, whose server the run starts"
        case "api" | "base_url" | "key" if kind == STARTED:
            problem = (
                f"{kind}/ models take no {name}, because the run starts their server; "
                "openai/NAME,base_url=... asks one that runs"
            )
        case "cache" if kind in _UNCACHED:
            problem = f"{kind}/ models take no cache: anthropic/ models do"
        case "key" if kind == "bedrock":
            problem = "bedrock/ models take no key: AWS signs them in"
    if problem:
        # What stands behind `key=` may be a key.
        raise wrong(text.partition(",key=")[0], problem)
