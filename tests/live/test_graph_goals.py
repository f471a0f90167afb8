"""The query of every instruction about the house finds the nodes that its goal names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

if TYPE_CHECKING:
    from live.live_graph import LiveGraph

GOALS: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[2] / "fixtures" / "heracles" / "goals.yaml").read_text("utf-8")
)["questions"]


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: goal["uid"])
def test_the_rows_of_a_query_are_the_symbols_of_its_goal(
    live: LiveGraph, goal: dict[str, Any]
) -> None:
    found = {symbol for (symbol,) in live.rows(goal["cypher"])}
    assert found == set(re.findall(r"\b[A-Za-z]\d+", goal["solution"]))
