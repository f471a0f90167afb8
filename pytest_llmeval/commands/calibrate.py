"""``llmeval calibrate``: measure how far a judge can be trusted, on labelled cases, and keep what was found."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from pytest_llmeval.commands.console import YES, Commands

CASES: Final = Path("fixtures/geometry3k/judge_calibration.yaml")
OUT: Final = Path("reports/calibrations")


def declare(commands: Commands) -> None:
    """Add the command."""
    command = commands.add_parser(
        "calibrate", help="measure how far a judge can be trusted, on labelled cases"
    )
    add = command.add_argument
    add(
        "--judge",
        action="append",
        default=[],
        metavar="SPEC",
        help="model that judges, repeatable: also together",
    )
    add("--cases", type=Path, default=CASES, metavar="FILE", help="labelled cases (%(default)s)")
    add(
        "--out",
        type=Path,
        default=OUT,
        metavar="DIR",
        help="where calibrations are kept (%(default)s)",
    )
    add(
        "--votes",
        type=_count,
        default=1,
        metavar="K",
        help="verdicts asked for each case, of each judge (1)",
    )
    add("--base-url", metavar="URL", help="endpoint of openai/ models")
    add(
        "--concurrency",
        type=_count,
        default=64,
        metavar="N",
        help="requests in flight at most, per judge (64)",
    )
    add("--rpm", type=_rate, metavar="N", help="requests per minute at most, per judge")
    add("--tpm", type=_rate, metavar="N", help="tokens per minute at most, per judge")
    add(
        "--timeout",
        type=_rate,
        default=600.0,
        metavar="S",
        help="seconds that one request may take (600)",
    )
    add("--budget", type=_rate, metavar="USD", help="US dollars that it may cost; needs --prices")
    add("--prices", metavar="FILE", help="file of prices, as --llmeval-prices takes it")
    add("--cache", metavar="DIR", help="folder of answers that runs leave to one another")
    add("--record", metavar="FILE", help="record every reply into this file, for replay/FILE")
    command.set_defaults(run=_run)


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        message = "must be 1 or more"
        raise argparse.ArgumentTypeError(message)
    return number


def _rate(text: str) -> float:
    number = float(text)
    if not 0 < number < float("inf"):
        message = "must be a number above 0"
        raise argparse.ArgumentTypeError(message)
    return number


def _run(chosen: argparse.Namespace) -> int:
    from pytest_llmeval.session.calibration import calibrate  # noqa: PLC0415 - asyncio and more, for this command

    calibrate(chosen)
    return YES
