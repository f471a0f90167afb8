"""The addresses of rows in a page: ``#task/sample/model/epoch``.

They hold no numbers of the page, so that they stay true when rows are added or sorted otherwise.
``address.js`` makes the same ones.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable
from typing import Final
from urllib.parse import quote

from pytest_llmeval.records import Row

LONGEST: Final = 200
"""Characters of a name in the page; a longer one is its beginning and a digest."""

_DIGITS: Final = 12
_LONE: Final = re.compile("[\ud800-\udfff]")
_LEFT: Final = "!'()*~"
"""What encodeURIComponent leaves as it is, besides letters, digits and ``_.-``."""


def name_in_page(name: str) -> str:
    """Return a name (of a task, a sample, a model, a test) by which the page knows it."""
    if len(name) <= LONGEST:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    return f"{name[: LONGEST - _DIGITS - 1]}…{digest}"


class Addresses:
    """The addresses of the rows of a page."""

    def __init__(self, rows: Iterable[Row]) -> None:
        """Take all rows of the page: a task with several tests has them in its addresses."""
        tests: dict[str, set[str]] = {}
        for row in rows:
            tests.setdefault(row.task, set()).add(row.test)
        self._tests = {task: _test_names(met) for task, met in tests.items()}

    def test(self, task: str, test: str) -> str:
        """Return the name of a test in addresses.

        That is its function's name, or the node id `test` where the task has several functions of
        that name.
        """
        return self._tests[task][test]

    def of(self, task: str, test: str, sample: str, model: str, epoch: int | None = None) -> str:
        """Return the address of a row, or of a sample in all epochs: that of the first one."""
        function = f"::{self.test(task, test)}" if len(self._tests[task]) > 1 else ""
        names = (f"{name_in_page(task)}{function}", name_in_page(sample), name_in_page(model))
        ends = () if epoch is None else (str(epoch),)
        return "#" + "/".join(map(_segment, (*names, *ends)))


def _test_names(tests: Collection[str]) -> dict[str, str]:
    """Return the names of a task's tests by their node ids."""
    functions = {test: name_in_page(test.rpartition("::")[2]) for test in tests}
    if len(set(functions.values())) == len(tests):
        return functions
    return {test: name_in_page(test) for test in tests}


def _segment(text: str) -> str:
    """Return a text as encodeURIComponent does, which has no half of a surrogate pair."""
    return quote(_LONE.sub("\ufffd", text), safe=_LEFT)
