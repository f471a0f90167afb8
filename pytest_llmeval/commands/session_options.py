"""The options of a session on the command line ``llmeval``: declared and resolved as pytest's."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_llmeval.commands.console import shortest
from pytest_llmeval.session.named_run import REPORTS
from pytest_llmeval.session.options import argparse_arguments, options_called
from pytest_llmeval.session.project_options import ProjectOptions
from pytest_llmeval.session.resolve import resolve
from pytest_llmeval.session.settings import Settings


def add_options(parser: argparse.ArgumentParser, *names: str) -> None:
    """Add some of the session's options, as ``--NAME`` for ``--llmeval-NAME``."""
    for option in options_called(names):
        parser.add_argument(f"--{option.name}", **argparse_arguments(option))


def settings_of(chosen: argparse.Namespace) -> Settings:
    """Return the settings by the command line, the variables and the project's ini keys."""
    return resolve(ProjectOptions(vars(chosen)))


def reports_of(settings: Settings) -> Path:
    """Return the folder of runs: the one that the settings name, else REPORTS."""
    return shortest(Path(settings.report or REPORTS))
