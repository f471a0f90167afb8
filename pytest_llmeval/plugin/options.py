"""The options: command line before LLMEVAL_* variables before ini keys, resolved into `Settings`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import pytest

from pytest_llmeval.engine.specs import FORMS
from pytest_llmeval.engine.durations import seconds_of
from pytest_llmeval.session.settings import ImageMode, Settings
from pytest_llmeval.task.catalog import HUB

Kind: TypeAlias = Literal[
    "text", "list", "count", "seed", "number", "flag", "path", "duration", "shard"
]


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its name on the command line without ``--llmeval-``, its kind, and what it is for.

    One that has a `bare` value may be typed without any, and then means that; one with `choices`
    takes no other text.
    """

    name: str
    kind: Kind
    help: str
    metavar: str | None = None
    bare: str | None = None
    choices: tuple[str, ...] = ()

    @property
    def dest(self) -> str:
        """The ini key, and the attribute of pytest's options."""
        return f"llmeval_{self.name.replace('-', '_')}"

    @property
    def flag(self) -> str:
        """The option as typed."""
        return f"--llmeval-{self.name}"

    @property
    def variable(self) -> str:
        """The environment variable."""
        return self.dest.upper()


_MODES = get_args(ImageMode)

OPTIONS = (
    Option("model", "list", f"model to run, repeatable: {FORMS}; without one, recorded replies run", "SPEC"),
    Option("base-url", "text", "endpoint of openai/ models (vLLM, Ollama, llama.cpp, a LiteLLM proxy)", "URL"),
    Option("judge", "list", "model that judges, in the same form; repeatable: several decide by majority", "SPEC"),
    Option("concurrency", "count", "requests in flight at most, per model (64)", "N"),
    Option("rpm", "number", "requests per minute at most, per model", "N"),
    Option("tpm", "number", "tokens per minute at most, per model", "N"),
    Option("timeout", "number", "seconds that one request may take (600)", "S"),
    Option("sample-timeout", "number", "seconds that a sample may take, retries included, from its first request", "S"),
    Option("patience", "number", "seconds that a server may be away before its model is given up (180)", "S"),
    Option("budget", "number", "US dollars that the run may cost; needs --llmeval-prices", "USD"),
    Option("prices", "path", "file of prices: openai/NAME: {input: 1.25, output: 10} per million tokens", "FILE"),
    Option("max-tokens-total", "count", "tokens that the run may use, of all models together", "N"),
    Option("estimate", "flag", "tell requests, tokens and (with prices) dollars of the selected tests, and stop"),
    Option("epochs", "count", "repetitions of every sample (1)", "K"),
    Option("seed", "seed", "seed sent with every request, another one for each epoch and draw", "S"),
    Option("limit", "count", "samples per task at most, before -k", "N"),
    Option("sample", "list", "run the samples with this raw id only, repeatable", "ID"),
    Option("shard", "shard", "run the I-th of N equal parts of the selected samples, such as 1/4", "I/N"),
    Option("dataset", "list", "read a task's samples from another file, repeatable", "TASK=PATH"),
    Option("set", "list", "override a value of a task, repeatable", "TASK.KEY=VALUE"),
    Option("graph", "text", "graph database of Cypher tasks, such as bolt://localhost:7687 (an embedded one)", "URI"),
    Option("graph-reset", "flag", "allow loading into a graph database that holds something else, which is wiped"),
    Option("image-mode", "text", f"stage 1 of tasks in two stages: {', '.join(_MODES)}", "MODE", choices=_MODES),
    Option("taxonomy", "flag", "let the judge label wrong answers: set-up misread (PP) or derivation slips (RR)"),
    Option("cache", "path", "folder of answers that runs leave to one another; rows then say cached", "DIR"),
    Option("cache-max-age", "duration", "age of cached answers at most: seconds, or such as 12h, 7d", "AGE"),
    Option("record", "path", "record every reply into this file, for replay/FILE", "FILE"),
    Option("resume", "text", "continue an earlier run in its folder: its name or path, or the latest", "RUN", "latest"),
    Option("replay-run", "text", "score a run's stored replies again, and ask nobody anything", "RUN", "latest"),
    Option("report", "path", "folder that run folders are made in", "DIR"),
    Option("baseline", "path", "baseline file or run folder that the run is held against", "PATH"),
    Option("gate", "path", "file of rules the run must meet; then only they decide over samples", "FILE"),
)  # fmt: skip

_FIELDS = {"model": "models", "judge": "judges", "sample": "samples"}
"""The fields of `Settings` that are called otherwise than their option, which is given once for
each value."""


def _count(text: str) -> int:
    return int(_above_zero(int(text)))


def _number(text: str) -> float:
    return _above_zero(float(text))


def _duration(text: str) -> float:
    return _above_zero(seconds_of(text))


def _above_zero(number: float) -> float:
    # `not <` also refuses nan.
    if not 0 < number < float("inf"):
        raise ValueError
    return number


def _seed(text: str) -> int:
    # Providers keep a seed in 64 bits, and each epoch adds to it.
    if not 0 <= (seed := int(text)) < 2**53:
        raise ValueError
    return seed


def _shard(text: str) -> tuple[int, int]:
    part, parts = map(int, text.split("/"))
    if not 1 <= part <= parts:
        raise ValueError
    return part, parts


_READERS: Mapping[str, tuple[Callable[[str], Any], str]] = {
    "count": (_count, "a whole number from 1 on"),
    "seed": (_seed, "a whole number from 0 on"),
    "number": (_number, "a number above 0"),
    "duration": (_duration, "a span of time, such as 90, 30m, 12h or 7d"),
    "shard": (_shard, "of the form I/N with I from 1 to N, such as 1/4"),
}
"""How the kinds with a form of their own are read (ValueError for any other text), and how that
form is told."""


def add_options(parser: pytest.Parser) -> None:
    """Register every option and its ini key."""
    group = parser.getgroup("llmeval", "LLM benchmarks (pytest-llmeval)")
    for option in OPTIONS:
        actions: dict[Kind, str] = {"list": "append", "flag": "store_true"}
        keywords: dict[str, Any] = {"dest": option.dest, "default": None, "help": option.help}
        if option.kind != "flag":
            keywords["metavar"] = option.metavar
        if option.bare is not None:
            keywords |= {"nargs": "?", "const": option.bare}
        group.addoption(option.flag, action=actions.get(option.kind, "store"), **keywords)
        parser.addini(option.dest, f"default of {option.flag}", type="string", default=None)


def resolve(config: pytest.Config) -> Settings:
    """Return the settings of a session; pytest.UsageError names the option, variable or key that is wrong."""
    given = {
        option.name: value for option in OPTIONS if (value := _value(option, config)) is not None
    }
    datasets = {
        name: path if path.startswith(HUB) else str(config.invocation_params.dir / path)
        for name, path in (
            _pair(text, "--llmeval-dataset TASK=PATH") for text in given.pop("dataset", ())
        )
    }
    fields: dict[str, Any] = {
        _FIELDS.get(name, name.replace("-", "_")): tuple(value)
        if isinstance(value, list)
        else value
        for name, value in given.items()
        if name != "set"
    }
    overrides = _overrides(given.get("set", []))
    return Settings(
        **fields, datasets=datasets, overrides=overrides, folder=str(config.invocation_params.dir)
    )


def _value(option: Option, config: pytest.Config) -> Any:  # noqa: ANN401 - the kind decides the type
    """Return an option's value from the first place that gives one, or None."""
    invocation = config.invocation_params.dir
    if (typed := config.getoption(option.dest)) is not None:
        texts = typed if isinstance(typed, list) else [typed]
        return _convert(option, texts, option.flag, invocation)
    if variable := os.environ.get(option.variable):
        return _convert(option, _split(option, variable), option.variable, invocation)
    if ini := config.getini(option.dest):
        return _convert(option, _split(option, ini), f"ini key {option.dest}", config.rootpath)
    return None


def _split(option: Option, text: str) -> list[str]:
    return shlex.split(text) if option.kind == "list" else [text]


def _convert(option: Option, texts: list[Any], place: str, folder: Path) -> Any:  # noqa: ANN401 - the kind decides
    match option.kind:
        case "list":
            return texts
        case "flag":
            return texts[-1] is True or str(texts[-1]).lower() in {"1", "true", "yes", "on"}
        case "count" | "seed" | "number" | "duration" | "shard":
            read, expected = _READERS[option.kind]
            try:
                return read(texts[-1])
            except ValueError:
                msg = f"{place}: {texts[-1]!r} is not {expected}"
                raise pytest.UsageError(msg) from None
        case "path":
            return str((folder / texts[-1]).resolve())
        case "text":
            if option.choices and texts[-1] not in option.choices:
                msg = f"{place}: {texts[-1]!r} is none of {', '.join(option.choices)}"
                raise pytest.UsageError(msg)
            return texts[-1]


def _pair(text: str, form: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        msg = f"{text!r} is not of the form {form}"
        raise pytest.UsageError(msg)
    return name, value


def _overrides(texts: list[str]) -> Mapping[str, Mapping[str, str]]:
    """Return the overrides by task name and dotted key, their values as typed."""
    overrides: dict[str, dict[str, str]] = {}
    for text in texts:
        target, value = _pair(text, "--llmeval-set TASK.KEY=VALUE")
        task, dot, key = target.partition(".")
        if not (task and dot and key):
            msg = f"--llmeval-set {text!r} is not of the form TASK.KEY=VALUE"
            raise pytest.UsageError(msg)
        overrides.setdefault(task, {})[key] = value
    return overrides
