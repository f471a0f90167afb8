"""The heracles tasks, their scene and questions, and the scripted model."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from benchmarks.benchmark_session import ROOT, run_pytest

from pytest_llmeval.domains.heracles.cypher_solver import REPAIR_REQUEST
from pytest_llmeval.domains.heracles.cypher_tool import TOOL_NAME
from pytest_llmeval.domains.heracles.neo4j_jars.locked import VERSION
from pytest_llmeval.domains.heracles.neo4j_process import Neo4j
from pytest_llmeval.domains.heracles.neo4j_server import SETTINGS
from pytest_llmeval.domains.heracles.query import extract_query, preflight
from pytest_llmeval.domains.heracles.scene_text import read_scene_text
from pytest_llmeval.engine.expectation import CHARACTERS_PER_TOKEN
from pytest_llmeval.records import Json, Message, Request
from pytest_llmeval.scoring.sldp import parse_sldp
from pytest_llmeval.task import Task, load_task
from pytest_llmeval.task.rendering import render
from pytest_llmeval.task.samples import read_samples

BENCHMARK = ROOT / "benchmarks" / "heracles"
FILE = BENCHMARK / "heracles.yaml"
TASKS = [
    FILE,
    *(
        BENCHMARK / f"heracles_{name}.yaml"
        for name in ("agent", "in_context", "python", "python_agent", "in_context_no_places")
    ),
]
FOLDER = ROOT / "fixtures" / "heracles"
QUESTIONS: list[dict[str, Any]] = yaml.safe_load((FOLDER / "questions.yaml").read_text("utf-8"))[
    "questions"
]
SCRIPT: dict[str, dict[str, str]] = yaml.safe_load((FOLDER / "script.yaml").read_text("utf-8"))


@pytest.fixture(scope="module")
def task() -> Task:
    return load_task(FILE)


@pytest.fixture(scope="module")
def scripts() -> Iterator[dict[str, ModuleType]]:
    """Return the folder's scripts as modules; they import one another by their bare names."""
    names = ("house", "make_scene", "make_questions")
    sys.path.insert(0, str(FOLDER))
    yield {name: importlib.import_module(name) for name in names}
    sys.path.remove(str(FOLDER))
    for name in names:
        del sys.modules[name]


def test_the_scene_is_what_its_script_writes(
    scripts: dict[str, ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maker = scripts["make_scene"]
    monkeypatch.setattr(maker, "FILE", tmp_path / "scene.json")
    maker.write(maker.build())
    assert (tmp_path / "scene.json").read_bytes() == (FOLDER / "scene.json").read_bytes()


def test_the_questions_are_what_their_script_computes(
    scripts: dict[str, ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maker = scripts["make_questions"]
    monkeypatch.setattr(maker, "FILE", tmp_path / "questions.yaml")
    maker.main()
    assert (tmp_path / "questions.yaml").read_bytes() == (FOLDER / "questions.yaml").read_bytes()


@pytest.mark.parametrize("file", TASKS, ids=lambda file: file.stem)
def test_every_question_is_a_sample_with_its_solution_and_tags(file: Path) -> None:
    samples = read_samples(load_task(file))
    assert [(sample.id, sample.target_text, list(sample.tags)) for sample in samples] == [
        (question["uid"], question["solution"], question["tags"]) for question in QUESTIONS
    ]
    assert len(samples) >= 30
    assert all(parse_sldp(sample.target_text) for sample in samples)


def known(task: Task) -> dict[str, Json]:
    """Return what the task's solver fills its prompts with before any reply."""
    return dict(task.named_solver.variables())


def test_the_public_questions_are_read_by_the_same_task(shared: Path) -> None:
    overrides = {
        "dataset.path": str(shared / "data" / "heracles" / "qa_questions.yaml"),
        "solver.cypher.scene": str(shared / "data" / "heracles" / "example_dsg.json"),
    }
    task = load_task(FILE, overrides)
    samples = read_samples(task)
    assert [sample.id for sample in samples] == ["0A", "12A", "17B", "27B", "48B", "14A"]
    prompt = render(task, "generate", samples[1], (), known(task))[-1].text
    assert "Room nodes: lounge, hallway" in prompt
    assert "lathe" not in prompt


def test_the_first_prompt_describes_graph_classes_and_database(task: Task) -> None:
    system, user = render(task, "generate", read_samples(task)[0], (), known(task))
    assert (system.role, user.role) == ("system", "user")
    for word in (
        "nodeSymbol",
        "bbox_dim",
        "CONTAINS",
        "MESH_PLACE_CONNECTED",
        "point.distance",
        "trash can",
        "</answer>",
    ):
        assert word in user.text
    assert "How many objects are in the scene graph?" in user.text


def test_the_second_prompt_holds_question_query_and_rows_and_explains_sldp(task: Task) -> None:
    user = render(
        task, "refine", read_samples(task)[0], (), {"query": "RETURN 1 AS {{ n }}", "rows": "n\n1"}
    )[-1].text
    for part in (
        "How many objects",
        "RETURN 1 AS {{ n }}",
        "\nn\n1\n",
        "POINT(1.5 2.25 -3.0)",
        "<answer> and </answer>",
    ):
        assert part in user


@pytest.mark.parametrize("file", TASKS, ids=lambda file: file.stem)
def test_no_prompt_hints_at_the_solution_or_its_type(file: Path) -> None:
    """Whatever the solution is, the prompts differ by the question alone."""
    task = load_task(file)
    variables = {**known(task), "query": "Q", "rows": "R", "graph": "G", "turns": 8}
    variables |= {"program": "P", "result": "R"}
    texts = {
        (stage, render(task, stage, sample, (), variables)[-1].text.replace(sample.input, "?"))
        for sample in read_samples(task)
        for stage in task.prompt
    }
    assert len(texts) == len(task.prompt)


def test_all_prompts_say_the_same_of_graph_database_and_language() -> None:
    """They are written out in each file, so that each can be read as it is sent."""
    names = ("generate", "refine", "agent", "in_context", "python", "refine_python")
    generate, refine, agent, in_context, python, refine_python = (
        (BENCHMARK / "prompts" / f"{name}.md").read_text("utf-8") for name in names
    )
    python_agent = (BENCHMARK / "prompts" / "python_agent.md").read_text("utf-8")
    graph, world = generate.partition("# The classes")[0], generate.partition("# The question")[0]
    assert agent.startswith(world)
    assert in_context.startswith(graph)
    language = refine[
        refine.index("The answer must be written in SLDP") : refine.index("Give the answer")
    ]
    assert language in agent
    assert language in in_context
    assert language in refine_python
    assert language in python_agent
    assert python.startswith(generate.partition("# The database")[0])
    assert python_agent.startswith(python.partition("# The question")[0])


def test_the_agents_prompt_names_its_tool_and_turns() -> None:
    task = load_task(TASKS[1])
    user = render(task, "generate", read_samples(task)[0], (), {**known(task), "turns": 8})[-1].text
    assert f"Call the tool {TOOL_NAME}" in user
    assert "You have 8 replies in all" in user
    assert "<tool>" not in user


def test_the_agents_prompt_serves_calls_in_text_too() -> None:
    task = load_task(TASKS[1], {"solver.agent.calls": "text"})
    user = render(task, "generate", read_samples(task)[0], (), known(task))[-1].text
    assert "<tool>name(argument=value" in user
    assert f"{TOOL_NAME}(query: text)" in user


@pytest.mark.parametrize(
    ("form", "steps"), [("short", "two steps."), ("no_places", "one step: places")]
)
def test_the_prompt_says_how_far_objects_are_from_rooms(form: str, steps: str) -> None:
    task = load_task(TASKS[2], {"solver.in_context.form": form})
    user = render(task, "generate", read_samples(task)[0], (), known(task))[-1].text
    assert f"from a room to its objects it takes {steps}" in user


def asked(*texts: str) -> Request:
    messages = tuple(Message.of("user", text) for text in texts)
    return Request(provider="python", model="scripted", messages=messages)


@pytest.fixture(scope="module")
def scripted() -> ModuleType:
    spec = importlib.util.spec_from_file_location("heracles_scripted", FOLDER / "scripted.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_script_names_questions_there_are_and_fails_in_every_way() -> None:
    others = [
        yaml.safe_load((FOLDER / f"{name}_script.yaml").read_text("utf-8"))
        for name in ("agent", "in_context", "python", "python_agent")
    ]
    assert {uid for script in (SCRIPT, *others) for uid in script} <= {
        question["uid"] for question in QUESTIONS
    }
    kinds = Counter(script["kind"] for script in SCRIPT.values())
    assert kinds.keys() == {"query", "answer", "untagged", "silent", "empty"}


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["uid"])
def test_the_scripted_model_writes_the_query_that_is_meant(
    scripted: ModuleType, task: Task, question: dict[str, Any]
) -> None:
    sample = next(sample for sample in read_samples(task) if sample.id == question["uid"])
    request = asked(
        *(message.text for message in render(task, "generate", sample, (), known(task)))
    )
    reply = scripted.reply(request)
    assert reply == scripted.reply(request)
    script = SCRIPT.get(question["uid"], {"kind": "right"})
    meant = (
        None if script["kind"] in {"empty", "untagged"} else script.get("query", question["cypher"])
    )
    assert extract_query(reply.text) == meant
    repaired = scripted.reply(asked(request.messages[-1].text, REPAIR_REQUEST.format(reason="no")))
    assert extract_query(repaired.text) == question["cypher"]


def test_no_gold_query_is_refused_and_some_scripted_ones_are() -> None:
    assert [question["uid"] for question in QUESTIONS if preflight(question["cypher"])] == []
    refused = [
        uid for uid, script in SCRIPT.items() if "query" in script and preflight(script["query"])
    ]
    assert refused == ["H11", "H23", "H30"]


def test_a_question_that_is_not_in_the_script_gets_no_query(scripted: ModuleType) -> None:
    assert extract_query(scripted.reply(asked("Where is the moon?")).text) is None


def test_an_estimate_counts_the_graph_in_every_prompt_that_holds_it() -> None:
    options = ["--llmeval-estimate", "--llmeval-model=openai/never-asked", "--llmeval-limit=1"]
    environment = {**os.environ, "OPENAI_API_KEY": "none"}
    told = run_pytest("benchmarks/heracles/test_heracles.py", "-q", *options, env=environment)
    tokens = dict(re.findall(r"estimate: (\S+) · .* about ([\d,]+) input tokens", told.stdout))
    assert tokens.keys() == {task.stem for task in TASKS}, told.stdout + told.stderr
    graph = len(read_scene_text(FOLDER / "scene.json", "short")) // CHARACTERS_PER_TOKEN
    assert int(tokens["heracles_in_context"].replace(",", "")) > graph


def test_the_compose_file_gives_users_the_server_that_the_tests_run_against() -> None:
    """Its image has the tests' version and the same limits against hostile queries."""
    service = yaml.safe_load((BENCHMARK / "compose.yaml").read_text("utf-8"))["services"]["neo4j"]
    assert f"neo4j:{VERSION}".startswith(service["image"].removesuffix("-community"))
    # The image reads a setting from a variable: `.` as `_`, and `_` doubled.
    given = {
        name.removeprefix("NEO4J_").replace("__", "%").replace("_", ".").replace("%", "_"): value
        for name, value in service["environment"].items()
    }
    wanted = dict(line.split("=") for line in SETTINGS.splitlines())
    for name in ("db.memory.transaction.max", "dbms.security.allow_csv_import_from_file_urls"):
        assert given[name] == wanted[name]
    assert given["db.transaction.timeout"] == f"{Neo4j.limits.server:g}s"
    assert service["ports"] == ["127.0.0.1:7687:7687"]
