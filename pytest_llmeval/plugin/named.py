"""Which tests the command line names, beside those that stand in a named folder."""

from __future__ import annotations

import pytest
from _pytest.mark.expression import Expression


def is_named(item: pytest.Item) -> bool:
    """Return whether the command line names an item's file or test, or ``-k`` a word of it.

    ``-k 'not slow'`` selects tests by what they are not, and therefore names none.
    """
    folder = item.config.invocation_params.dir
    for argument in item.config.args:
        path, _, test = argument.partition("::")
        if (test or path.endswith(".py")) and (folder / path).resolve() == item.path.resolve():
            return True
    words = str(item.config.option.keyword or "")
    try:
        return bool(words) and not Expression.compile(words).evaluate(_matches_nothing)
    except SyntaxError:
        return False  # pytest itself reports it


def _matches_nothing(_word: str, /, **_: str | float | bool | None) -> bool:
    return False
