"""Scoring a run's stored replies again: what that run was asked, and nobody asked anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

from pytest_llmeval.results.store import StoredRun
from pytest_llmeval.session.resuming import find_info, find_stored
from pytest_llmeval.session.settings import Settings

REPLAY_RUN: Final = "--llmeval-replay-run"

_ASKED: Final = (
    "models",
    "judges",
    "seed",
    "epochs",
    "limit",
    "samples",
    "datasets",
    "overrides",
    "taxonomy",
    "image_mode",
)
"""The settings that decide what is asked: those of the stored run hold where the session names
none."""


def replayed_run(settings: Settings) -> StoredRun:
    """Return the run of ``--llmeval-replay-run``; UsageError names one that does not exist."""
    return find_stored(
        REPLAY_RUN, str(settings.replay_run), folder=Path(settings.folder), reports=settings.report
    )


def as_asked(settings: Settings) -> Settings:
    """Return the settings of a session, completed by those of the run whose replies it scores again."""
    name, folder = str(settings.replay_run), Path(settings.folder)
    # Every worker asks this, and the rows are of no use to it.
    stored = find_info(REPLAY_RUN, name, folder=folder, reports=settings.report).get("settings")
    told: Mapping[str, Any] = stored if isinstance(stored, dict) else {}
    unset = {
        one.name
        for one in fields(Settings)
        if getattr(settings, one.name) == getattr(Settings(), one.name)
    }
    wanted = {name: told[name] for name in _ASKED if name in unset and told.get(name) is not None}
    # As JSON has them; the fields were written from settings like these.
    keywords: Any = {
        name: tuple(value) if isinstance(value, list) else value for name, value in wanted.items()
    }
    return replace(settings, **keywords)
