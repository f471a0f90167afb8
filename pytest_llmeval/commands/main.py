"""The command line ``llmeval``.

Exit status: 0 yes, 1 no (of commands that decide something), 2 for an error that the user must
correct first.
"""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final, NamedTuple, Protocol, cast

from pytest_llmeval.commands.console import TO_MEND, say
from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.files.domain_names import domain_names

_WIDTH: Final = 80
"""Columns of texts below the options."""

_DISTRIBUTION: Final = "pytest-llmeval-suite"


class Command(NamedTuple):
    """A command.

    Attributes:
        name: as it is typed.
        module: relative to this package, or absolute.
        help: its line of help.
        group: key of its heading in `GROUPS`.
    """

    name: str
    module: str
    help: str
    group: str = "runs"


GROUPS: Final = {
    "runs": "runs",
    "scoring": "scoring, and people who label",
    "data": "replies and datasets",
}
"""The headings of the main help."""


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
    Command("plot", ".plot", "draw a forest plot of runs for a paper, as SVG, PDF or PNG"),
    Command("merge", ".merge", "make one run of the shards of one (--llmeval-shard)"),
    Command("rescore", ".rescore", "score a run's stored answers again, without pytest", "scoring"),
    Command("score", ".score", "score a table of answers of any size, without a run", "scoring"),
    Command("validate", ".validate", "measure a judge on labelled cases", "scoring"),
    Command(
        "label", ".label", "have people label a run's answers, and read their labels", "scoring"
    ),
    Command("replies", ".replies", "list, delete or copy stored replies", "data"),
    Command("fetch", ".fetch", "download dataset files from the Hugging Face hub", "data"),
    Command("sldp", ".sldp", "compare two SLDP texts and list their differences", "scoring"),
    Command(
        "pddl", ".pddl", "compare two goals in PDDL by logic and list their differences", "scoring"
    ),
    Command(
        "eed", ".eed", "compare two LaTeX formulas and show each step of the scoring", "scoring"
    ),
)
"""The general commands, in the order of the help text; those of the domains follow them.

Only the module of the chosen one is imported.
"""


class CommandModule(Protocol):
    """What the module of a command has; `EXAMPLES` are command lines, for its help."""

    EXAMPLES: Sequence[str]

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        ...

    def run(self, chosen: argparse.Namespace) -> int:
        """Run the command and return its exit status."""
        ...


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; `arguments` None means those of the process."""
    given = sys.argv[1:] if arguments is None else arguments
    # The options before the command's name take no values.
    name = next((text for text in given if not text.startswith("-")), None)
    return _status(parser_with(name).parse_args(given))


def parser_with(name: str | None) -> argparse.ArgumentParser:
    """Return the parser of all commands, in which the one called `name` has its arguments."""
    commands = (*COMMANDS, *_domain_commands())
    parser = argparse.ArgumentParser(
        prog="llmeval",
        description="Commands on runs of pytest-llmeval, and on single answers.",
        epilog=_listed(commands),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, help="print the version and exit")
    parsers = parser.add_subparsers(metavar="COMMAND", required=True, help=argparse.SUPPRESS)
    for command in commands:
        one = parsers.add_parser(
            command.name,
            description=command.help,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if command.name == name:
            module = _module(command)
            module.declare(one)
            one.set_defaults(run=module.run)
            one.epilog = _epilog(one.epilog, module.EXAMPLES)
    return parser


def _listed(commands: Sequence[Command]) -> str:
    """Return the commands by group, each with its line of help."""
    lines = []
    for group, title in GROUPS.items():
        lines += [f"{title}:"]
        lines += [f"  {one.name:10} {one.help}" for one in commands if one.group == group]
        lines += [""]
    return "\n".join([*lines, "llmeval COMMAND --help shows its options, with examples."])


def _epilog(text: str | None, examples: Sequence[str]) -> str:
    parts = ["\n".join(["examples:", *(f"  {line}" for line in examples)])]
    if text:
        parts.insert(0, textwrap.fill(text, _WIDTH))
    return "\n\n".join(parts)


def _domain_commands() -> Iterator[Command]:
    """Yield the commands that the domains bring."""
    for name, text in domain_names("commands").items():
        module, _, help_line = text.partition(": ")
        yield Command(name, module, help_line, "data")


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
