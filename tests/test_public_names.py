"""The public names: importable, documented, and typed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import pytest_llmeval

PAGE = (Path(__file__).parents[1] / "docs" / "api.md").read_text("utf-8")


@pytest.mark.parametrize("name", pytest_llmeval.__all__)
def test_a_public_name_can_be_imported_and_says_what_it_is(name: str) -> None:
    found = getattr(pytest_llmeval, name)
    assert name == "Json" or found.__doc__


def test_the_page_lists_the_public_names_and_no_others() -> None:
    listed = {
        name
        for line in PAGE.splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`(\w+)`", line.split(" | ")[0])
    }
    errors = set(re.findall(r"`(\w+Error)`", PAGE))
    assert listed | errors == set(pytest_llmeval.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = pytest_llmeval.nothing
