"""Detects fixtures of a user that hide this plugin's `sample` or `completion`."""

from __future__ import annotations

from typing import Any, Final

import pytest

from pytest_llmeval.plugin.fixture_names import OURS

_NAMES: Final = ("sample", "completion")
"""The fixtures that give a test its sample."""


def foreign_fixture(item: pytest.Item) -> str | None:
    """Return an error message if another fixture hides a marked test's `sample` or `completion`.

    A fixture that requests this plugin's fixture of the same name, and so extends it, is allowed.

    Args:
        item: a test function, or its definition.

    Returns:
        The message; None for a test that is not marked, or uses this plugin's fixtures.
    """
    info = getattr(item, "_fixtureinfo", None)
    if info is None or item.get_closest_marker("llmeval") is None:
        return None
    for name in _NAMES:
        if name in info.argnames and (owner := _owner(item, info, name)) is not None:
            return (
                f"{item.nodeid.partition('[')[0]}: `{name}` is {owner}, not the fixture of "
                "pytest-llmeval, so the test would not get the samples of its task: give that one "
                "another name, or take the llmeval mark away"
            )
    return None


def _owner(item: pytest.Item, info: Any, name: str) -> str | None:  # noqa: ANN401 - pytest's type
    """Return what defines the argument `name` of a test; None if this plugin does."""
    if any(name in _argnames(mark) for mark in item.iter_markers("parametrize")):
        return "an argument of a parametrize mark"
    for definition in reversed(info.name2fixturedefs.get(name, ())):
        function = definition.func
        if function.__module__ == OURS:
            return None
        if name not in definition.argnames:
            return f"a fixture of {function.__module__}"
    return None


def _argnames(mark: pytest.Mark) -> list[str]:
    names = mark.args[0] if mark.args else mark.kwargs.get("argnames", ())
    return [one.strip() for one in names.split(",")] if isinstance(names, str) else list(names)
