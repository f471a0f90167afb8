"""What stands in the files of a run: the whole story of each sample, and never a key."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

KEY = "k3y-fb41c09d7a6e5520"

# A judge's task, of which a graph query is no part.
TASK = """
name: sums
dataset: {path: data.jsonl, fields: {id: id, input: question, target: answer, tags: [kind]}}
prompt: [{system: Be brief.}, {user: "Q: {{ input }}"}]
generate: {temperature: 0}
solver: ./solver.py:solve
scorer: {judge: {votes: 2, prefilter: off}}
"""
SOLVER = """
async def solve(sample, context):
    first = await context.generate(context.prompt(), parameters={"max_tokens": 9})
    context.note("think", f"the first said {first.text}")
    second = await context.generate(context.prompt(), stage="again", draw=1)
    return second.text
"""
TEST = """
import pytest
from pytest_llmeval import assert_judge_equivalent

pytestmark = pytest.mark.llmeval("task.yaml")

def test_sums(sample, completion):
    assert_judge_equivalent(completion.answer, sample.target)
"""


@pytest.fixture
def keyed(project: Project, model_server: Any, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Return a project whose server repeats the key that it is sent in all that it says."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    project.write("task.yaml", TASK)
    project.write("solver.py", SOLVER)
    project.write("test_sums.py", TEST)
    verdict = json.dumps({"answer_correct": 1, "reason": f"the key is {KEY}"})
    refusal = {"kind": "400", "message": f"Incorrect API key provided: {KEY}"}
    model_server.program(
        reply={"content": verdict, "reasoning_content": f"my key is {KEY}"},
        script={
            "Q: what is 0+1": [{"kind": "500", "message": f"{KEY} broke it"}],
            "Q: what is 1+1": [None] + [refusal] * 9,
        },
        keep=100,
    )
    return project


@pytest.mark.parametrize("kept", ["replies.jsonl", "kept"])
@pytest.mark.parametrize("mode", ["-n0", "-n2"])
def test_the_story_of_a_sample_is_whole_and_no_file_holds_the_key(
    keyed: Project, model_server: Any, mode: str, kept: str
) -> None:
    models = [
        "--llmeval-model",
        f"openai/solver,base_url={model_server.url},top_p=0.5",
        "--llmeval-judge",
        f"openai/judge,base_url={model_server.url}",
        "--llmeval-seed",
        "3",
    ]
    files = [
        "--llmeval-keep",
        kept,
        "--junitxml",
        "junit.xml",
    ]
    result = keyed.run(*models, *files, mode, "--llmeval-limit", "2")
    result.assert_outcomes(passed=1, errors=1)
    assert all(
        f"Bearer {KEY}" == seen["headers"]["authorization"]
        for seen in model_server.report()["seen"]
    )

    assert KEY not in result.stdout.str() + result.stderr.str()
    written = [file for file in keyed.path.rglob("*") if file.is_file()]
    assert {"run.json", "transcripts.jsonl", "replies.sqlite3", "junit.xml"} <= {
        file.name for file in written
    }
    assert [file for file in written if file.relative_to(keyed.path).parts[0] == kept]
    assert [file for file in written if KEY.encode() in file.read_bytes()] == []

    told, failed = keyed.transcripts()
    first, note, second, *draws = told["events"]
    asked = first["asked"]
    assert (asked["stage"], first["attempts"]) == ("generate", 2)
    assert asked["parameters"] == {"temperature": 0, "max_tokens": 9, "seed": 3, "top_p": 0.5}
    assert [part["text"] for message in asked["messages"] for part in message["parts"]] == [
        "Be brief.",
        "Q: what is 0+1",
    ]
    assert first["reply"]["usage"]["cached_tokens"] == 4
    assert first["reply"]["reasoning"] == "my key is ***"
    assert note["text"].startswith("the first said ")
    asked = second["asked"]
    assert (asked["stage"], asked["draw"], asked["parameters"]["seed"]) == ("again", 1, 4)
    votes = [draw["asked"] for draw in draws]
    assert [(vote["stage"], vote["role"], vote["draw"]) for vote in votes] == [
        ("judge", "judge", 0),
        ("judge", "judge", 1),
    ]
    assert all("what is 0+1" in vote["messages"][-1]["parts"][0]["text"] for vote in votes)

    _, _, broken, end = failed["events"]
    asked = broken["asked"]
    assert (broken["event"], asked["stage"], asked["draw"]) == ("failed_call", "again", 1)
    assert asked["messages"][1]["parts"][0]["text"] == "Q: what is 1+1"
    assert broken["error"].endswith("HTTP 400 Incorrect API key provided: ***")
    assert end["text"] == f"ProviderError: {broken['error']}"


def test_each_request_is_stored_once_however_often_it_is_asked(
    keyed: Project, model_server: Any
) -> None:
    project = keyed
    models = [
        "--llmeval-model",
        f"openai/solver,base_url={model_server.url}",
        "--llmeval-judge",
        f"openai/judge,base_url={model_server.url}",
        "--llmeval-epochs",
        "2",
    ]
    project.run(*models, "-k", "0000")
    with sqlite3.connect(project.path / "reports/latest/replies.sqlite3") as store:
        roles = dict(
            store.execute(
                "SELECT coalesce(json_extract(record, '$.role'), 'solver'), count(*) "
                "FROM replies GROUP BY 1"
            )
        )
    # Two calls and two votes for each of two epochs.
    assert roles == {"solver": 4, "judge": 4}
