"""Under what two runs were made as a whole, as their run.json says: time, code, settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from pytest_llmeval.records import Json
from pytest_llmeval.results.conditions import UNKNOWN, Condition

_UNSAID: Final = "none"

_PLACES: Final = frozenset(
    {"report", "folder", "keep", "reuse", "resume", "baseline", "gate", "concurrency", "samples"}
)
"""Settings that say where files are and how fast to go; which samples ran is told by their ids."""

_NAMES: Final = {"models": "models asked for", "judges": "judges asked for"}
"""What settings are called that speak for themselves."""


def run_conditions(
    a: Mapping[str, Json] | None, b: Mapping[str, Json] | None
) -> tuple[Condition, ...]:
    """Return time, settings and code of two runs; None: a baseline's file does not tell."""
    told = [None if info is None else _facts(info) for info in (a, b)]
    names = dict.fromkeys(name for facts in told if facts is not None for name in facts)
    return tuple(
        Condition(name, *(UNKNOWN if facts is None else facts.get(name, _UNSAID) for facts in told))
        for name in names
    )


def _facts(info: Mapping[str, Json]) -> dict[str, str]:
    parts: dict[str, Json] = {
        "started": str(info.get("started", UNKNOWN))[:19].replace("T", " "),
        **{
            _NAMES.get(name, f"setting {name}"): value
            for name, value in _mapping(info.get("settings")).items()
            if name not in _PLACES
        },
        **{f"git {name}": value for name, value in _mapping(info.get("git")).items()},
        **{f"version of {name}": value for name, value in _mapping(info.get("versions")).items()},
        "platform": info.get("platform"),
    }
    return {name: _text(value) for name, value in parts.items()}


def _text(value: Json) -> str:
    if value is None or value in ([], {}, ""):
        return _UNSAID
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(map(str, value))
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}
