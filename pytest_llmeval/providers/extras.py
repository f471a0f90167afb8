"""Packages that only some providers need."""

from __future__ import annotations

from importlib.util import find_spec

from pytest_llmeval.errors import UsageError


def require(package: str, *, extra: str, model: str) -> None:
    """Raise UsageError when a package is not installed.

    Args:
        package: the name by which it is imported.
        extra: the extra of this distribution that brings it.
        model: the spec that needs it, for the message.
    """
    try:
        found = find_spec(package)
    except ImportError:  # a parent of a dotted name is missing
        found = None
    if found is None:
        msg = (
            f"{model}: the package {package} is not installed; "
            f"pip install 'pytest-llmeval-suite[{extra}]'"
        )
        raise UsageError(msg)
