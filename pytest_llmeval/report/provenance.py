"""How a run was made, as its run.json says."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final, NamedTuple

from pytest_llmeval.records import Json
from pytest_llmeval.report.clean import clean

_SETTING_LIMIT: Final = 300
"""Longest text of a setting, in characters."""


class Fact(NamedTuple):
    """A name and its value as text."""

    name: str
    text: str


def started_text(info: Mapping[str, Json]) -> str:
    """Return when the run began, as text."""
    try:
        moment = datetime.fromisoformat(str(info.get("started")))
    except ValueError:
        return "a run without a date"
    return f"{moment.day} {moment:%B %Y, %H:%M} UTC"


def provenance(info: Mapping[str, Json]) -> tuple[tuple[str, tuple[Fact, ...]], ...]:
    """Return settings, versions, origin and digests of a run, in named groups."""
    settings = _mapping(info.get("settings"))
    tasks = [_mapping(task) for task in _mapping(info.get("tasks")).values()]
    origin = {
        "platform": info.get("platform"),
        **{f"git {k}": v for k, v in _mapping(info.get("git")).items()},
    }
    groups: dict[str, dict[str, Json]] = {
        "settings": {
            name: value
            for name, value in settings.items()
            if value not in (None, False, [], {}, "")
        },
        "versions": _mapping(info.get("versions")),
        "prices, dollars per million tokens": {
            **({"oldest of the package's own": day} if (day := info.get("prices_as_of")) else {}),
            **_mapping(info.get("prices")),
        },
        "origin": {name: value for name, value in origin.items() if value is not None},
        "digests": {
            f"{task.get('name')} {part}": str(task[part])[:16]
            for task in tasks
            for part in ("samples", "prompt", "settings")
            if part in task
        },
    }
    return tuple(
        (
            name,
            tuple(
                Fact(clean(key), clean(_value(value), _SETTING_LIMIT))
                for key, value in group.items()
            ),
        )
        for name, group in groups.items()
        if group
    )


def _mapping(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def _value(value: Json) -> str:
    if isinstance(value, list):
        return ", ".join(map(_value, value))
    if isinstance(value, dict):
        return ", ".join(f"{key}={_value(part)}" for key, part in value.items())
    return "yes" if value is True else str(value)
