"""The provider ``python``: a function of the user's in place of a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytest_llmeval.engine.ports import Provider, ProviderSetup
from pytest_llmeval.errors import TaskError, UsageError
from pytest_llmeval.providers.guard import GuardedProvider
from pytest_llmeval.task.callables import load_callable


class PythonOpener:
    """Opens ``python/./file.py:function``."""

    def __call__(self, setup: ProviderSetup) -> Provider:
        """Return a provider that calls the function; UsageError when there is none."""
        return GuardedProvider(_function(setup), name=f"python/{setup.model}")

    def check(self, setup: ProviderSetup) -> None:
        """Raise UsageError if the function does not exist."""
        _function(setup)


open_python = PythonOpener()


def _function(setup: ProviderSetup) -> Callable[..., Any]:
    try:
        return load_callable(setup.model, setup.folder)
    except TaskError as error:
        msg = f"model python/{setup.model}: {error}"
        raise UsageError(msg) from error
