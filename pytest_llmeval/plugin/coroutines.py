"""Decides whether this plugin or another one runs an `async def` test."""

from __future__ import annotations

import inspect
from typing import Final

import pytest

from pytest_llmeval.plugin.fixture_names import FIXTURES

_ASYNCIO: Final = "pytest_asyncio.plugin"

_KNOWN: Final = frozenset(
    {"_pytest.python", "anyio.pytest_plugin", _ASYNCIO, "pytest_llmeval.plugin.hooks"}
)
"""Modules of plugins that call test functions, and of which it is known whether they run a
coroutine; any other one, such as a conftest, may run all of them."""


def runs_here(item: pytest.Item) -> bool:
    """Return whether a test is a coroutine of ours that no other plugin runs.

    It is ours by the mark or a fixture. Other plugins run it as an item of their own class
    (pytest-asyncio), by a mark, or by a fixture that they add (anyio).
    """
    if type(item) is not pytest.Function or not inspect.iscoroutinefunction(item.function):
        return False
    if item.get_closest_marker("llmeval") is None and FIXTURES.isdisjoint(item.fixturenames):
        return False
    callers = {
        one.function.__module__
        for one in item.config.hook.pytest_pyfunc_call.get_hookimpls()
        if not (one.wrapper or one.hookwrapper)
    }
    return (
        callers <= _KNOWN
        and "anyio_backend" not in item.fixturenames
        and not (_ASYNCIO in callers and item.get_closest_marker("asyncio") is not None)
    )
