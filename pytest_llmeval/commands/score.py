"""``llmeval score``: score a table of answers of any size, without a run."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_llmeval.bulk.job import Job, ScorerSpec, made_scorers
from pytest_llmeval.commands.console import YES, say
from pytest_llmeval.commands.running_line import RunningLine
from pytest_llmeval.errors import RunStopped, UsageError
from pytest_llmeval.report.numbers import percent
from pytest_llmeval.session.scorer_option import read_scorers
from pytest_llmeval.task.registry import ANSWERS

if TYPE_CHECKING:
    from pytest_llmeval.bulk.run import ScoreParts
    from pytest_llmeval.bulk.tally import Tally

EXAMPLES = (
    "llmeval score answers.parquet --scorer exact --out scored.parquet",
    "llmeval score answers/ --scorer '{eed: {mode: published}}' --fields target=s --out a.parquet",
    "llmeval score texts.parquet --answer boxed_last --scorer number --out numbers.parquet",
)
"""Command lines that the help shows."""

_DEFAULTS: Final = Job(scorers=(), folder="")


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add = parser.add_argument
    add("table", type=Path, metavar="IN", help="a Parquet file, or a folder of them")
    add(
        "--scorer",
        action="append",
        required=True,
        metavar="SPEC",
        help="NAME, NAME=OPTIONS or {NAME: OPTIONS} in YAML, repeatable",
    )
    add("--out", type=Path, required=True, metavar="FILE", help="the Parquet file to write")
    add(
        "--fields",
        action="append",
        default=[],
        metavar="FIELD=COLUMN,...",
        help="columns of answer, target, id, input and metadata.NAME (default: of the same name)",
    )
    add("--answer", default="", metavar="RULE", help="how the answer is found in its column's text")
    add("--jobs", type=_positive, metavar="N", help="scoring children (default: the processors)")
    add(
        "--ray",
        nargs="?",
        const="auto",
        metavar="ADDRESS",
        help="score on a Ray cluster: HOST:PORT of its head (alone: the one of this machine)",
    )
    add("--part-rows", type=_positive, metavar="N", help="rows that are stored together (2000)")
    add(
        "--row-seconds",
        type=_positive,
        default=_DEFAULTS.cpu_seconds,
        metavar="N",
        help=f"processor time of a row at most ({_DEFAULTS.cpu_seconds})",
    )
    add(
        "--memory",
        type=_positive,
        default=_DEFAULTS.memory_mb,
        metavar="MB",
        help=f"memory of a scoring child at most ({_DEFAULTS.memory_mb})",
    )
    add(
        "--progress",
        choices=("auto", "line", "plain", "none"),
        default="auto",
        help="one line that renews itself, or lines in a log (auto: as fits the output)",
    )
    parser.epilog = (
        "OUT has all columns of IN, and for each score NAME.value, NAME.correct, NAME.explanation, "
        "NAME.error and NAME.grader. What is done is kept in OUT.parts until OUT is whole: the "
        "same command goes on after any end."
    )


def run(chosen: argparse.Namespace) -> int:
    """Score the table, and print the counts."""
    job = Job(
        scorers=tuple(
            ScorerSpec(name=spec.name, options=dict(spec.options))
            for spec in read_scorers(chosen.scorer)
        ),
        folder=str(Path.cwd()),
        rule=_rule(chosen.answer),
        cpu_seconds=chosen.row_seconds,
        memory_mb=chosen.memory,
    )
    made_scorers(job)
    if find_spec("pyarrow") is None:
        msg = "tables are read by pyarrow; install it with: pip install 'pytest-llmeval-suite[hub]'"
        raise UsageError(msg)
    if chosen.ray and find_spec("ray") is None:
        msg = f"--ray {chosen.ray}: install ray with: pip install 'pytest-llmeval-suite[scale]'"
        raise UsageError(msg)
    if chosen.ray and chosen.jobs:
        msg = f"--jobs {chosen.jobs}: the children of a cluster are as many as its processors"
        raise UsageError(msg)
    return _score(chosen, job)


def _score(chosen: argparse.Namespace, job: Job) -> int:
    from pytest_llmeval.bulk.run import BulkRun  # noqa: PLC0415 - it imports pyarrow, an extra

    table = BulkRun.open(chosen.table, chosen.fields, job, chosen.out, chosen.part_rows)
    with closing(RunningLine(chosen.progress)) as line:
        try:
            tallies = table.score(_score_parts(chosen), line.show)
        except KeyboardInterrupt:
            msg = "interrupted; run the same command again, which goes on where this one ended"
            raise RunStopped(msg) from None
    if tallies is None:
        say(f"{chosen.out}: has the scores of this table by these scorers already")
        return YES
    for text in _summary(tallies):
        say(text)
    say(f"{chosen.out}: {table.table.rows:,} rows")
    return YES


def _score_parts(chosen: argparse.Namespace) -> ScoreParts:
    """Return what scores parts: children on this machine, or the nodes of a cluster."""
    if address := chosen.ray:
        from pytest_llmeval.bulk.cluster import (  # noqa: PLC0415 - it imports ray, an extra
            scored_on_cluster,
        )

        return lambda work, advance: scored_on_cluster(work, address, advance)
    from pytest_llmeval.bulk.local import scored_here  # noqa: PLC0415 - as in `_score`

    processes = chosen.jobs or os.cpu_count() or 1
    return lambda work, advance: scored_here(work, processes, advance)


def _summary(tallies: Mapping[str, Tally]) -> Iterator[str]:
    """Yield a line of counts for each score."""
    for name, tally in tallies.items():
        counts = {
            "correct": tally.correct,
            "incorrect": tally.incorrect,
            "undecided": tally.undecided,
            "errors": tally.errors,
        }
        shares = []
        if tally.accuracy is not None:
            shares.append(f"accuracy {percent(tally.accuracy)}")
        if tally.mean is not None:
            shares.append(f"mean {tally.mean:.4g}")
        told = ", ".join(f"{number:,} {what}" for what, number in counts.items() if number)
        figures = f" ({', '.join(shares)})" if shares else ""
        yield f"{name}: {told or 'no rows'}{figures}"


def _rule(name: str) -> str:
    """Return the name of an answer rule; UsageError if there is none."""
    if name and not ANSWERS.knows(name):
        msg = f"--answer: {ANSWERS.kind} {ANSWERS.unknown(name)}"
        raise UsageError(msg)
    if name:
        ANSWERS.load(name, Path.cwd())
    return name


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        msg = f"{text} is not 1 or more"
        raise argparse.ArgumentTypeError(msg)
    return number
