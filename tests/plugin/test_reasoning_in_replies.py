"""Models that reason in their replies' text: the answer is what they show, of every provider."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

TASK = r"""
name: weights
dataset: {path: data.jsonl, fields: {id: id, input: question, target: answer}}
prompt: [{user: "{{ input }}"}]
answer: boxed_first
scorer: [eed, {judge: {prefilter: off}}]
"""
TEST = """
import pytest
from pytest_llmeval import assert_correct

pytestmark = pytest.mark.llmeval("task.yaml")

def test_weights(sample, completion):
    assert_correct(sample, completion)
"""
REPLY = r"<think>First guess: \boxed{2mg}...</think> \boxed{mg}"
CUT = r"<think>First guess: \boxed{mg}..."
# The judge thinks of the verdict that it does not give.
MODEL = f"""
from pytest_llmeval import Reply

YES, NO = ('{{"answer_correct": %d, "reason": "r"}}' % n for n in (1, 0))

def reply(request):
    if request.messages[-1].text.startswith("cut"):
        return {CUT!r}
    return {REPLY!r}

def judge(request):
    return f"<think>{{NO}}</think>\\n{{YES}}"

def open_acme(setup):
    class Acme:
        async def send(self, request):
            return Reply(text=reply(request))
        async def close(self):
            pass
    return Acme()
"""


@pytest.fixture
def weights(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Return a project of two samples: of the second the model never comes to an answer."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    project.write("task.yaml", TASK)
    project.write("test_sums.py", TEST)
    project.write("model.py", MODEL)
    samples = [{"id": "1", "question": "how heavy?", "answer": "mg"}]
    samples.append({"id": "2", "question": "cut: how heavy?", "answer": "mg"})
    project.write_lines("data.jsonl", samples)
    return project


JUDGE = ("--llmeval-judge", "python/./model.py:judge")


def check(rows: list[dict[str, Any]]) -> None:
    """Check the rows of the two samples, each of any number of models."""
    for row in rows:
        scores = {score["name"]: score["value"] for score in row["scores"]}
        if row["sample"] == "1":
            assert (row["outcome"], row["answer"], row["stop_reason"]) == ("correct", "mg", "stop")
            assert scores == {"EED": 100.0, "judge": 1.0}
        else:
            assert (row["outcome"], row["answer"], row["stop_reason"]) == (
                "incorrect",
                None,
                "length",
            )
            assert scores == {"EED": 0.0, "judge": 0.0}


def test_every_provider_and_stored_replies_of_each(weights: Project, model_server: Any) -> None:
    model_server.program(reply={"content": REPLY, "output": output(REPLY)})
    server = f"base_url={model_server.url}"
    models = [
        "python/./model.py:reply",
        "./model.py:open_acme/x",
        f"openai/m,{server}",
        f"openai/m,{server},api=responses",
    ]
    asked = [part for model in models for part in ("--llmeval-model", model)]
    weights.run(*asked, *JUDGE)
    rows = weights.rows()
    # The server answers both questions alike.
    check([row for row in rows if row["sample"] == "1" or not row["model"].startswith("openai")])
    assert len(rows) == 8
    for transcript in weights.transcripts():
        solved = transcript["events"][0]["reply"]
        assert "think>" not in solved["text"]
        assert "First guess" in solved["reasoning"]

    # The stored replies are as they came, and are read by the same rules.
    weights.run("--llmeval-reuse", "latest,only=on")
    again = weights.rows()
    assert {row["cached"] for row in again} == {True}
    assert [row["scores"] for row in again] == [row["scores"] for row in rows]


def output(text: str) -> list[Any]:
    """Return the output of a response with a text."""
    return [{"type": "message", "content": [{"type": "output_text", "text": text}]}]


def test_an_old_recording_is_read_by_the_same_rules(weights: Project) -> None:
    kept = ("--llmeval-keep", "old.jsonl")
    weights.run("--llmeval-model", "python/./model.py:reply", *JUDGE, *kept)
    check(weights.rows())
    lines = (weights.path / "old.jsonl").read_text().splitlines()
    texts = {json.loads(line)["reply"]["text"] for line in lines}
    assert {REPLY, CUT} <= texts
    weights.run("--llmeval-model", "replay/old.jsonl", "--llmeval-judge", "replay/old.jsonl")
    check(weights.rows())
    assert "cut replies: length 1" in (weights.path / "reports/latest/summary.md").read_text()
