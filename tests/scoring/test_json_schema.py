"""The scorer `json_schema`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scoring.corpora import corpus, scored

from pytest_llmeval.scoring.json_schema import JsonSchema
from pytest_llmeval.task.options import build

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["age"],
    "properties": {
        "age": {"type": "integer", "minimum": 0},
        "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    },
    "patternProperties": {"^co": {"pattern": "^[A-Z]+[0-9]$"}},
}
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@pytest.mark.parametrize("case", corpus("json_schema"))
def test_answers_are_validated(case: dict[str, Any]) -> None:
    scorer = JsonSchema(schema=SCHEMA, **case.get("options", {}))
    score = scored(scorer, case["answer"], case["target"])
    assert score.correct is case["expected"], score.explanation


def test_a_violation_is_named_by_its_path() -> None:
    score = scored(JsonSchema(schema=SCHEMA), '{"age": 5, "tags": ["a", 1]}', "")
    assert score.explanation == "$.tags[1]: 1 is not of type 'string'"


@given(VALUES)
def test_every_value_equals_itself(value: Any) -> None:
    assert scored(
        JsonSchema(schema={}, equal=True), json.dumps(value, indent=2), json.dumps(value)
    ).correct


def test_a_schema_is_read_from_a_file_beside_the_task(tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    scorer = build(JsonSchema, {"schema": "schema.json"}, tmp_path)
    assert scored(scorer, '{"age": 5}', "").correct


def test_a_schema_in_the_task_is_taken_as_it_is(tmp_path: Path) -> None:
    scorer = build(JsonSchema, {"schema": SCHEMA, "equal": False}, tmp_path)
    assert scored(scorer, '{"age": 5}', "").correct


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nothing"},
        {"minimum": "5"},
        {"$ref": "#/$defs/missing"},
        {"$ref": "https://example.invalid/schema.json"},
        {"$ref": "#"},
        {"items": {"$ref": "file:///etc/passwd"}},
    ],
)
def test_what_is_no_schema_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="schema"):
        JsonSchema(schema=schema)


def test_a_schema_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"none\.json cannot be read"):
        JsonSchema(schema=tmp_path / "none.json")


def test_a_recursive_schema_validates() -> None:
    schema = {"type": "array", "items": {"$ref": "#"}}
    assert scored(JsonSchema(schema=schema), "[[], [[]]]", "").correct
    assert not scored(JsonSchema(schema=schema), "[[], [1]]", "").correct


@pytest.mark.parametrize("target", ["{", '{"age": -1}'])
def test_a_target_that_no_answer_could_equal_is_refused(target: str) -> None:
    with pytest.raises(ValueError, match="target"):
        JsonSchema(schema=SCHEMA, equal=True).check(target)


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "answer",
    [
        "[" * 100_000,
        "[" * 90 + "]" * 90,
        '{"a":' * 100_000,
        "9" * 500_000,
        '"' + "\\" * 900_000,
        "[" + "{}," * 100_000 + "{}]",
        '"' + "a" * 200 + '!"',
        "```\n" * 100_000,
        "x" * 2_000_000,
    ],
    ids=["lists", "deep", "objects", "digits", "escapes", "many", "pattern", "fences", "long"],
)
def test_malice_is_refused_within_the_limits(answer: str) -> None:
    schema = {"pattern": "^(a|aa)+$", "uniqueItems": True, "maxItems": 0}
    assert scored(JsonSchema(schema=schema), answer, "").correct is False
