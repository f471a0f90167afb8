"""Each error of ours is itself again in another process."""

from __future__ import annotations

import json

import pytest

from pytest_llmeval import errors
from pytest_llmeval.errors import LLMEvalError, TaskError
from pytest_llmeval.records.error_json import error_from_json, error_to_json

CLASSES = [
    one
    for one in vars(errors).values()
    if isinstance(one, type) and issubclass(one, LLMEvalError) and one is not TaskError
]


def crossed(error: BaseException) -> LLMEvalError:
    return error_from_json(json.loads(json.dumps(error_to_json(error), allow_nan=False)))


@pytest.mark.parametrize("kind", CLASSES)
def test_every_class_is_itself_on_the_other_side(kind: type[LLMEvalError]) -> None:
    again = crossed(kind("what was wrong"))
    assert type(again) is kind
    assert str(again) == "what was wrong"
    assert vars(again) == vars(kind("what was wrong"))


def test_a_tasks_error_keeps_its_place() -> None:
    error = TaskError("is wrong", file="task.yaml", line=3, key="name")
    again = crossed(error)
    assert type(again) is TaskError
    assert str(again) == str(error)
    assert (again.file, again.line, again.key) == ("task.yaml", 3, "name")
