"""Model specs: ``PROVIDER/NAME`` with settings, such as ``openai/gpt-5.1,temperature=0,rpm=60``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from pytest_llmeval.engine.spec_settings import (
    LIMITS,
    PATIENCE,
    SETTING,
    STARTED,
    STARTUP,
    TIMEOUT,
    ModelLimits,
    read_settings,
    split_spec,
    wrong,
)
from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Json
from pytest_llmeval.task.registry import PROVIDERS

FORMS: Final = (
    "openai/NAME, anthropic/NAME, azure/DEPLOYMENT, google/NAME, bedrock/NAME, vllm/MODEL, "
    "replay/FILE, python/./file.py:callable"
)
RECORDED: Final = "recorded"
"""Label of a task's own recorded replies, which run when no model is configured."""

_BLIND: Final = re.compile(r"(?:.*/)?(?:gpt-3\.5|gpt-oss|o1-mini|o1-preview|o3-mini)")
"""Models that read no pictures, by OpenAI's documentation."""

_ROUTE: Final = ("api", "base_url", "location", "project", "region", "serve")
"""Options that say which way a model is asked."""

_EPOCH_SEEDS: Final = 1000
"""Difference of the seeds of two epochs, more than the draws of any sample."""


# Without slots, so that `bare` has a place: it is asked for at each request.
@dataclass(frozen=True, kw_only=True)
class ModelSpec:
    """A model of the run.

    Specs that differ in label or limits only are equal.

    Attributes:
        kind: name of the provider.
        name: the model's name there. A recording's is the absolute path of the file; a function's
            stays as typed, so that the same command has the same request keys on every machine.
        label: the model's name in rows and test ids: the spec as typed, without its limits.
        options: how the model is reached and what it can do.
        parameters: what goes with its requests.
        limits: how much is asked of it.
        seed: the run's seed, if it has one.
    """

    kind: str
    name: str
    label: str
    options: Mapping[str, str] = field(default_factory=dict, hash=False)
    parameters: Mapping[str, Json] = field(default_factory=dict, hash=False)
    limits: ModelLimits = field(default=ModelLimits(), compare=False)
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
        """Whether pictures may be sent to it: what the spec says, or what is known of the name."""
        known_blind = self.kind in {"openai", STARTED} and _BLIND.match(self.name) is not None
        return self.options.get("vision", "off" if known_blind else "on") == "on"

    @property
    def route(self) -> str:
        """The settings that tell two ways to one model name apart (`Request.route`)."""
        return "".join(f",{name}={self.options[name]}" for name in _ROUTE if name in self.options)

    @cached_property
    def bare(self) -> ModelSpec:
        """The model without what its requests carry.

        Connections, limits, prices and failures belong to the bare model.
        """
        label = SETTING.split(self.label)[0] + self.route
        options = {name: value for name, value in self.options.items() if name != "vision"}
        return replace(self, label=label, options=options, parameters={}, seed=None)

    @property
    def timeout(self) -> float:
        """Seconds that one attempt of a request may take."""
        return self.limits.timeout or TIMEOUT

    @property
    def startup(self) -> float:
        """Seconds that a server of the run's own may take until it is ready."""
        return self.limits.startup or STARTUP

    @property
    def patience(self) -> float:
        """Seconds that the server may be away before the model is given up."""
        return self.limits.patience or PATIENCE

    def requested(
        self, parameters: Mapping[str, Json], *, epoch: int, draw: int
    ) -> dict[str, Json]:
        """Return the parameters of a request.

        The spec's go before the run's seed, and that before `parameters`. A value of None leaves a
        parameter out. Each epoch and draw has another seed: an equal one would repeat the reply.
        """
        seed = {} if self.seed is None else {"seed": self.seed + (epoch - 1) * _EPOCH_SEEDS + draw}
        merged = {**parameters, **seed, **self.parameters}
        return {name: value for name, value in merged.items() if value is not None}


def parse_spec(text: str, *, folder: Path) -> ModelSpec:
    """Return the spec that `text` means.

    Args:
        text: such as ``openai/gpt-5.1,temperature=0,rpm=60``.
        folder: where relative files start.

    Raises:
        UsageError: the provider is unknown, a file is missing, or a setting is wrong.
    """
    kind, name, settings = split_spec(text)
    if not name or not PROVIDERS.knows(kind):
        installed = "".join(
            f", {other}/NAME ({origin})"
            for other in PROVIDERS.names
            if (origin := PROVIDERS.origin(other))
        )
        msg = f"unknown model spec {text!r}; expected one of {FORMS}{installed}"
        raise UsageError(msg)
    if kind == "replay":
        name = str(_existing(folder / name, text))
    if kind == "python":
        file, colon, callable_name = name.rpartition(":")
        if not colon or not callable_name.isidentifier():
            msg = f"model spec {text!r} names no callable; expected python/./file.py:callable"
            raise UsageError(msg)
        _existing(folder / file, text)
    read = read_settings(text, kind, SETTING.split(settings)[1:])
    limits: Any = read.limits
    return ModelSpec(
        kind=kind,
        name=name,
        label=_without_limits(text),
        options=read.options,
        parameters=read.parameters,
        limits=ModelLimits(**limits),
    )


def parse_specs(texts: Sequence[str], *, folder: Path) -> tuple[ModelSpec, ...]:
    """Return the specs of all `texts`, those of one model with the same limits.

    Raises:
        UsageError: as `parse_spec`, and for a spec that only repeats another one.
    """
    specs: list[ModelSpec] = []
    for text in texts:
        spec = parse_spec(text, folder=folder)
        if same := [other.label for other in specs if replace(other, label=spec.label) == spec]:
            msg = (
                f"--llmeval-model {text!r} is the same model as {same[0]!r}; "
                "--llmeval-epochs K repeats samples"
            )
            raise UsageError(msg)
        specs.append(spec)
    return share_limits(specs)


def share_limits(specs: Sequence[ModelSpec]) -> tuple[ModelSpec, ...]:
    """Return the specs, each with the limits that any spec of its bare model names.

    Raises:
        UsageError: two specs of one model name different values of a limit, or different servers.
    """
    _check_servers(specs)
    shared: dict[ModelSpec, dict[str, Any]] = {}
    for spec in specs:
        limits = shared.setdefault(spec.bare, {})
        for name, value in asdict(spec.limits).items():
            if value is not None and limits.setdefault(name, value) != value:
                msg = (
                    f"{spec.bare.label}: {name} is {limits[name]:g} in one spec and {value:g} in "
                    "another; a model has one set of limits, name each once"
                )
                raise UsageError(msg)
    return tuple(replace(spec, limits=ModelLimits(**shared[spec.bare])) for spec in specs)


def _check_servers(specs: Sequence[ModelSpec]) -> None:
    """Raise UsageError if the run would have to start two servers of one model."""
    known: dict[str, str] = {}
    for spec in specs:
        if spec.kind != STARTED:
            continue
        serve = spec.options.get("serve", "")
        if (other := known.setdefault(spec.text, serve)) != serve:
            msg = (
                f"{spec.text}: serve is {other!r} in one spec and {serve!r} in another; one server "
                "is started for a model, name the same in each"
            )
            raise UsageError(msg)


def replay_spec(file: Path) -> ModelSpec:
    """Return the spec of a task's own recording."""
    return ModelSpec(kind="replay", name=str(file), label=RECORDED)


def _without_limits(text: str) -> str:
    plain, *settings = SETTING.split(text)
    return ",".join((plain, *(one for one in settings if one.partition("=")[0] not in LIMITS)))


def _existing(path: Path, text: str) -> Path:
    if not path.is_file():
        raise wrong(text, f"no file at {path}")
    return path.resolve()
