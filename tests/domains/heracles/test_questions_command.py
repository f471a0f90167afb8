"""``llmeval questions``: mistakes are told in one line, before any database starts."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_llmeval.commands.main import main
from pytest_llmeval.domains.heracles import questions_command
from pytest_llmeval.domains.heracles.graph import open_graph
from pytest_llmeval.domains.heracles.questions.property_graph import PropertyGraph
from pytest_llmeval.domains.heracles.questions.schema import schema_of
from pytest_llmeval.domains.heracles.questions.task_folder import DATASET, task_files, task_texts
from pytest_llmeval.domains.heracles.questions.vocabulary import vocabulary_of
from pytest_llmeval.domains.heracles.scene_graph import read_scene
from pytest_llmeval.errors import ToolError

HOUSE = Path(__file__).parents[3] / "fixtures" / "heracles" / "scene.json"

Told = Callable[..., str]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Told:
    """Return a function that runs the command, which must fail before the database is opened."""

    async def never(*_: object, **__: object) -> None:
        pytest.fail("the database was opened")

    def run(*arguments: str) -> str:
        assert main(["questions", *arguments]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.startswith("llmeval: ")
        assert said.err.count("\n") == 1
        return said.err

    monkeypatch.setattr(questions_command, "open_graph", never)
    return run


def scene(folder: Path, **content: Any) -> str:
    file = folder / "scene.json"
    file.write_text(json.dumps({"nodes": [], "edges": [], "metadata": {}, **content}), "utf-8")
    return str(file)


@pytest.mark.parametrize(
    ("arguments", "value", "fix"),
    [
        (["--count", "0"], "--count is '0'", "a whole number from 1 to 10000"),
        (["--count", "many"], "--count is 'many'", "a whole number"),
        (["--count", "10001"], "'10001'", "to 10000"),
        (["--count", "9" * 5000], "--count is", "a whole number"),
        (["--seed", "-1"], "--seed is '-1'", "a whole number from 0"),
        (["--kinds", "counts,riddles"], "'riddles' is no kind", "counts, sets, hierarchy"),
        (["--kinds", ""], "'' is no kind", "there are counts"),
        (["--graph", "localhost"], "'localhost' is no graph database", "bolt://"),
    ],
)
def test_a_wrong_option_is_told_with_its_value_and_what_it_should_be(
    told: Told, arguments: list[str], value: str, fix: str
) -> None:
    error = told(str(HOUSE), *arguments)
    assert value in error
    assert fix in error


def test_a_scene_that_is_no_file_is_told_with_what_to_name(told: Told, tmp_path: Path) -> None:
    for place in (tmp_path / "missing.json", tmp_path):
        error = told(str(place))
        assert str(place) in error
        assert "bolt://HOST:PORT" in error


@pytest.mark.parametrize("text", ["{}", "[1]", "not JSON", '{"nodes": [{}], "edges": []}'])
def test_a_file_that_is_no_scene_is_told(told: Told, tmp_path: Path, text: str) -> None:
    file = tmp_path / "scene.json"
    file.write_text(text, "utf-8")
    assert str(file) in told(str(file))


def test_an_empty_graph_is_told(told: Told, tmp_path: Path) -> None:
    assert "has no nodes to ask about" in told(scene(tmp_path))


def test_an_empty_server_is_told_by_its_address(
    monkeypatch: pytest.MonkeyPatch, told: Told
) -> None:
    class Connected:
        def __init__(self, *_: object) -> None:
            """Connect to nothing."""

        async def agent(self) -> str:
            return "Neo4j"

        async def close(self) -> None:
            pass

    async def nothing(*_: object, **__: object) -> PropertyGraph:
        return PropertyGraph((), ())

    monkeypatch.setattr(questions_command, "Bolt", Connected)
    monkeypatch.setattr(questions_command, "read_server", nothing)
    assert told("bolt://h:1") == "llmeval: bolt://h:1 has no nodes to ask about\n"


def test_a_graph_whose_nodes_nothing_tells_apart_is_told(told: Told, tmp_path: Path) -> None:
    # The answer to a question is compared without case, so `O1` and `o1` are one.
    nodes = [
        {"id": (ord(letter) << 56) | 1, "layer": 4, "attributes": {"position": [0, 0, 0]}}
        for letter in "Rr"
    ]
    assert "a property that tells its nodes apart" in told(scene(tmp_path, nodes=nodes))


def test_a_server_s_graph_is_never_wiped(told: Told) -> None:
    assert "leave out reset=on" in told("bolt://localhost:1,reset=on")


def test_two_graphs_at_once_are_told(told: Told) -> None:
    assert "name one graph database" in told("bolt://a:1", "--graph", "bolt://b:1")


@pytest.mark.parametrize("engine", ["neo4j", "arcadedb"])
def test_an_engine_of_our_own_may_be_named(monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    named: list[object] = []

    async def opened(choice: object, *_: object, **__: object) -> None:
        named.append(choice)
        message = "enough"
        raise ToolError(message)

    monkeypatch.setattr(questions_command, "open_graph", opened)
    assert main(["questions", str(HOUSE), "--graph", engine]) == 2
    assert named == [engine]


@pytest.mark.parametrize("name", ["2026", "true", "null", "1e3", "my house", "0x1F"])
def test_a_task_is_named_as_its_folder_also_where_yaml_reads_a_number(
    tmp_path: Path, name: str
) -> None:
    graph = PropertyGraph.of_scene(read_scene(HOUSE))
    schema = schema_of(graph, vocabulary_of(graph))
    texts = task_texts(tmp_path / name, "", schema, HOUSE)
    (task,) = (file for file in texts if file.suffix == ".yaml" and file.name != DATASET)
    assert yaml.safe_load(texts[task])["name"] == task.stem == name.replace(" ", "_")


def test_a_server_that_does_not_answer_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["questions", "bolt://127.0.0.1:1"]) == 2
    assert "no graph database answers at bolt://127.0.0.1:1" in capsys.readouterr().err


def test_no_file_is_replaced_unless_that_is_asked_for(told: Told, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("mine", "utf-8")
    assert "add --overwrite" in told(str(HOUSE), "--output", str(file))
    assert file.read_text("utf-8") == "mine"
    for one in task_files(tmp_path / "task"):
        one.parent.mkdir(parents=True, exist_ok=True)
        one.write_text("mine", "utf-8")
        assert f"{one} is there already" in told(str(HOUSE), "--task", str(tmp_path / "task"))
        assert one.read_text("utf-8") == "mine"
        one.unlink()


def test_a_missing_engine_is_told_with_how_to_get_one(
    monkeypatch: pytest.MonkeyPatch, told: Told
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *rest: None if name == "arcadedb_embedded" else found(name, *rest),
    )
    monkeypatch.setattr(questions_command, "open_graph", open_graph)
    error = told(str(HOUSE), "--graph", "arcadedb")
    assert ".[graph]" in error
    assert "--llmeval-graph" in error
