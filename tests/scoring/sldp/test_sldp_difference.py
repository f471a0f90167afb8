"""How an unequal pair explains itself."""

from __future__ import annotations

from typing import Any

import pytest
from scoring.corpora import language_cases

from pytest_llmeval.scoring.sldp import parse_sldp, sldp_diff


@pytest.mark.parametrize("differing", language_cases("sldp", "differences"))
def test_a_difference_has_its_path(differing: dict[str, Any]) -> None:
    assert list(sldp_diff(differing["a"], differing["b"])) == differing["lines"]


def test_many_differences_are_cut_to_ten_lines() -> None:
    lines = sldp_diff(str(list(range(50))), str(list(range(1, 51))))
    assert len(lines) == 10
    assert lines[0] == "$[0]: found 0, expected 1"
    assert lines[-1] == "and more differences"


def test_ten_differences_are_all_listed() -> None:
    lines = sldp_diff(str(list(range(10))), str(list(range(1, 11))))
    assert lines[-1] == "$[9]: found 9, expected 10"


def test_long_values_and_deep_paths_are_cut_in_the_middle() -> None:
    deep = parse_sldp("[" * 900 + "a" * 5000 + "]" * 900)
    (line,) = sldp_diff(deep, "[" * 900 + "b" + "]" * 900)
    assert line.startswith("$[0][0]")
    assert "…" in line
    assert line.endswith("a, expected b")
    assert len(line) < 200
