"""The command line ``llmeval``: one function that declares each subcommand, one that runs it.

Exit status: 0 yes, 1 no (for commands that decide something), 2 whatever a person has to mend first.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO, TypeAlias

from pytest_llmeval.errors import LLMEvalError, UsageError

if TYPE_CHECKING:
    from pytest_llmeval.eed import Mode
    from pytest_llmeval.sldp import SldpSyntaxError

    Commands: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 - its only name

_YES, _NO, _TO_MEND = 0, 1, 2

_MODES: Final = ("corrected", "published")

_WINDOW = 60
"""Signs shown before a mistake, and from it on."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command (of the process, when none is given) and return its exit status."""
    parser = argparse.ArgumentParser(prog="llmeval", description="Tools beside the pytest plugin pytest-llmeval.")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for declare in _COMMANDS:
        declare(commands)
    chosen = parser.parse_args(arguments)
    try:
        status: int = chosen.run(chosen)
    except LLMEvalError as error:
        _say(f"llmeval: {error}", sys.stderr)
        return _TO_MEND
    return status


def _declare_sldp(commands: Commands) -> None:
    from pytest_llmeval.sldp.equality import TOLERANCE  # noqa: PLC0415 - only this command needs it

    command = commands.add_parser("sldp", help="compare two SLDP texts, and say where they differ")
    command.add_argument("answer", help="SLDP text, such as '<O1, O2>'")
    command.add_argument("solution", help="SLDP text that it should equal")
    command.add_argument(
        "--tolerance", type=float, default=TOLERANCE, help="numbers that differ by less are equal (%(default)s)"
    )
    command.add_argument("--case-sensitive", action="store_true", help="tell strings of different case apart")
    command.set_defaults(run=_sldp)


def _sldp(chosen: argparse.Namespace) -> int:
    from pytest_llmeval.sldp import SldpSyntaxError, parse_sldp, sldp_diff  # noqa: PLC0415 - only this command needs it

    values = []
    for name, text in (("answer", chosen.answer), ("solution", chosen.solution)):
        try:
            values.append(parse_sldp(text))
        except SldpSyntaxError as error:
            _say(f"{name}: {error}\n{_pointed_at(text, error)}", sys.stderr)
        else:
            _say(f"{name:8}  {values[-1]}")
    if len(values) < 2:  # noqa: PLR2004 - an answer and a solution
        return _TO_MEND
    try:
        differences = sldp_diff(*values, tolerance=chosen.tolerance, case_sensitive=chosen.case_sensitive)
    except ValueError as error:
        message = f"--tolerance: {error}"
        raise UsageError(message) from None
    _say("\n  ".join(["different" if differences else "equal", *differences]))
    return _NO if differences else _YES


def _pointed_at(text: str, error: SldpSyntaxError) -> str:
    """Return the part of the line around a mistake, and a caret below it."""
    line = text.split("\n")[error.line - 1]
    at = error.column - 1
    before = _harmless(line[max(0, at - _WINDOW) : at])
    return f"  {before}{_harmless(line[at : at + _WINDOW])}\n  {' ' * len(before)}^"


def _declare_eed(commands: Commands) -> None:
    command = commands.add_parser(
        "eed", help="compare two LaTeX formulas, and show every stage on the way to the score"
    )
    command.add_argument("answer", help="LaTeX of the candidate")
    command.add_argument("target", help="LaTeX of the truth")
    command.add_argument("--mode", choices=_MODES, help="only this mode (default: both, and the first decides)")
    command.set_defaults(run=_eed)


def _eed(chosen: argparse.Namespace) -> int:
    from pytest_llmeval.eed import Sandbox  # noqa: PLC0415 - only this command needs it

    modes: Sequence[Mode] = [chosen.mode] if chosen.mode else _MODES
    with Sandbox() as sandbox:
        _say("\n\n".join(sandbox.explain(chosen.answer, chosen.target, mode=mode) for mode in modes))
        return _YES if sandbox.score(chosen.answer, chosen.target, mode=modes[0]).equivalent else _NO


def _declare_cache(commands: Commands) -> None:
    cache = commands.add_parser("cache", help="look into the folder of --llmeval-cache, empty it, or export it")
    actions = cache.add_subparsers(title="actions", metavar="ACTION", required=True)
    stats = actions.add_parser("stats", help="how many replies there are of each model, and how old they are")
    prune = actions.add_parser("prune", help="delete old replies")
    export = actions.add_parser("export", help="write a recording that replay/FILE answers from")
    for action, run in ((stats, _cache_stats), (prune, _cache_prune), (export, _cache_export)):
        action.add_argument("folder", type=Path, help="the folder of --llmeval-cache")
        action.set_defaults(run=run)
    prune.add_argument("--older-than", required=True, metavar="AGE", help="seconds, or such as 12h, 7d")
    export.add_argument("file", type=Path, help="the recording to make")
    export.add_argument("--model", action="append", default=[], metavar="SPEC", help="only its replies, repeatable")


def _cache_stats(chosen: argparse.Namespace) -> int:
    from pytest_llmeval.engine.cache_folder import stocks  # noqa: PLC0415 - only this command needs it
    from pytest_llmeval.report.numbers import age  # noqa: PLC0415 - as above

    now = time.time()
    lines = [
        f"{stock.replies:>8,}  {stock.model}, {age(now - stock.newest)} to {age(now - stock.oldest)} old"
        for stock in stocks(chosen.folder)
    ]
    _say("\n".join(lines or ["empty"]))
    return _YES


def _cache_prune(chosen: argparse.Namespace) -> int:
    from pytest_llmeval.durations import seconds_of  # noqa: PLC0415 - only this command needs it
    from pytest_llmeval.engine.cache_folder import prune  # noqa: PLC0415 - as above

    try:
        seconds = seconds_of(chosen.older_than)
    except ValueError:
        message = f"--older-than: {chosen.older_than!r} is not a span of time, such as 90, 30m, 12h or 7d"
        raise UsageError(message) from None
    _say(f"replies deleted: {prune(chosen.folder, older_than=seconds):,}")
    return _YES


def _cache_export(chosen: argparse.Namespace) -> int:
    from pytest_llmeval.engine.cache_folder import export  # noqa: PLC0415 - only this command needs it

    _say(f"replies in {chosen.file}: {export(chosen.folder, chosen.file, models=chosen.model):,}")
    return _YES


_COMMANDS: tuple[Callable[[Commands], None], ...] = (_declare_sldp, _declare_eed, _declare_cache)


def _say(text: str, stream: TextIO | None = None) -> None:
    """Print text, a part of which may be a model's: nothing in it reaches the terminal as a command."""
    out = stream or sys.stdout
    encoding = out.encoding or "utf-8"
    harmless = "\n".join(map(_harmless, text.split("\n")))
    print(harmless.encode(encoding, "backslashreplace").decode(encoding), file=out)


def _harmless(line: str) -> str:
    """Write control signs, direction marks and whatever else has no shape as escapes."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in line)
