"""``llmeval plan``: how many samples and epochs a gate against a baseline takes."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from pytest_llmeval.commands.console import YES, StandardOutput
from pytest_llmeval.commands.runs import RUN_HELP, open_baseline
from pytest_llmeval.commands.session_options import add_options, reports_of, settings_of
from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Row
from pytest_llmeval.report.table import render_sample_sizes
from pytest_llmeval.results.baseline import Baseline
from pytest_llmeval.results.entry_key import EntryKey, rows_by_entry
from pytest_llmeval.results.rows import SCORED
from pytest_llmeval.results.sample_size import (
    MOST_FLIPS,
    flip_rate,
    flip_rate_between,
    sample_sizes,
)

_EPOCHS: Final = (1, 2, 4, 8)
_MOST_RUNS: Final = 2

_NEEDED: Final = (
    "one epoch does not tell how many samples flip by chance: name a second run of the same model, "
    "a run with --llmeval-epochs 2 or more, or --flips SHARE"
)


EXAMPLES = (
    "llmeval plan latest",
    "llmeval plan reports/A reports/B --drop 0.03",
    "llmeval plan --flips 0.1 --drop 0.05 --power 0.8",
)
"""Command lines that the help shows."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "runs",
        nargs="*",
        metavar="RUN",
        help=f"{RUN_HELP}, or a baseline's file; a second one of the same model, if that has one "
        "epoch",
    )
    parser.add_argument(
        "--drop", type=_between(0.001, 0.9), default=0.05, help="the max_drop of accuracy (0.05)"
    )
    parser.add_argument(
        "--power",
        type=_between(0.5, 0.999),
        default=0.8,
        help="chance to pass, or to show the drop (0.8)",
    )
    parser.add_argument(
        "--flips",
        type=_between(0.0, MOST_FLIPS),
        metavar="SHARE",
        help="share of samples that flip from run to run, in place of the runs' own",
    )
    add_options(parser, "report")


def run(chosen: argparse.Namespace) -> int:
    """Print the sample sizes for each part of the run."""
    if len(chosen.runs) > _MOST_RUNS:
        msg = f"name one run, or two of the same model, not {len(chosen.runs)}"
        raise UsageError(msg)
    reports = reports_of(settings_of(chosen))
    runs = [open_baseline(name, reports) for name in chosen.runs]
    out = StandardOutput()
    for part in _parts(runs, chosen.flips):
        sizes = sample_sizes(
            part.flips, chosen.drop, chosen.power, epochs=_EPOCHS, samples=part.samples
        )
        out.write(
            render_sample_sizes(part.title, part.note, sizes, width=out.width, color=out.color)
        )
    out.write(
        f"\nto pass: a run as good as its baseline passes max_drop {chosen.drop:g} with the chance "
        f"{chosen.power:g}\n"
        f"to show: a true drop of {chosen.drop:g} has p < 0.05 with that chance\n"
        "smallest max_drop: what such a run passes with the samples there are\n"
    )
    return YES


class _Part(NamedTuple):
    """A part of a run, and the share of its samples that flip by chance."""

    title: str
    note: str
    flips: float
    samples: int


def _parts(runs: Sequence[Baseline], given: float | None) -> Iterator[_Part]:
    """Yield sample sizes by task and model of the first run; UsageError without a flip rate."""
    if not runs:
        if given is None:
            raise UsageError(_NEEDED)
        yield _Part("accuracy", f"{100 * given:g} % of the samples flip, as told", given, 0)
        return
    parts = [rows_by_entry(run.rows) for run in runs]
    for key, rows in parts[0].items():
        samples = len({row.sample for row in rows if row.outcome in SCORED})
        title = f"{key.task} · {key.model} · {samples:,} samples"
        flips, source = (given, "as told") if given is not None else _seen(key, rows, parts[1:])
        if flips is None:
            msg = f"{title}: {_NEEDED}"
            raise UsageError(msg)
        if flips > MOST_FLIPS:
            msg = f"{title}: {flips:.0%} flip, more than by the toss of a coin: are they one model?"
            raise UsageError(msg)
        note = f"{100 * flips:.1f} % of the samples flip {source}"
        if not flips and given is None:
            note += f"; of all such samples up to {300 / samples:.1f} % may (--flips plans for it)"
        yield _Part(title, note, flips, samples)


def _seen(
    key: EntryKey, rows: Sequence[Row], others: Sequence[Mapping[EntryKey, Sequence[Row]]]
) -> tuple[float | None, str]:
    """Return the share of flipped samples, and where it was seen."""
    if others:
        return flip_rate_between(rows, others[0].get(key, ())), "between the two runs"
    return flip_rate(rows), "from epoch to epoch"


def _between(low: float, high: float) -> Callable[[str], float]:
    """Return the reader of a number between two others."""

    def read(text: str) -> float:
        value = float(text)
        if not low <= value <= high:
            msg = f"{text} is not between {low:g} and {high:g}"
            raise argparse.ArgumentTypeError(msg)
        return value

    return read
