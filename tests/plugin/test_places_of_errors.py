"""Errors of users' own functions name their line, and show no frames of this package."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

OWN = """
def reply(request):
    if "solver" == request.role:
        return "2"
    return {}["judge"]

def broken_reply(request):
    return {}["model"]

def solve(sample, context):
    return {}["solver"]

def grade(answer, sample):
    return {}["scorer"]

def rule(text):
    return {}["rule"]
"""
BODY = """
import pytest
from pytest_llmeval import assert_correct

@pytest.mark.llmeval("task.yaml")
def test_own(sample, completion):
    assert_correct(sample, completion)

def test_llm(llm):
    llm.generate("x", role="judge")

def test_role(llm):
    llm.generate("x", role="jugde")

def test_judge(judge):
    judge(problem="x", candidate="y", prompt="equivalance")

async def test_later(judge):
    await judge.ajudge(problem="x", candidate="y", prefilter=False)
"""
MODEL = ["--llmeval-model", "python/./own.py:reply"]
JUDGE = ["--llmeval-model", "judge=python/./own.py:reply"]


@pytest.fixture(autouse=True)
def _own(project: Project, quick_sessions: None) -> None:  # noqa: ARG001 - asked for its effect
    project.write("own.py", OWN)
    project.write("test_sums.py", BODY)
    project.write(
        "task.yaml",
        "name: own\ndataset: {path: data.jsonl, fields: {input: question, target: answer}}\n"
        'prompt: "{{ input }}"\nscorer: exact\n',
    )


@pytest.mark.parametrize(
    ("more", "line", "function"),
    [
        (["--llmeval-model", "python/./own.py:broken_reply"], 8, "broken_reply"),
        ([*MODEL, "--llmeval-set", "own.solver=./own.py:solve"], 11, "solve"),
        ([*MODEL, "--llmeval-set", "own.scorer=./own.py:grade"], 14, "grade"),
        ([*MODEL, "--llmeval-set", "own.answer=./own.py:rule"], 17, "rule"),
        ([*MODEL, *JUDGE, "--llmeval-set", "own.scorer={judge: {prefilter: false}}"], 5, "reply"),
    ],
    ids=["model", "solver", "scorer", "answer rule", "judge"],
)
def test_an_exception_of_a_users_function_names_its_line(
    project: Project, more: list[str], line: int, function: str
) -> None:
    result = project.run(*more, "--llmeval-limit", "1", "-k", "test_own", "-p", "no:xdist")
    shown = result.stdout.str()
    assert f"(own.py, line {line}, in {function})" in shown
    assert "pytest_llmeval/" not in shown
    assert "full-trace" not in shown


def test_an_error_of_the_fixtures_shows_the_line_of_the_body_alone(project: Project) -> None:
    result = project.run(*MODEL, *JUDGE, "-k", "not test_own", "-p", "no:xdist")
    shown = result.stdout.str()
    assert re.findall(r"^>  +(.*)", shown, re.MULTILINE) == [
        'llm.generate("x", role="judge")',
        'llm.generate("x", role="jugde")',
        'judge(problem="x", candidate="y", prompt="equivalance")',
        'await judge.ajudge(problem="x", candidate="y", prefilter=False)',
    ]
    assert "pytest_llmeval/" not in shown
    assert "role 'jugde': pass --llmeval-model jugde=SPEC (roles of this run: judge)" in shown
