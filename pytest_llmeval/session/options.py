"""The table of options, for pytest and for the command line ``llmeval``.

Every pytest session registers them, so this module imports nothing that is slow to import.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias

from pytest_llmeval.files.domain_names import domain_names

Kind: TypeAlias = Literal[
    "text", "list", "count", "seed", "seconds", "flag", "path", "shard", "limit", "progress"
]
"""The type of an option's value; see `session.resolve`."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option.

    Attributes:
        name: without ``--llmeval-``.
        kind: type of its value.
        help: its line in the help.
        metavar: name of its value in the help.
        bare: its value when it is typed without one; None if it needs one.
        group: key of its heading in `GROUPS`.
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
    "models": (
        "LLM benchmarks: models (each option also as ini key llmeval_NAME, variable LLMEVAL_NAME)"
    ),
    "samples": "LLM benchmarks: samples and tasks",
    "cost": "LLM benchmarks: cost and stored replies",
    "results": "LLM benchmarks: results",
}
"""Headings in the help."""

TABLE = (
    Option(
        "model",
        "list",
        "model under test, such as openai/m,temperature=0, or ROLE=SPEC; repeatable",
        "SPEC",
    ),
    Option("judge", "list", "model that judges, repeatable: several decide by majority", "SPEC"),
    Option("concurrency", "count", "requests in flight at most, per model (64)", "N"),
    Option("sample-timeout", "seconds", "seconds a sample may take from its first request", "S"),
    Option("seed", "seed", "seed of every request, another for each epoch and draw", "S"),
    Option("epochs", "count", "repetitions of every sample (1)", "K", group="samples"),
    Option(
        "limit",
        "limit",
        "samples per task at most, before -k; random ones with a seed: 50,seed=1",
        "N",
        group="samples",
    ),
    Option(
        "sample", "list", "run samples with this raw id only, repeatable", "ID", group="samples"
    ),
    Option("shard", "shard", "run the I-th of N equal parts, such as 1/4", "I/N", group="samples"),
    Option(
        "workers",
        "text",
        "run tests on other machines: ray:32, 4*COMMAND, none",
        "PLACE",
        group="samples",
    ),
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
    Option(
        "batch",
        "text",
        "send requests in batches, at half the price: on or wait=12h,deadline=2d",
        "HOW",
        "on",
        group="cost",
    ),
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
    Option(
        "traces",
        "text",
        "OpenTelemetry spans: FILE.jsonl, otlp or an exporter",
        "PLACE",
        group="results",
    ),
    Option("baseline", "path", "baseline file or run to compare with", "PATH", group="results"),
    Option("gate", "path", "file of rules that decide instead of samples", "FILE", group="results"),
    Option(
        "groups", "flag", "print all tables: groups, tokens, pipelines, each rule", group="results"
    ),
    Option(
        "progress",
        "progress",
        "progress: line (renews itself), plain (a line now and then), none; auto",
        "STYLE",
        group="results",
    ),
)
"""The options of this package; those of domains are added by `all_options`."""


def argparse_arguments(option: Option) -> dict[str, Any]:
    """Return the keyword arguments that declare an option to `argparse`."""
    keywords: dict[str, Any] = {"dest": option.key, "default": None, "help": option.help}
    if option.kind == "flag":
        return {**keywords, "action": "store_true"}
    if option.bare is not None:
        keywords |= {"nargs": "?", "const": option.bare}
    action = "append" if option.kind == "list" else "store"
    return {**keywords, "action": action, "metavar": option.metavar}


@cache
def all_options() -> tuple[Option, ...]:
    """Return all options, with those of the package's domains, whose values are texts."""
    options = []
    for name, line in domain_names("options").items():
        metavar, _, text = line.partition(": ")
        options.append(Option(name, "text", text, metavar, group="samples"))
    return (*TABLE, *options)


def options_called(names: Iterable[str]) -> tuple[Option, ...]:
    """Return the options with these names, in the order of the table."""
    wanted = set(names)
    return tuple(option for option in all_options() if option.name in wanted)
