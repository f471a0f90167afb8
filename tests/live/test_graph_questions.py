"""Every question's own Cypher yields rows from which its solution follows, on each engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from live.sldp_from_rows import sldp_from_rows

from pytest_llmeval.domains.heracles.rows import MAX_ROWS
from pytest_llmeval.scoring.sldp import sldp_equals

if TYPE_CHECKING:
    from live.live_graph import LiveGraph

QUESTIONS = Path(__file__).parents[2] / "fixtures" / "heracles" / "questions.yaml"


def questions(file: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load(file.read_text("utf-8"))["questions"]
    return found


def test_the_house_is_loaded_as_it_is_in_the_file(live: LiveGraph) -> None:
    assert live.rows("MATCH (n) RETURN labels(n)[0] AS label, count(*) ORDER BY label") == [
        ["Building", 1],
        ["MeshPlace", 115],
        ["Object", 107],
        ["Place", 27],
        ["Room", 9],
    ]


@pytest.mark.parametrize("question", questions(QUESTIONS), ids=lambda question: question["uid"])
def test_a_question_about_the_house_is_answered_by_its_query(
    live: LiveGraph, question: dict[str, Any]
) -> None:
    answer = sldp_from_rows(live.rows(question["cypher"]), question["solution"])
    assert sldp_equals(answer, question["solution"]), answer


@pytest.mark.parametrize("question", questions(QUESTIONS), ids=lambda question: question["uid"])
def test_a_models_query_gets_all_those_rows_as_text(
    live: LiveGraph, question: dict[str, Any]
) -> None:
    result = live.query(question["cypher"])
    assert (result.error, result.cut) == (None, None)
    assert result.count == len(live.rows(question["cypher"])) <= MAX_ROWS
