"""Stages, draws, epochs, votes and pictures are recorded once and replayed without a call."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest
    from plugin.conftest import Project

TASK = """
name: sums
dataset: {path: data.jsonl, fields: {id: id, input: question, target: answer, tags: [kind]}}
prompt: "Q: {{ input }}"
solver: ./solver.py:solve
scorer: {judge: {votes: 2, prefilter: off}}
"""
SOLVER = """
from pytest_llmeval import Message
from pytest_llmeval.records import ImagePart, TextPart

async def solve(sample, context):
    drawn = await context.generate(context.prompt(), stage="draw", operation="image")
    assert len(drawn.images) == 1
    parts = (TextPart(text="look"), ImagePart(image=drawn.images[0]))
    looking = (*context.prompt(), Message(role="user", parts=parts))
    drafts = [await context.generate(looking, stage="draft", draw=draw) for draw in (0, 1)]
    return f"{drafts[0].text} {drafts[1].text}"
"""
TEST = """
import pytest
from pytest_llmeval import assert_judge_equivalent

pytestmark = pytest.mark.llmeval("task.yaml")

def test_sums(sample, completion):
    assert_judge_equivalent(completion.answer, sample.target)
"""
LIMITS = ["--llmeval-limit", "2", "--llmeval-epochs", "2", "--llmeval-seed", "1"]


def test_stages_draws_epochs_votes_and_pictures_are_replayed(
    project: Project, model_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for name, text in {"task.yaml": TASK, "solver.py": SOLVER, "test_sums.py": TEST}.items():
        project.write(name, text)
    model_server.program(reply={"content": json.dumps({"answer_correct": 1, "reason": "as asked"})})
    live = [
        "--llmeval-model",
        f"openai/m,base_url={model_server.url}",
        "--llmeval-judge",
        f"openai/j,base_url={model_server.url}",
    ]
    project.run(*live, *LIMITS, "--llmeval-keep", "replies.jsonl").assert_outcomes(passed=4)
    # A picture, two drafts and two votes for each of two samples and two epochs.
    assert model_server.report()["requests"] == 20
    recorded = [
        json.loads(line) for line in (project.path / "replies.jsonl").read_text().splitlines()
    ]
    assert len(recorded) == len({line["key"] for line in recorded}) == 20
    # Every picture the server drew is the same one, stored once for the run and once beside the
    # recording.
    for folder in ("replies-images", "reports/latest/images"):
        assert len([file for file in (project.path / folder).iterdir() if file.is_file()]) == 1

    model_server.program()
    result = project.run("--llmeval-model", "replay/replies.jsonl", *LIMITS, "-n2")
    result.assert_outcomes(passed=4)
    assert model_server.report()["requests"] == 0
    stages = [event["asked"]["stage"] for event in project.transcripts()[0]["events"]]
    assert stages == ["draw", "draft", "draft", "judge", "judge"]
