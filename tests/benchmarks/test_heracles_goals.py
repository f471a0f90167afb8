"""The heracles tasks about goals: instructions, prompts, scripts and recorded replies."""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
import yaml
from benchmarks.benchmark_session import ROOT, newest_rows, run_pytest

from pytest_llmeval.domains.heracles.query import preflight
from pytest_llmeval.records import Json
from pytest_llmeval.scoring.pddl import Fact, atoms, parse_pddl
from pytest_llmeval.task import Task, load_task
from pytest_llmeval.task.rendering import render
from pytest_llmeval.task.samples import read_samples

BENCHMARK = ROOT / "benchmarks" / "heracles"
PROMPTS = BENCHMARK / "prompts"
FOLDER = ROOT / "fixtures" / "heracles"
NAMES = (
    "heracles_goals",
    "heracles_goals_agent",
    "heracles_goals_in_context",
    "heracles_goals_direct",
)
GOALS: list[dict[str, Any]] = yaml.safe_load((FOLDER / "goals.yaml").read_text("utf-8"))[
    "questions"
]
SCRIPT: dict[str, dict[str, dict[str, str]]] = yaml.safe_load(
    (FOLDER / "goals_script.yaml").read_text("utf-8")
)


def task(name: str) -> Task:
    return load_task(BENCHMARK / f"{name}.yaml")


def known(task: Task) -> dict[str, Json]:
    """Return the variables of all stages."""
    return {"query": "Q", "rows": "R", "turns": 8, **task.named_solver.variables()}


def test_the_goals_are_what_their_script_computes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    maker = importlib.import_module("make_goals")
    monkeypatch.setattr(maker, "FILE", tmp_path / "goals.yaml")
    maker.main()
    for name in ("make_goals", "house"):
        del sys.modules[name]
    assert (tmp_path / "goals.yaml").read_bytes() == (FOLDER / "goals.yaml").read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_every_instruction_is_a_sample_with_a_goal_of_the_domain(name: str) -> None:
    """Loading checks the goals by the task's predicates."""
    samples = read_samples(task(name))
    assert [(sample.id, sample.target, list(sample.tags)) for sample in samples] == [
        (goal["uid"], goal["solution"], goal["tags"]) for goal in GOALS
    ]


def test_the_instructions_need_every_predicate_and_have_every_tag() -> None:
    used = {
        atom.predicate
        for goal in GOALS
        for atom in atoms(parse_pddl(goal["solution"]))
        if isinstance(atom, Fact)
    }
    file = yaml.safe_load((BENCHMARK / "heracles_goals.yaml").read_text("utf-8"))
    assert used == file["scorer"]["pddl"]["predicates"].keys()
    assert {tag for goal in GOALS for tag in goal["tags"]} == {
        "direct-symbol",
        "direct-class",
        "synonym",
        "spatial-reference",
        "implicit-spatial-reference",
        "ordering",
        "avoid",
        "combination",
    }


def test_all_tasks_score_by_the_same_predicates() -> None:
    files = [yaml.safe_load((BENCHMARK / f"{name}.yaml").read_text("utf-8")) for name in NAMES]
    assert all(file["scorer"] == files[0]["scorer"] for file in files)


def test_the_prompts_name_every_predicate_as_the_scorer_knows_it() -> None:
    file = yaml.safe_load((BENCHMARK / "heracles_goals.yaml").read_text("utf-8"))
    language = (PROMPTS / "goals_refine.md").read_text("utf-8")
    shown = defaultdict(set)
    for name, symbols in re.findall(r"\(([a-z-]+)((?: [OPR]1)+)\)", language):
        shown[name].add(len(symbols.split()))
    predicates = file["scorer"]["pddl"]["predicates"]
    assert shown == {name: {len(kinds)} for name, kinds in predicates.items()}


def test_all_prompts_say_the_same_of_graph_database_and_goals() -> None:
    """They are written out in each file, so that each can be read as it is sent."""
    texts = {
        name: (PROMPTS / f"goals_{name}.md").read_text("utf-8")
        for name in ("generate", "refine", "agent", "in_context", "direct")
    }
    graph, _, rest = (PROMPTS / "generate.md").read_text("utf-8").partition("# The classes")
    world = graph + "# The classes" + rest.partition("# The question")[0]
    assert texts["generate"].startswith(world)
    assert texts["agent"].startswith(world)
    assert texts["in_context"].startswith(graph)
    assert texts["direct"].startswith(graph)
    refine = texts["refine"]
    language = refine[refine.index("The answer is a goal in PDDL") : refine.index("Give the goal")]
    assert all(language in texts[name] for name in ("agent", "in_context", "direct"))


@pytest.mark.parametrize("name", NAMES)
def test_no_prompt_hints_at_the_goal(name: str) -> None:
    """Whatever the goal is, the prompts differ by the instruction alone."""
    loaded = task(name)
    variables = known(loaded)
    texts = {
        (stage, render(loaded, stage, sample, (), variables)[-1].text.replace(sample.input, "?"))
        for sample in read_samples(loaded)
        for stage in loaded.prompt
    }
    assert len(texts) == len(loaded.prompt)


def test_the_direct_prompt_holds_nothing_of_the_scene() -> None:
    loaded = task("heracles_goals_direct")
    prompt = "".join(m.text for m in render(loaded, "generate", read_samples(loaded)[0], (), {}))
    assert "trash can" not in prompt
    assert "lathe" not in prompt


def test_no_gold_query_is_refused() -> None:
    assert [goal["uid"] for goal in GOALS if preflight(goal["cypher"])] == []


def test_the_scripts_name_instructions_there_are_and_fail_in_every_way() -> None:
    assert SCRIPT.keys() == set(NAMES)
    uids = {goal["uid"] for goal in GOALS}
    assert all(script.keys() <= uids for script in SCRIPT.values())
    kinds = {one.get("kind", "right") for script in SCRIPT.values() for one in script.values()}
    assert kinds == {"query", "answer", "untagged", "silent", "empty", "right"}
    instructions = [goal["question"] for goal in GOALS]
    assert not any(one != other and one in other for one in instructions for other in instructions)


@pytest.fixture(scope="module")
def rows(recorded: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the rows of a run on recorded replies, by task and sample."""
    if importlib.util.find_spec("arcadedb_embedded") is None:
        pytest.skip("arcadedb-embedded is not installed")
    found: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in NAMES}
    for row in newest_rows(recorded):
        if row["task"] in found:
            found[row["task"]][row["sample"]] = row
    return found


def test_every_recorded_reply_is_found_and_scored(
    rows: dict[str, dict[str, dict[str, Any]]],
) -> None:
    counts = {
        name: Counter(row["outcome"] for row in found.values()) for name, found in rows.items()
    }
    assert counts == {
        "heracles_goals": {"correct": 10, "incorrect": 8},
        "heracles_goals_agent": {"correct": 15, "incorrect": 3},
        "heracles_goals_in_context": {"correct": 11, "incorrect": 7},
        "heracles_goals_direct": {"correct": 5, "incorrect": 13},
    }


def test_a_row_tells_whether_the_goal_is_valid_and_what_is_wrong(
    rows: dict[str, dict[str, dict[str, Any]]],
) -> None:
    def told(name: str, uid: str) -> tuple[bool, str]:
        (score,) = rows[name][uid]["scores"]
        return score["details"]["valid_goal"], score["explanation"]

    assert told("heracles_goals", "G16") == (True, "")
    valid, why = told("heracles_goals", "G13")
    assert valid
    assert why.startswith("missing (in-room R6); unexpected (visited-room R6)\nwhen only ")
    valid, why = told("heracles_goals_in_context", "G12")
    assert not valid
    assert "there is no predicate inspected" in why
    assert "valid_goal" not in rows["heracles_goals"]["G16"]["details"]


def test_the_public_goals_are_read_by_the_same_tasks(shared: Path, tmp_path: Path) -> None:
    """In the form of the public file, over the public scene; the goals are of the domain."""
    page = (shared / "reference" / "heracles.md").read_text("utf-8")
    public = re.findall(r"(?:^- | · )(\d+[AB]) ([^`]*): `(\(.*?\))`", page, re.MULTILINE)
    fields = ("uid", "question", "solution")
    questions = [{**dict(zip(fields, one, strict=True)), "name": "", "tags": []} for one in public]
    (tmp_path / "goals.yaml").write_text(json.dumps({"questions": questions}))
    scene = shared / "data" / "heracles" / "example_dsg.json"
    dataset = tmp_path / "goals.yaml"
    options = [f"--llmeval-set={name}.dataset.path={dataset}" for name in NAMES]
    options += [
        f"--llmeval-set=heracles_goals.solver.cypher.scene={scene}",
        f"--llmeval-set=heracles_goals_in_context.solver.in_context.scene={scene}",
        *("-q", "--co", "--llmeval-model", "openai/never-asked"),
    ]
    done = run_pytest("benchmarks/heracles/test_goals.py", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    collected = re.findall(r"::test_goals_\w+\[(\w+)\]", done.stdout)
    assert Counter(collected) == dict.fromkeys(("0a", "22a", "31b", "32a", "34b", "49b"), 4)


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: goal["uid"])
def test_a_goal_names_the_symbols_that_its_instruction_gives(goal: dict[str, Any]) -> None:
    """Of instructions with numbers the symbols are plain; those of the others are computed."""
    numbers = set(re.findall(r"\d+", goal["question"]))
    assert bool(numbers) == ("direct-symbol" in goal["tags"])
    assert numbers <= set(re.findall(r"\d+", goal["solution"]))
