"""The public data of all three benchmarks, named on the command line as users do."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from benchmarks.benchmark_session import ROOT, newest_rows, run_pytest
from servers.hub_server import hub

from pytest_llmeval.results.literature import load_literature
from pytest_llmeval.task.hub import HubFile

MODEL = ["--llmeval-model", "openai/never-asked"]
HERACLES_TASKS = {
    "heracles": "cypher",
    "heracles_agent": "agent.tools.cypher",
    "heracles_in_context": "in_context",
    "heracles_in_context_no_places": "in_context",
    "heracles_python": "python",
    "heracles_python_agent": "agent.tools.python",
}
"""The tasks, and where in their solvers the scene is an option."""


def collected(*arguments: str) -> list[str]:
    """Return the ids of what pytest collects."""
    done = run_pytest("-q", "--co", *MODEL, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if "::" in line]


def test_phybench_collects_the_hundred_public_problems(shared: Path) -> None:
    data = shared / "data" / "phybench" / "PHYBench-fullques_v1.json"
    ids = collected("benchmarks/phybench", f"--llmeval-set=phybench.dataset.path={data}")
    assert len(ids) == 100
    assert "benchmarks/phybench/test_phybench.py::test_phybench[0495]" in ids


def test_phybench_fetches_its_pinned_file_and_collects_it(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("huggingface_hub")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    [address] = load_literature(ROOT / "benchmarks/phybench/published.yaml").sources
    source = HubFile.parse(address)
    assert re.fullmatch("[0-9a-f]{40}", source.revision)
    place = f"datasets/{source.repository}/resolve/{source.revision}/{source.file}"
    task = "benchmarks/phybench/phybench.yaml"
    with hub({place: (shared / "data" / "phybench" / source.file).read_bytes()}) as endpoint:
        monkeypatch.setenv("HF_ENDPOINT", endpoint)
        command = [sys.executable, "-m", "pytest_llmeval", "fetch", task]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    [option] = re.findall(r"phybench\.dataset\.path=\S+", done.stdout)
    assert len(collected("benchmarks/phybench", f"--llmeval-set={option}")) == 100
    for page in ("README.md", "docs/quickstart.md", "docs/phybench.md", task):
        assert option in (ROOT / page).read_text("utf-8")


def test_geometry3k_collects_the_public_test_set_with_its_images(shared: Path) -> None:
    data = shared / "data" / "geometry3k" / "hiyouga_style_test_583.json"
    public = f"--llmeval-set=geometry3k.dataset.path={data}"
    ids = collected("benchmarks/geometry3k", "-k", "test_direct", public)
    assert len(ids) == 583
    assert ids[0] == "benchmarks/geometry3k/test_geometry3k.py::test_direct[2401]"


def test_heracles_collects_the_public_questions(shared: Path) -> None:
    data = shared / "data" / "heracles"
    file = data / "qa_questions.yaml"
    options = [f"--llmeval-set={task}.dataset.path={file}" for task in HERACLES_TASKS]
    found = collected("benchmarks/heracles/test_heracles.py", *options)
    assert len(found) == len(HERACLES_TASKS) * 6


GOLD = """
import json, os, pathlib, yaml
from pytest_llmeval.records import Reply, ToolCall

QUESTIONS = yaml.safe_load(pathlib.Path(os.environ["GOLD_QUESTIONS"]).read_text())["questions"]

def reply(request):
    text = "".join(message.text for message in request.messages if message.role == "user")
    question = next(q for q in QUESTIONS if q["question"] in text)
    answer = f"<answer>{question['solution']}</answer>"
    if "tools" in request.parameters and request.messages[-1].role == "user":
        name, arguments = "run_cypher_query", {"query": question["cypher"]}
        if "solve_task(G)" in text:
            name, arguments = "codegen_execute", {"python_code": "def solve_task(G): return 0"}
        call = ToolCall(id="", name=name, arguments=json.dumps(arguments))
        return Reply(text="", tool_calls=(call,), stop_reason="tool_calls")
    if "solve_task(G)" in text:
        done = "gave this result" in text or request.messages[-1].role == "tool"
        return answer if done else "<answer>def solve_task(G): return 0</answer>"
    asked = question["cypher"] in text or "relationships, both ways" in text
    done = request.messages[-1].role == "tool" or asked
    return answer if done else f"<answer>{question['cypher']}</answer>"
"""


def test_heracles_runs_its_pipelines_on_the_public_scene(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Query, agent, graph in the prompt, program; the database is started once for all."""
    if importlib.util.find_spec("arcadedb_embedded") is None:
        pytest.skip("arcadedb-embedded is not installed")
    questions = shared / "conformance" / "dsg_questions.yaml"
    monkeypatch.setenv("GOLD_QUESTIONS", str(questions))
    (tmp_path / "gold.py").write_text(GOLD)
    scene = shared / "data" / "heracles" / "example_dsg.json"
    options = [f"--llmeval-set={task}.dataset.path={questions}" for task in HERACLES_TASKS]
    options += [
        f"--llmeval-set={task}.solver.{place}.scene={scene}"
        for task, place in HERACLES_TASKS.items()
    ]
    options += [
        "--llmeval-model=python/./gold.py:reply",
        f"--llmeval-report={tmp_path / 'reports'}",
    ]
    done = run_pytest(
        "-q",
        str(ROOT / "benchmarks" / "heracles" / "test_heracles.py"),
        *("--rootdir", str(ROOT)),
        *options,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = newest_rows(tmp_path / "reports")
    assert Counter(row["task"] for row in rows) == dict.fromkeys(HERACLES_TASKS, 15)
    assert all(row["scores"][0]["details"]["valid_sldp"] for row in rows)
    turns = {row["task"]: row["details"]["turns"] for row in rows}
    assert turns == {
        "heracles": 2,
        "heracles_agent": 2,
        "heracles_in_context": 1,
        "heracles_in_context_no_places": 1,
        "heracles_python": 2,
        "heracles_python_agent": 2,
    }
    queried = [row["details"] for row in rows if row["task"] in {"heracles", "heracles_agent"}]
    assert all(
        found["valid_cypher"] and found["rows"] and found["query_seconds"] > 0 for found in queried
    )
