"""The options: one table for pytest and the command line ``llmeval``, resolved into `Settings`.

A value on the command line comes before the variable ``LLMEVAL_NAME``, this before the ini key
``llmeval_name``. Nothing heavy is imported here: every pytest session registers the options.
"""

from __future__ import annotations

import configparser
import os
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from pytest_llmeval.errors import UsageError
from pytest_llmeval.session.settings import Settings

Kind: TypeAlias = Literal["text", "list", "count", "seed", "seconds", "flag", "path", "shard"]


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its name without ``--llmeval-``, its kind, and its line of help.

    With a `bare` value it may be typed without any, and then means that one. `group` is the heading
    of the help that it stands under.
    """

    name: str
    kind: Kind
    help: str
    metavar: str | None = None
    bare: str | None = None
    group: str = "models"

    @property
    def key(self) -> str:
        """The ini key, and the attribute of parsed arguments."""
        return f"llmeval_{self.name.replace('-', '_')}"

    @property
    def flag(self) -> str:
        """The option as typed under pytest."""
        return f"--llmeval-{self.name}"

    @property
    def variable(self) -> str:
        """The environment variable."""
        return self.key.upper()


GROUPS: Mapping[str, str] = {
    "models": "LLM benchmarks: models (each option also as ini key llmeval_NAME, variable LLMEVAL_NAME)",
    "samples": "LLM benchmarks: samples and tasks",
    "cost": "LLM benchmarks: cost and stored replies",
    "results": "LLM benchmarks: results",
}

_TABLE = (
    Option(
        "model",
        "list",
        "model under test, repeatable, such as openai/gpt-5.1,temperature=0,rpm=60",
        "SPEC",
    ),
    Option("judge", "list", "model that judges, repeatable: several decide by majority", "SPEC"),
    Option("concurrency", "count", "requests in flight at most, per model (64)", "N"),
    Option("sample-timeout", "seconds", "seconds a sample may take from its first request", "S"),
    Option("seed", "seed", "seed of every request, another for each epoch and draw", "S"),
    Option("epochs", "count", "repetitions of every sample (1)", "K", group="samples"),
    Option("limit", "count", "samples per task at most, before -k", "N", group="samples"),
    Option(
        "sample", "list", "run samples with this raw id only, repeatable", "ID", group="samples"
    ),
    Option("shard", "shard", "run the I-th of N equal parts, such as 1/4", "I/N", group="samples"),
    Option(
        "set",
        "list",
        "override a value of a task, repeatable; += appends to a list",
        "TASK.KEY=VALUE",
        group="samples",
    ),
    Option(
        "budget", "text", "what the run may spend: 5usd, 2Mtok or 5usd,2Mtok", "SUM", group="cost"
    ),
    Option("prices", "path", "file of dollars per million tokens, by model", "FILE", group="cost"),
    Option("estimate", "flag", "print requests, tokens and dollars, and stop", group="cost"),
    Option(
        "reuse",
        "text",
        "take stored replies: folder, .jsonl file or run[,max_age=7d][,only=on]",
        "PLACE",
        group="cost",
    ),
    Option("keep", "text", "keep every reply in this folder or .jsonl file", "PLACE", group="cost"),
    Option("resume", "text", "continue a run: name, path or latest", "RUN", "latest", group="cost"),
    Option("report", "path", "folder that run folders are made in", "DIR", group="results"),
    Option("baseline", "path", "baseline file or run to compare with", "PATH", group="results"),
    Option("gate", "path", "file of rules that decide instead of samples", "FILE", group="results"),
)

_FIELDS = {"model": "models", "judge": "judges", "sample": "samples"}
"""Fields of `Settings` whose name is not that of their option, which is given once per value."""


def argparse_arguments(option: Option) -> dict[str, Any]:
    """Return the keywords with which a parser declares an option."""
    keywords: dict[str, Any] = {"dest": option.key, "default": None, "help": option.help}
    if option.kind == "flag":
        return {**keywords, "action": "store_true"}
    if option.bare is not None:
        keywords |= {"nargs": "?", "const": option.bare}
    action = "append" if option.kind == "list" else "store"
    return {**keywords, "action": action, "metavar": option.metavar}


class Source(Protocol):
    """Where options come from: pytest's configuration, or a parsed command line."""

    @property
    def folder(self) -> Path:
        """Where the command was typed."""
        ...

    @property
    def root(self) -> Path:
        """Where relative paths of ini keys start from."""
        ...

    def typed(self, option: Option) -> object:
        """Return the value on the command line: a text, a list of texts, True, or None."""
        ...

    def ini(self, option: Option) -> str:
        """Return the value in the ini file, "" for none."""
        ...


@cache
def all_options() -> tuple[Option, ...]:
    """Return the table, with the options that domains bring (texts of their own form)."""
    parser = configparser.ConfigParser(delimiters=("=",))
    names = resources.files("pytest_llmeval.domains").joinpath("entry_points.txt")
    parser.read_string(names.read_text("utf-8"))
    brought = parser["options"] if parser.has_section("options") else {}
    options = []
    for name, line in brought.items():
        metavar, _, text = line.partition(": ")
        options.append(Option(name, "text", text, metavar, group="samples"))
    return (*_TABLE, *options)


def options_called(names: Iterable[str]) -> tuple[Option, ...]:
    """Return some options of the table, in its order."""
    wanted = set(names)
    return tuple(option for option in all_options() if option.name in wanted)


def resolve(source: Source) -> Settings:
    """Return the settings of a session; UsageError names the option, variable or key in error."""
    options = all_options()
    given = {one.name: value for one in options if (value := _value(one, source)) is not None}
    known = {option.name for option in _TABLE}
    fields: dict[str, Any] = {
        _FIELDS.get(name, name.replace("-", "_")): tuple(value) if type(value) is list else value
        for name, value in given.items()
        if name in known - {"set"}
    }
    return Settings(
        **fields,
        overrides=_overrides(given.get("set", [])),
        domain={name: value for name, value in given.items() if name not in known},
        folder=str(source.folder),
    )


def _value(option: Option, source: Source) -> Any:  # noqa: ANN401 - the kind decides the type
    if (typed := source.typed(option)) is not None:
        texts = typed if isinstance(typed, list) else [typed]
        return _converted(option, texts, option.flag, source.folder)
    if variable := os.environ.get(option.variable):
        return _converted(option, _split(option, variable), option.variable, source.folder)
    if ini := source.ini(option):
        return _converted(option, _split(option, ini), f"ini key {option.key}", source.root)
    return None


def _split(option: Option, text: str) -> list[str]:
    return shlex.split(text) if option.kind == "list" else [text]


def _converted(option: Option, texts: list[Any], place: str, folder: Path) -> Any:  # noqa: ANN401 - as above
    last = texts[-1]
    match option.kind:
        case "list":
            return texts
        case "text":
            return last
        case "flag":
            return last is True or str(last).lower() in {"1", "true", "yes", "on"}
        case "path":
            return str((folder / last).resolve())
        case "count" | "seed" | "seconds" | "shard":
            read, expected = _READERS[option.kind]
            try:
                return read(last)
            except ValueError:
                msg = f"{place}: {last!r} is not {expected}"
                raise UsageError(msg) from None


def _count(text: str) -> int:
    return int(_above_zero(int(text)))


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
    "seconds": (lambda text: _above_zero(float(text)), "a number above 0"),
    "shard": (_shard, "of the form I/N with I from 1 to N, such as 1/4"),
}
"""How kinds with a form of their own are read (ValueError for other texts), and that form."""


def _overrides(texts: list[str]) -> Mapping[str, Mapping[str, str]]:
    """Return the overrides by task name and dotted key, their values as typed."""
    overrides: dict[str, dict[str, str]] = {}
    for text in texts:
        target, equals, value = text.partition("=")
        task, _, key = target.partition(".")
        if not (task and key and equals and value):
            msg = f"--llmeval-set: {text!r} is not of the form TASK.KEY=VALUE"
            raise UsageError(msg)
        overrides.setdefault(task, {})[key] = value
    return overrides
