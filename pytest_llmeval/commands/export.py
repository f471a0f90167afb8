"""``llmeval export``: a run's results in the forms of other tools."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pytest_llmeval.commands.console import YES, say
from pytest_llmeval.commands.runs import RUN_HELP
from pytest_llmeval.commands.session_options import add_options, reports_of, settings_of
from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.atomic import write_atomically
from pytest_llmeval.report.exports.export import Benchmark, Export, Exported
from pytest_llmeval.report.exports.huggingface import huggingface_results
from pytest_llmeval.report.exports.inspect_log import inspect_logs
from pytest_llmeval.report.exports.latex import latex_tables
from pytest_llmeval.results.run import Run
from pytest_llmeval.session.named_run import place_of

EXPORTS: Final[Mapping[str, Export]] = {
    "inspect": inspect_logs,
    "huggingface": huggingface_results,
    "latex": latex_tables,
}
"""The forms by name."""

_LEADERBOARDS: Final = "huggingface"
"""The form in which tasks may be part of a leaderboard."""

_BENCHMARK: Final = re.compile(
    r"(?P<name>[^=]+)=(?P<dataset>[\w.-]+/[\w.-]+)(:(?P<task>[\w.-]+))?(@(?P<revision>[\w./-]+))?",
    re.ASCII,
)


EXAMPLES = (
    "llmeval export latest --to latex",
    "llmeval export reports/B --to inspect --out logs",
)
"""Command lines that the help shows."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add = parser.add_argument
    add("name", metavar="RUN", help=RUN_HELP)
    add("--to", required=True, choices=tuple(EXPORTS), help="the form")
    add("--out", type=Path, metavar="DIR", help="a folder for the files (RUN/exports/FORM)")
    add(
        "--benchmark",
        action="append",
        default=[],
        metavar="TASK=OWNER/NAME[:TASK_ID][@REVISION]",
        help="of huggingface: the benchmark dataset on the hub whose leaderboard a task is for",
    )
    add_options(parser, "report")


def run(chosen: argparse.Namespace) -> int:
    """Write the files and print their paths."""
    if chosen.benchmark and chosen.to != _LEADERBOARDS:
        msg = f"--benchmark is of --to {_LEADERBOARDS} alone, not of --to {chosen.to}"
        raise UsageError(msg)
    benchmarks = dict(map(_benchmark, chosen.benchmark))
    stored = Run.open(place_of(chosen.name, reports_of(settings_of(chosen))))
    folder = chosen.out or stored.path / "exports" / chosen.to
    for file in EXPORTS[chosen.to](Exported(run=stored, benchmarks=benchmarks)):
        path = folder / file.name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, file.parts)
        except OSError as error:
            msg = f"{path}: cannot be written: {error.strerror or error}"
            raise UsageError(msg) from error
        say(str(path))
    return YES


def _benchmark(text: str) -> tuple[str, Benchmark]:
    found = _BENCHMARK.fullmatch(text)
    if found is None:
        msg = (
            f"--benchmark {text!r}: expected TASK=OWNER/NAME[:TASK_ID][@REVISION], "
            "such as gpqa=Idavidrein/gpqa:gpqa_diamond"
        )
        raise UsageError(msg)
    task, revision = found["task"] or "default", found["revision"] or ""
    return found["name"], Benchmark(dataset=found["dataset"], task=task, revision=revision)
