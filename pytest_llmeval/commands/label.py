"""``llmeval label``: have people label a run's answers, and read their labels."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_llmeval.commands.console import YES, say, shortest
from pytest_llmeval.commands.numbers import positive
from pytest_llmeval.commands.runs import RUN_HELP, open_run
from pytest_llmeval.commands.session_options import add_options, reports_of, settings_of
from pytest_llmeval.errors import UsageError
from pytest_llmeval.results.label_choice import COUNT
from pytest_llmeval.results.prediction_powered import FEWEST
from pytest_llmeval.results.stored_run import StoredRun
from pytest_llmeval.session.label_file import check_suffix, write_label_file
from pytest_llmeval.session.labelling import Wanted, answers_to_label, keep_labels
from pytest_llmeval.session.settings import Settings

EXAMPLES = (
    "llmeval label latest --out labels.csv",
    "llmeval label reports/B --out more.jsonl --task sums --count 20",
)
"""Command lines that the help shows."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add = parser.add_argument
    add("name", metavar="RUN", help=RUN_HELP)
    place = parser.add_mutually_exclusive_group(required=True)
    place.add_argument(
        "--out", type=Path, metavar="FILE", help="answers to label, as .jsonl, .csv or .yaml"
    )
    place.add_argument("--read", type=Path, metavar="FILE", help="labels to keep with the run")
    add("--task", metavar="NAME", help="of this task alone")
    add("--count", type=positive, default=COUNT, metavar="N", help=f"answers a model ({COUNT})")
    add("--seed", type=int, default=0, metavar="N", help="of the random part (0)")
    add("--show-verdict", action="store_true", help="also how they were scored: no blind labels")
    add_options(parser, "report")


def run(chosen: argparse.Namespace) -> int:
    """Write the answers, or keep the labels."""
    settings = settings_of(chosen)
    stored = open_run(chosen.name, reports_of(settings))
    if chosen.read is not None:
        return _read(stored, chosen.read)
    return _write(stored, settings, chosen)


def _write(stored: StoredRun, settings: Settings, chosen: argparse.Namespace) -> int:
    check_suffix(chosen.out)
    if chosen.out.exists():
        msg = f"{chosen.out}: is there already, maybe with labels; name another file"
        raise UsageError(msg)
    wanted = Wanted(
        task=chosen.task, count=chosen.count, seed=chosen.seed, shown=chosen.show_verdict
    )
    rows = answers_to_label(stored, settings, wanted)
    write_label_file(chosen.out, rows)
    drawn = sum(row["kind"] == "random" for row in rows)
    say(
        f"{len(rows):,} answers in {chosen.out}: {drawn:,} drawn at random, "
        f"{len(rows) - drawn:,} uncertain ones"
    )
    say(
        "write true or false into the column correct, from the first row on, then: "
        f"llmeval label {chosen.name} --read {chosen.out}"
    )
    return YES


def _read(stored: StoredRun, file: Path) -> int:
    kept = keep_labels(stored, file)
    drawn = sum(bool(label.drawn) for label in kept.labels)
    there = f"{len(kept.labels):,} answers have one in {shortest(kept.file)}"
    say(f"{kept.read:,} labels read; {there}")
    if kept.left:
        say(f"{kept.left:,} rows of {file} have no label yet")
    if kept.kappa is not None:
        say(f"the two labellers agree by kappa {kept.kappa:.3f}")
    say(
        f"{drawn:,} of them were drawn at random"
        + (f"; from {FEWEST} on " if drawn < FEWEST else ": ")
        + f"llmeval report {stored.path.name} corrects the accuracy by them"
    )
    return YES
