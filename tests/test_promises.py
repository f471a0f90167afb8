"""docs/how-it-is-tested.md names every promise, and tests that are there."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "how-it-is-tested.md").read_text("utf-8")
README = (ROOT / "README.md").read_text("utf-8")
SECURITY = (ROOT / "docs" / "security.md").read_text("utf-8").partition("\n## ")[0]
"""The part that says what stands before hostile input; sections on single things follow."""

NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)))


@cache
def functions(file: str) -> set[str]:
    """Return the names of the functions of a file, those in classes included."""
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def rows(page: str) -> list[list[str]]:
    """Return the cells of the rows of all tables, headings and rulers left out."""
    lines = re.findall(r"^\| (.*) \|$", page, re.MULTILINE)
    return [re.split(r" \| ", line) for line in lines]


PROMISES = re.findall(r"^- \*\*(.+?)\*\*", README, re.MULTILINE)
DANGERS = [f"{what}: {could}" for what, could, _ in rows(SECURITY) if what != "what"]
DECLARED = {row[0] for row in rows(PAGE)}


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_each_test_that_the_page_names_is_there(file: str, name: str) -> None:
    assert name in functions(file)


@pytest.mark.parametrize("promise", [*PROMISES, *DANGERS])
def test_each_promise_of_the_readme_and_of_the_security_page_has_a_row(promise: str) -> None:
    assert promise in DECLARED


def test_both_pages_make_promises() -> None:
    assert len(PROMISES) > 5
    assert len(DANGERS) > 10


def test_each_row_names_a_test() -> None:
    assert [promise for promise, tests in rows(PAGE) if "tests" not in tests] == []
