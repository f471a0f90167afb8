"""The command line ``llmeval``.

Exit status: 0 yes, 1 no (of commands that decide something), 2 for an error that the user must
correct first.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final, NamedTuple, Protocol, cast

from pytest_llmeval.commands.console import TO_MEND, say
from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.files.domain_names import domain_names

_DISTRIBUTION: Final = "pytest-llmeval-suite"


class Command(NamedTuple):
    """A command: its name, its module (relative to this package or absolute), its line of help."""

    name: str
    module: str
    help: str


COMMANDS: Final = (
    Command("report", ".report", "print a run's table, and write its files anew from its rows"),
    Command("compare", ".compare", "compare two runs, several, or the models of one"),
    Command("view", ".view", "look at runs in a browser, also while they go on, and label answers"),
    Command("gate", ".gate", "check a run by the rules of a gate (exit status 1: not met)"),
    Command("plan", ".plan", "tell how many samples and epochs a gate against a baseline takes"),
    Command("baseline", ".baseline", "make a run the baseline of later ones"),
    Command(
        "export", ".export", "write a run's results as Inspect logs, for Hugging Face, as LaTeX"
    ),
    Command("merge", ".merge", "make one run of the shards of one (--llmeval-shard)"),
    Command("rescore", ".rescore", "score a run's stored answers again, without pytest"),
    Command("validate", ".validate", "measure a judge on labelled cases"),
    Command("label", ".label", "have people label a run's answers, and read their labels"),
    Command("replies", ".replies", "list, delete or copy stored replies"),
    Command("fetch", ".fetch", "download dataset files from the Hugging Face hub"),
    Command("sldp", ".sldp", "compare two SLDP texts and list their differences"),
    Command("pddl", ".pddl", "compare two goals in PDDL by logic and list their differences"),
    Command("eed", ".eed", "compare two LaTeX formulas and show each step of the scoring"),
)
"""The general commands, in the order of the help text; those of the domains follow them.

Only the module of the chosen one is imported.
"""


class CommandModule(Protocol):
    """What the module of a command has."""

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        ...

    def run(self, chosen: argparse.Namespace) -> int:
        """Run the command and return its exit status."""
        ...


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; `arguments` None means those of the process."""
    given = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(
        prog="llmeval", description="Commands on runs of pytest-llmeval, and on single answers."
    )
    parser.add_argument("--version", action=_Version, help="print the version and exit")
    parsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    # The options before the command's name take no values.
    name = next((text for text in given if not text.startswith("-")), None)
    for command in (*COMMANDS, *_domain_commands()):
        one = parsers.add_parser(command.name, help=command.help, description=command.help)
        if command.name == name:
            module = _module(command)
            module.declare(one)
            one.set_defaults(run=module.run)
    return _status(parser.parse_args(given))


def _domain_commands() -> Iterator[Command]:
    """Yield the commands that the domains bring."""
    for name, text in domain_names("commands").items():
        module, _, help_line = text.partition(": ")
        yield Command(name, module, help_line)


def _module(command: Command) -> CommandModule:
    return cast("CommandModule", import_module(command.module, __package__))


def _status(chosen: argparse.Namespace) -> int:
    try:
        status: int = chosen.run(chosen)
        sys.stdout.flush()
    except LLMEvalError as error:
        say(f"llmeval: {error}", sys.stderr)
        return TO_MEND
    except BrokenPipeError:
        # The reader has closed the pipe, as `| head` does. Python flushes again as it ends, which
        # must not fail once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return TO_MEND
    return status


class _Version(argparse.Action):
    """Prints the installed version."""

    def __init__(self, option_strings: Sequence[str], dest: str, **keywords: Any) -> None:  # noqa: ANN401 - argparse's
        super().__init__(option_strings, dest, nargs=0, **keywords)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        try:
            found = version(_DISTRIBUTION)
        except PackageNotFoundError:
            found = "(not installed)"
        say(f"llmeval {found}")
        parser.exit()
