"""Proposed questions on a real engine: every one is right, whatever the graph holds."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from domains.heracles.random_scenes import HOSTILE, random_scene
from live.films import films
from live.graph_stage import GraphStage

from pytest_llmeval.commands.main import main
from pytest_llmeval.domains.heracles.address import GraphAddress
from pytest_llmeval.domains.heracles.bolt import Bolt, Login
from pytest_llmeval.domains.heracles.graph import open_graph
from pytest_llmeval.domains.heracles.neo4j import LIMITS
from pytest_llmeval.domains.heracles.questions.property_graph import Position, PropertyGraph
from pytest_llmeval.domains.heracles.questions.schema import Schema, schema_of
from pytest_llmeval.domains.heracles.questions.server_graph import read_server
from pytest_llmeval.domains.heracles.questions.templates import TEMPLATES
from pytest_llmeval.domains.heracles.questions.verified import Ask, Proposals, Wish
from pytest_llmeval.domains.heracles.questions.vocabulary import SCENE, vocabulary_of
from pytest_llmeval.domains.heracles.scene_graph import SceneGraph, read_scene
from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.yaml import read_yaml
from pytest_llmeval.records import ToolUse
from pytest_llmeval.scoring.sldp import (
    DictValue,
    ListValue,
    NumberValue,
    PointValue,
    SetValue,
    StringValue,
    parse_sldp,
)

ORACLE = """
import yaml
from pathlib import Path
from pytest_llmeval.records import Reply

ASKED = yaml.safe_load(Path({file!r}).read_text("utf-8"))["questions"]


def reply(request):
    text = "\\n".join(message.text for message in request.messages)
    asked = [one for one in ASKED if one["question"] in text]
    question = max(asked, key=lambda one: len(one["question"]))
    if "It gave these rows" not in text:
        return f"<answer>{{question['cypher']}}</answer>"
    assert question["rows"] in text
    return f"<answer>{{question['solution']}}</answer>"
"""
SCENES = 6


@pytest.fixture(scope="module")
def stage(neo4j_login: Login, runner: asyncio.Runner) -> Iterator[GraphStage]:
    stage = GraphStage(runner, neo4j_login)
    yield stage
    stage.close()


@pytest.fixture
def address(stage: GraphStage, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the server's address; the variables hold the login that models have."""
    monkeypatch.setenv("LLMEVAL_NEO4J_USERNAME", stage.login.username)
    monkeypatch.setenv("LLMEVAL_NEO4J_PASSWORD", stage.login.password)
    monkeypatch.setenv("LLMEVAL_NEO4J_DATABASE", stage.login.database or "")
    return stage.login.uri


def proposed(
    stage: GraphStage, runner: asyncio.Runner, schema: Schema, wish: Wish, ask: Ask | None = None
) -> Proposals:
    found = Proposals(schema, ask or stage.graph.query, wish)
    runner.run(found.draw())
    return found


def scene_schema(scene: SceneGraph) -> Schema:
    return schema_of(PropertyGraph.of_scene(scene), SCENE)


def form(answer: object) -> type:
    """Return the type that an answer must have in SLDP."""
    match answer:
        case Position():
            return PointValue
        case str():
            return StringValue
        case dict():
            return DictValue
        case set() | frozenset():
            return SetValue
        case list():
            return ListValue
    return NumberValue


def told(found: Proposals) -> list[tuple[str, str, str]]:
    return [(one.draft.question, one.draft.cypher, one.solution) for one in found.questions]


@pytest.mark.parametrize("seed", range(SCENES))
def test_whatever_a_scene_holds_each_query_runs_and_agrees_with_python(
    stage: GraphStage, runner: asyncio.Runner, seed: int
) -> None:
    scene = random_scene(seed)
    stage.stage(scene)
    found = proposed(stage, runner, scene_schema(scene), Wish(count=33, seed=seed))
    assert not found.dropped
    questions = [one.draft.question for one in found.questions]
    assert len({*questions}) == len(questions)
    assert not any("\n" in question for question in questions)
    for one in found.questions:
        assert type(parse_sldp(one.solution)) is form(one.draft.answer)
        assert one.solution not in {"0", "<>", "[]", "{}"}


def test_scenes_at_random_hold_every_hostile_name() -> None:
    scenes = map(random_scene, range(SCENES))
    classes = {str(node.properties.get("class")) for scene in scenes for node in scene.nodes}
    assert {*HOSTILE} <= classes


def test_a_house_brings_every_kind_of_question(
    stage: GraphStage, runner: asyncio.Runner, house: Path
) -> None:
    scene = read_scene(house)
    stage.stage(scene)
    found = proposed(stage, runner, scene_schema(scene), Wish(count=66))
    assert not found.dropped
    assert len(found.questions) == 66
    assert {one.kind for one in found.questions} == {*TEMPLATES}


def test_the_same_seed_gives_the_same_questions_and_another_one_others(
    stage: GraphStage, runner: asyncio.Runner
) -> None:
    scene = random_scene(5)
    stage.stage(scene)
    first, again, other = (
        told(proposed(stage, runner, scene_schema(scene), Wish(count=22, seed=seed)))
        for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_an_empty_answer_comes_only_when_it_is_asked_for(
    stage: GraphStage, runner: asyncio.Runner
) -> None:
    scene = random_scene(5)
    stage.stage(scene)
    wish = Wish(count=60, kinds=("hierarchy", "sets"), empty=True)
    found = proposed(stage, runner, scene_schema(scene), wish)
    assert not found.dropped
    assert {"0", "<>"} & {one.solution for one in found.questions}


def test_a_question_is_dropped_when_the_rows_do_not_say_what_python_says(
    stage: GraphStage, runner: asyncio.Runner
) -> None:
    scene = random_scene(5)
    stage.stage(scene)

    async def astray(cypher: str) -> ToolUse:
        return await stage.graph.query(cypher.replace("RETURN", "WITH * SKIP 1 RETURN", 1))

    kinds = ("hierarchy", "nearest", "attributes")
    found = proposed(stage, runner, scene_schema(scene), Wish(count=9, kinds=kinds), astray)
    assert found.dropped.total() > 9
    assert not {one.kind for one in found.questions} - {"hierarchy", "nearest"}


def test_a_graph_that_is_no_scene_is_asked_about_by_its_schema_alone(
    stage: GraphStage, runner: asyncio.Runner
) -> None:
    stage.stage(films())
    bolt = Bolt(stage.login, LIMITS)
    graph = runner.run(read_server(bolt, where="the stage"))
    runner.run(bolt.close())
    found = proposed(stage, runner, schema_of(graph, vocabulary_of(graph)), Wish(count=44))
    assert not found.dropped
    assert {one.kind for one in found.questions} == {*TEMPLATES}


def test_a_server_s_graph_becomes_a_task_that_runs_at_once(
    stage: GraphStage,
    address: str,
    pytester: pytest.Pytester,
    quick_sessions: None,  # noqa: ARG001 - for its effect
) -> None:
    stage.stage(films())
    assert main(["questions", address, "--task", "films", "--count", "11"]) == 0
    passes(pytester, "films", address, 11)


def test_a_server_s_own_graph_is_never_wiped_for_a_task(
    stage: GraphStage, runner: asyncio.Runner
) -> None:
    stage.stage(films())
    address = GraphAddress(uri=stage.login.uri, reset=True)
    with pytest.raises(UsageError, match="would wipe the graph that the task asks about"):
        runner.run(open_graph(address, None))
    assert runner.run(stage.graph.query("MATCH (n) RETURN count(n)")).output.split()[1] == "34"


def test_a_scene_becomes_a_task_that_runs_at_once(
    stage: GraphStage,
    address: str,
    house: Path,
    pytester: pytest.Pytester,
    quick_sessions: None,  # noqa: ARG001 - for its effect
) -> None:
    stage.stage(read_scene(house))
    arguments = ["--task", "house", "--count", "11", "--graph", address]
    assert main(["questions", str(house), *arguments]) == 0
    passes(pytester, "house", address, 11)


def passes(pytester: pytest.Pytester, folder: str, address: str, count: int) -> None:
    """Run the task with a model that answers by the stored queries and solutions."""
    file = pytester.path / folder / "questions.yaml"
    assert read_yaml(file, max_bytes=1 << 20).value == yaml.safe_load(file.read_text("utf-8"))
    pytester.makepyfile(oracle=ORACLE.format(file=str(file)))
    result = pytester.runpytest_subprocess(
        folder, "-n0", "--llmeval-graph", address, "--llmeval-model", "python/./oracle.py:reply"
    )
    result.assert_outcomes(passed=count)


def test_the_public_scene_gives_fifty_verified_questions(
    shared: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    scene, output = shared / "data" / "heracles" / "example_dsg.json", tmp_path / "questions.yaml"
    if not scene.is_file():
        pytest.skip(f"no public scene at {scene}")
    assert main(["questions", str(scene), "--output", str(output)]) == 0
    questions: list[dict[str, Any]] = yaml.safe_load(output.read_text("utf-8"))["questions"]
    assert len(questions) == 50
    assert {one["tags"][0] for one in questions} == {*TEMPLATES}
    assert "queries run: 50, dropped: 0" in capsys.readouterr().out
