"""``llmeval replies``: look into stored replies, delete old ones, copy them."""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

from pytest_llmeval.commands.console import YES, say
from pytest_llmeval.engine.durations import seconds_of
from pytest_llmeval.engine.replies import Place
from pytest_llmeval.engine.replies.upkeep import copy, prune, stocks
from pytest_llmeval.errors import UsageError
from pytest_llmeval.providers.endpoints import endpoints_by
from pytest_llmeval.report.numbers import age

_PLACE = "a folder of replies (--llmeval-keep), a run's folder, or a recording FILE.jsonl"


EXAMPLES = (
    "llmeval replies stats reports/latest",
    "llmeval replies copy reports/latest replies.jsonl --model openai/gpt-5.1",
    "llmeval replies prune replies --older-than 30d",
)
"""Command lines that the help shows."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    one = actions.add_parser("stats", help="number and age of the replies of each model")
    one.add_argument("place", type=_place, metavar="PLACE", help=_PLACE)
    one.set_defaults(action=_stats)

    one = actions.add_parser("prune", help="delete old replies")
    one.add_argument("place", type=_place, metavar="FOLDER", help="a folder of replies")
    one.add_argument(
        "--older-than", required=True, metavar="AGE", help="seconds, or such as 12h, 7d"
    )
    one.set_defaults(action=_prune)

    one = actions.add_parser("copy", help="copy replies, such as from a run into a recording")
    one.add_argument("place", type=_place, metavar="FROM", help=_PLACE)
    one.add_argument(
        "target", type=_place, metavar="TO", help="a folder of replies, or a new FILE.jsonl"
    )
    one.add_argument(
        "--model", action="append", default=[], metavar="SPEC", help="only its replies, repeatable"
    )
    one.set_defaults(action=_copy)


def run(chosen: argparse.Namespace) -> int:
    """Run the chosen action."""
    status: int = chosen.action(chosen)
    return status


def _place(text: str) -> Place:
    return Place(name=text, path=Path(text))


def _stats(chosen: argparse.Namespace) -> int:
    now = time.time()
    lines = [
        f"{stock.replies:>8,}  {stock.model}, "
        f"{age(now - stock.newest)} to {age(now - stock.oldest)} old"
        for stock in stocks(chosen.place)
    ]
    say("\n".join(lines or ["empty"]))
    return YES


def _prune(chosen: argparse.Namespace) -> int:
    try:
        seconds = seconds_of(chosen.older_than)
    except ValueError:
        message = (
            f"--older-than: {chosen.older_than!r} is not a span of time, such as 90, 30m, 12h or 7d"
        )
        raise UsageError(message) from None
    say(f"replies deleted: {prune(chosen.place, older_than=seconds):,}")
    return YES


def _copy(chosen: argparse.Namespace) -> int:
    endpoints = endpoints_by(os.environ, Path.cwd())
    copied = copy(chosen.place, chosen.target, models=chosen.model, endpoints=endpoints)
    say(f"replies copied to {chosen.target.name}: {copied:,}")
    return YES
