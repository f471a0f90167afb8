"""Detects tests that are coroutines and that no plugin runs."""

from __future__ import annotations

import inspect
from typing import Final

import pytest

_ASYNCIO: Final = "pytest_asyncio.plugin"

_KNOWN: Final = frozenset({"_pytest.python", "anyio.pytest_plugin", _ASYNCIO})
"""Modules of plugins that call test functions, and of which it is known whether they run a
coroutine; any other one, such as a conftest, may run all of them."""


def unrun_coroutine(item: pytest.Item) -> str | None:
    """Return an error message if a marked test is `async def` and nothing would run it.

    Such a test would fail, after its requests were paid. Plugins run it as an item of their own
    class (pytest-asyncio), by a mark, or by a fixture that they add (anyio).
    """
    function = getattr(item, "function", None)
    if not inspect.iscoroutinefunction(function) or item.get_closest_marker("llmeval") is None:
        return None
    callers = {
        getattr(one.plugin, "__name__", one.plugin_name)
        for one in item.config.hook.pytest_pyfunc_call.get_hookimpls()
    }
    is_run = (
        type(item) is not pytest.Function
        or "anyio_backend" in item.fixturenames
        or (_ASYNCIO in callers and item.get_closest_marker("asyncio") is not None)
        or not callers <= _KNOWN
    )
    if is_run:
        return None
    return (
        f"{item.nodeid.partition('[')[0]} is `async def`, and nothing runs such a test here: "
        "install pytest-asyncio and mark it with @pytest.mark.asyncio, or anyio and "
        "@pytest.mark.anyio"
    )
