"""Model specs: ``openai/NAME``, ``azure/DEPLOYMENT``, ``replay/FILE``, ``python/./file.py:callable``, with settings."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pytest_llmeval.engine.addresses import check_address
from pytest_llmeval.engine.installed import installed_providers
from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.redaction import is_secret_name
from pytest_llmeval.records import Json

KINDS = ("openai", "azure", "replay", "python")
FORMS = "openai/NAME, azure/DEPLOYMENT, replay/FILE, python/./file.py:callable"
RECORDED = "recorded"
"""How rows call a task's own recorded replies, which run when no model is configured."""

OPTIONS = ("api", "base_url", "key", "vision")
"""The settings that tell how a model is reached, and what it can do; all others are parameters of
its requests."""

APIS = ("chat", "responses")

_SETTING = re.compile(r",(?=[A-Za-z_]\w*=)")
"""Where a setting begins: a comma elsewhere belongs to a name or a value."""

_BLIND = re.compile(r"(?:.*/)?(?:gpt-3\.5|gpt-oss|o1-mini|o1-preview|o3-mini)")
"""Models that read no pictures by OpenAI's own word; of others ``vision=off`` says so."""

_EPOCH_SEEDS = 1000
"""How far apart the seeds of two epochs are: no sample draws so often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """A model of the run: the provider's kind, the model's name there, and how rows and test ids call it.

    The name of a ``python/`` model stays as typed, relative to the invocation folder, so that the
    same command has the same request keys on every machine. `options` tell how it is reached,
    `parameters` go with its requests, and `seed` is the run's.
    """

    kind: str
    name: str
    label: str
    options: Mapping[str, str] = field(default_factory=dict, hash=False)
    parameters: Mapping[str, Json] = field(default_factory=dict, hash=False)
    seed: int | None = None

    @property
    def text(self) -> str:
        """Kind and name."""
        return f"{self.kind}/{self.name}"

    @property
    def recorded(self) -> bool:
        """Whether replies come from a recording, not from a live model."""
        return self.kind == "replay"

    @property
    def reads_pictures(self) -> bool:
        """Whether pictures may be sent to it, as far as is known beforehand."""
        known_blind = self.kind == "openai" and _BLIND.match(self.name) is not None
        return self.options.get("vision", "off" if known_blind else "on") == "on"

    @property
    def route(self) -> str:
        """How the model is reached, where the spec says so; with which key is nobody's business."""
        return "".join(
            f",{name}={self.options[name]}" for name in ("api", "base_url") if name in self.options
        )

    @property
    def bare(self) -> ModelSpec:
        """The model alone, without what its requests carry: connections, limits, prices and failures are its."""
        return replace(
            self, label=_SETTING.split(self.label)[0] + self.route, parameters={}, seed=None
        )

    def requested(
        self, parameters: Mapping[str, Json], *, epoch: int, draw: int
    ) -> dict[str, Json]:
        """Return what a request carries: `parameters`, over them the run's seed, over all what the spec says.

        Each epoch and draw has a seed of its own, or repetitions would repeat the same reply. None
        leaves a parameter out.
        """
        seed = {} if self.seed is None else {"seed": self.seed + (epoch - 1) * _EPOCH_SEEDS + draw}
        merged = {**parameters, **seed, **self.parameters}
        return {name: value for name, value in merged.items() if value is not None}


def parse_spec(text: str, *, folder: Path) -> ModelSpec:
    """Return the spec that `text` says; relative files are taken from `folder`.

    UsageError for anything else.
    """
    plain, *settings = _SETTING.split(text)
    kind, _, name = plain.partition("/")
    if not name or (kind not in KINDS and kind not in installed_providers()):
        others = "".join(
            f", {name}/NAME ({points[0].told})" for name, points in installed_providers().items()
        )
        msg = f"unknown model spec {text!r}; expected one of {FORMS}{others}"
        raise UsageError(msg)
    options, parameters = _settings(text, kind, settings)
    if kind == "replay":
        name = str(_existing(folder / name, text))
    if kind == "python":
        file, colon, callable_name = name.rpartition(":")
        if not colon or not callable_name.isidentifier():
            msg = f"model spec {text!r} names no callable; expected python/./file.py:callable"
            raise UsageError(msg)
        _existing(folder / file, text)
    return ModelSpec(kind=kind, name=name, label=text, options=options, parameters=parameters)


def parse_specs(texts: Sequence[str], *, folder: Path) -> tuple[ModelSpec, ...]:
    """Return the specs of all `texts`; UsageError also for one that only repeats another: their rows would be one."""
    specs: list[ModelSpec] = []
    for text in texts:
        spec = parse_spec(text, folder=folder)
        if same := [other.label for other in specs if replace(other, label=text) == spec]:
            msg = f"--llmeval-model {text!r} is the same model as {same[0]!r}; --llmeval-epochs K repeats samples"
            raise UsageError(msg)
        specs.append(spec)
    return tuple(specs)


def replay_spec(file: Path) -> ModelSpec:
    """Return the spec of a task's own recording."""
    return ModelSpec(kind="replay", name=str(file), label=RECORDED)


def _existing(path: Path, text: str) -> Path:
    if not path.is_file():
        msg = f"model spec {text!r}: no file at {path}"
        raise UsageError(msg)
    return path.resolve()


def _settings(
    text: str, kind: str, settings: Sequence[str]
) -> tuple[dict[str, str], dict[str, Json]]:
    """Return the options and the parameters among a spec's settings; UsageError for those that cannot be."""
    options: dict[str, str] = {}
    parameters: dict[str, Json] = {}
    for setting in settings:
        name, _, value = setting.partition("=")
        if name in options or name in parameters:
            raise _wrong(text, f"{name} stands there twice")
        if name in OPTIONS:
            options[name] = _option(text, kind, name, value)
        else:
            parameters[name] = _parameter(text, name, value)
    return options, parameters


def _parameter(text: str, name: str, value: str) -> Json:
    """Return the value: what it is in JSON, else the text itself."""
    if not value:
        raise _wrong(text, f"{name} has no value; null leaves a parameter out")
    try:
        parsed: Json = json.loads(value, parse_constant=str)
    except ValueError:
        return value
    return parsed


def _option(text: str, kind: str, name: str, value: str) -> str:
    if kind in {"replay", "python"}:
        raise _wrong(text, f"{kind}/ models take no {name}")
    match name:
        case "api" if value not in APIS or kind not in {"openai", "azure"}:
            raise _wrong(
                text, f"api is {value!r}; openai/ and azure/ models take chat or responses"
            )
        case "vision" if value not in {"on", "off"}:
            raise _wrong(text, f"vision is {value!r}; it is on or off")
        case "base_url":
            check_address(value, "base_url")
        case "key" if not (value.isidentifier() and is_secret_name(value)):
            told = "key names an environment variable such as VLLM_API_KEY; the key itself never stands here"
            raise _wrong(text.partition(",key=")[0], told)
    return value


def _wrong(text: str, problem: str) -> UsageError:
    return UsageError(f"model spec {text!r}: {problem}")
