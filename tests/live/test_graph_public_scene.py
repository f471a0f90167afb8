"""The public example scene and its questions, on each engine; they need the reference material."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from live.sldp_from_rows import sldp_from_rows

from pytest_llmeval.domains.heracles.scene_graph import SceneGraph, read_scene
from pytest_llmeval.scoring.sldp import sldp_equals

if TYPE_CHECKING:
    from live.live_graph import LiveGraph


@pytest.fixture(scope="module")
def scene(shared: Path) -> SceneGraph:
    return read_scene(shared / "data" / "heracles" / "example_dsg.json")


def test_the_example_scene_is_loaded_whole(live: LiveGraph) -> None:
    assert live.rows("MATCH (n) RETURN count(n)") == [[166]]
    assert live.rows("MATCH ()-[r]->() RETURN type(r) AS t, count(*) ORDER BY t") == [
        ["CONTAINS", 161],
        ["MESH_PLACE_CONNECTED", 472],
        ["ROOM_CONNECTED", 10],
    ]


def test_every_public_questions_query_answers_it(live: LiveGraph, shared: Path) -> None:
    questions = yaml.safe_load((shared / "conformance" / "dsg_questions.yaml").read_text("utf-8"))[
        "questions"
    ]
    wrong = {}
    for question in questions:
        answer = sldp_from_rows(live.rows(question["cypher"]), question["solution"])
        if not sldp_equals(answer, question["solution"]):
            wrong[question["uid"]] = answer
    assert (len(questions), wrong) == (15, {})
