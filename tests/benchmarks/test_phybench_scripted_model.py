"""The scripted model of the physics problems: each kind of answer is graded as intended."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from pytest_llmeval import EedResult, Message, Reply, Request, eed_score
from pytest_llmeval.task.answers import boxed_first

FOLDER = Path(__file__).parents[2] / "fixtures" / "phybench"
SAMPLES: dict[int, dict[str, Any]] = {
    sample["id"]: sample for sample in yaml.safe_load((FOLDER / "samples.yaml").read_text("utf-8"))
}
ANSWERS: dict[int, dict[str, str]] = yaml.safe_load((FOLDER / "answers.yaml").read_text("utf-8"))

READINGS = {
    "same": "equivalent",
    "equivalent": "equivalent",
    "two_boxes": "equivalent",
    "coefficient": "coefficient",
    "sign": "coefficient",
    "two_boxes_wrong": "coefficient",
    "missing": "structural",
    "structure": "structural",
    "malformed": "unreadable",
    "no_box": "unreadable",
    "empty": "unreadable",
    "cut": "unreadable",
    "refusal": "unreadable",
}
STOP_REASONS = {"cut": "length", "refusal": "refusal"}


@pytest.fixture(scope="module")
def scripted() -> ModuleType:
    spec = importlib.util.spec_from_file_location("phybench_scripted", FOLDER / "scripted.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def asked(content: str) -> Request:
    return Request(
        provider="python",
        model="scripted",
        messages=(Message.of("user", f"Question: {content}\nAnswer:"),),
    )


def graded(reply: Reply, sample: dict[str, Any]) -> EedResult:
    return eed_score(boxed_first(reply.text), sample["answer"])


def test_the_script_answers_exactly_the_problems_there_are() -> None:
    assert ANSWERS.keys() == SAMPLES.keys()
    assert {script["kind"] for script in ANSWERS.values()} == READINGS.keys()


@pytest.mark.parametrize(
    "number", SAMPLES, ids=lambda number: f"{number}-{ANSWERS[number]['kind']}"
)
def test_an_answer_is_graded_as_its_kind_is_meant(scripted: ModuleType, number: int) -> None:
    kind = ANSWERS[number]["kind"]
    reply = scripted.reply(asked(SAMPLES[number]["content"]))
    result = graded(reply, SAMPLES[number])
    assert result.reading == READINGS[kind], result.reason
    assert result.equivalent is (result.score == 100)
    assert reply.stop_reason == STOP_REASONS.get(kind, "stop")


def test_between_55_and_60_percent_of_the_answers_are_right() -> None:
    right = [script for script in ANSWERS.values() if READINGS[script["kind"]] == "equivalent"]
    assert 0.55 <= len(right) / len(ANSWERS) <= 0.60


def test_the_published_mode_misses_some_right_answers_and_finds_no_wrong_one_right(
    scripted: ModuleType,
) -> None:
    missed, found_wrongly = 0, 0
    for number, sample in SAMPLES.items():
        right = READINGS[ANSWERS[number]["kind"]] == "equivalent"
        answer = boxed_first(scripted.reply(asked(sample["content"])).text)
        published = eed_score(answer, sample["answer"], mode="published").score == 100
        missed += right and not published
        found_wrongly += published and not right
    assert found_wrongly == 0
    assert 1 <= missed <= 10


def test_the_same_request_gets_the_same_reply(scripted: ModuleType) -> None:
    request = asked(SAMPLES[101]["content"])
    assert scripted.reply(request) == scripted.reply(request)
    assert scripted.reply(request).usage.reasoning_tokens > 0


def test_an_unknown_problem_gets_a_reply_without_a_formula(scripted: ModuleType) -> None:
    assert boxed_first(scripted.reply(asked("Why is the sky blue?")).text) is None
