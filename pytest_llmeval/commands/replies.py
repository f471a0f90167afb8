"""``llmeval cache``: look into the folder of ``--llmeval-cache``, empty it, or export it."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from pytest_llmeval.commands.console import YES, Commands, say
from pytest_llmeval.errors import UsageError


def declare(commands: Commands) -> None:
    """Add the command."""
    cache = commands.add_parser(
        "cache", help="look into the folder of --llmeval-cache, empty it, or export it"
    )
    actions = cache.add_subparsers(title="actions", metavar="ACTION", required=True)
    stats = actions.add_parser(
        "stats", help="how many replies there are of each model, and how old they are"
    )
    prune = actions.add_parser("prune", help="delete old replies")
    export = actions.add_parser("export", help="write a recording that replay/FILE answers from")
    for action, run in ((stats, _stats), (prune, _prune), (export, _export)):
        action.add_argument("folder", type=Path, help="the folder of --llmeval-cache")
        action.set_defaults(run=run)
    prune.add_argument(
        "--older-than", required=True, metavar="AGE", help="seconds, or such as 12h, 7d"
    )
    export.add_argument("file", type=Path, help="the recording to make")
    export.add_argument(
        "--model", action="append", default=[], metavar="SPEC", help="only its replies, repeatable"
    )


def _stats(chosen: argparse.Namespace) -> int:
    from pytest_llmeval.engine.cache_folder import stocks  # noqa: PLC0415 - only this command needs it
    from pytest_llmeval.report.numbers import age  # noqa: PLC0415 - as above

    now = time.time()
    lines = [
        f"{stock.replies:>8,}  {stock.model}, {age(now - stock.newest)} to {age(now - stock.oldest)} old"
        for stock in stocks(chosen.folder)
    ]
    say("\n".join(lines or ["empty"]))
    return YES


def _prune(chosen: argparse.Namespace) -> int:
    from pytest_llmeval.engine.cache_folder import prune  # noqa: PLC0415 - as above
    from pytest_llmeval.session.durations import seconds_of  # noqa: PLC0415 - only this command needs it

    try:
        seconds = seconds_of(chosen.older_than)
    except ValueError:
        message = (
            f"--older-than: {chosen.older_than!r} is not a span of time, such as 90, 30m, 12h or 7d"
        )
        raise UsageError(message) from None
    say(f"replies deleted: {prune(chosen.folder, older_than=seconds):,}")
    return YES


def _export(chosen: argparse.Namespace) -> int:
    from pytest_llmeval.engine.cache_folder import export  # noqa: PLC0415 - only this command needs it

    say(f"replies in {chosen.file}: {export(chosen.folder, chosen.file, models=chosen.model):,}")
    return YES
