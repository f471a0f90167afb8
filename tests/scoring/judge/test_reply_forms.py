"""A reply is usable exactly if it is the demanded object, on every scale."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.records import Verdict
from pytest_llmeval.scoring.judge.label_scale import LabelScale
from pytest_llmeval.scoring.judge.rating_scale import RatingScale
from pytest_llmeval.scoring.judge.rubric import Rubric
from pytest_llmeval.scoring.judge.scale import Scale
from pytest_llmeval.scoring.judge.verdict_scale import VerdictScale

VERDICT = VerdictScale()
RATING = RatingScale(low=1, high=10, minimum=7)
LABELS = LabelScale(labels=("supported", "contradicted", "not told"), correct=("supported",))
CRITERIA = (("accuracy", "Is it true?"), ("style", "Is it clear?"))
RATED = Rubric(wanted=CRITERIA, scale=RATING)
HELD = Rubric(wanted=CRITERIA, scale=VERDICT)
SCALES: tuple[Scale, ...] = (VERDICT, RATING, LABELS, RATED, HELD)

ANY_SCALE = st.sampled_from(SCALES)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 12),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([*LABELS.labels, "Supported", "supported ", "1", "7", ""]),
    st.text(),
)
VALUES = st.one_of(SCALARS, st.lists(SCALARS, max_size=2), st.dictionaries(st.text(), SCALARS))


def allowed(scale: Scale, key: str) -> list[Any]:
    """Return the values that the JSON schema allows for a key."""
    schema: Any = scale.properties[key]
    return [*schema["enum"]] if "enum" in schema else ["", "because", '{"answer_correct": 1}']


def demanded(scale: Scale) -> st.SearchStrategy[dict[str, Any]]:
    """Return objects that the JSON schema describes, their keys in any order."""
    whole = st.fixed_dictionaries(
        {key: st.sampled_from(allowed(scale, key)) for key in scale.properties}
    )
    return whole.flatmap(lambda one: st.permutations([*one.items()])).map(dict)


def is_demanded(scale: Scale, data: object) -> bool:
    """Whether a value is the demanded object, told by the rules alone."""
    if not isinstance(data, dict) or data.keys() != scale.properties.keys():
        return False
    for key, value in data.items():
        if key == "reason":
            if not isinstance(value, str):
                return False
        elif not any(type(value) is type(one) and value == one for one in allowed(scale, key)):
            return False
    return True


@given(ANY_SCALE.flatmap(lambda scale: st.tuples(st.just(scale), demanded(scale))), st.data())
def test_the_demanded_object_is_usable_with_white_space_or_a_fence_around_it(
    case: tuple[Scale, dict[str, Any]], data: st.DataObject
) -> None:
    scale, found = case
    text = json.dumps(found, indent=data.draw(st.sampled_from([None, 1])))
    frames = [
        "{}",
        " \n{}\r\n\t",
        "\ufeff{}",
        "```json\n{}\n```",
        "```\n{}\n```\n",
        "```JSON \n{}\n  ```",
    ]
    verdict = scale.read(data.draw(st.sampled_from(frames)).replace("{}", text, 1))
    assert verdict is not None
    assert verdict.reason == found["reason"]
    assert set(verdict.criteria) == set(scale.criteria)


@given(ANY_SCALE, st.dictionaries(st.sampled_from([*CRITERIA[0], *CRITERIA[1]]), VALUES), st.data())
def test_an_object_is_usable_exactly_if_it_is_the_demanded_one(
    scale: Scale, changes: dict[str, Any], data: st.DataObject
) -> None:
    found = data.draw(demanded(scale))
    keys = [*scale.properties, *changes]
    for key in data.draw(st.lists(st.sampled_from(keys), max_size=2, unique=True)):
        match data.draw(st.sampled_from(["drop", "change", "rename", "leave"])):
            case "drop":
                found.pop(key, None)
            case "change":
                found[key] = data.draw(VALUES)
            case "rename":
                found[key.upper()] = found.pop(key, 1)
    verdict = scale.read(json.dumps(found))
    assert (verdict is not None) is is_demanded(scale, found)


@given(ANY_SCALE, VALUES)
def test_what_is_no_object_is_no_verdict(scale: Scale, value: Any) -> None:
    for one in (value, [value]):
        assert (scale.read(json.dumps(one)) is not None) is is_demanded(scale, one)


@given(ANY_SCALE, st.text())
def test_no_text_raises(scale: Scale, text: str) -> None:
    found = scale.read(text)
    assert found is None or isinstance(found, Verdict)


@given(
    ANY_SCALE.flatmap(lambda scale: st.tuples(st.just(scale), demanded(scale))),
    st.text(min_size=1).filter(lambda text: bool(text.strip("\ufeff \t\r\n"))),
    st.sampled_from(["before", "behind", "both"]),
)
def test_any_word_around_the_object_spoils_it(
    case: tuple[Scale, dict[str, Any]], word: str, where: str
) -> None:
    scale, found = case
    text = json.dumps(found)
    before, behind = where in ("before", "both"), where in ("behind", "both")
    assert scale.read(f"{word if before else ''}{text}{word if behind else ''}") is None


@given(
    ANY_SCALE.flatmap(lambda scale: st.tuples(st.just(scale), demanded(scale), demanded(scale))),
    st.sampled_from(["", "\n", " ", ","]),
)
def test_two_objects_are_no_verdict_and_neither_is_a_key_that_comes_twice(
    case: tuple[Scale, dict[str, Any], dict[str, Any]], between: str
) -> None:
    scale, one, other = case
    assert scale.read(json.dumps(one) + between + json.dumps(other)) is None
    assert scale.read(f"{json.dumps(one)[:-1]}, {json.dumps(other)[1:]}") is None


@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: type(scale).__name__)
def test_the_judge_is_told_every_key_of_the_schema_and_the_schema_allows_no_other(
    scale: Scale,
) -> None:
    form = scale.form("it is right")
    for key in scale.properties:
        assert f'"{key}": ' in form
    assert form.startswith("Reply with exactly one JSON object and nothing before or after it:\n{")


def test_every_scale_says_what_is_correct() -> None:
    def read(scale: Scale, **found: object) -> tuple[object, ...]:
        verdict = scale.read(json.dumps({"reason": "", **found}))
        assert verdict is not None
        return verdict.correct, verdict.value, verdict.label, dict(verdict.criteria)

    assert read(VERDICT, answer_correct=1) == (True, None, None, {})
    assert read(RATING, rating=7) == (True, 7, None, {})
    assert read(RATING, rating=6) == (False, 6, None, {})
    assert read(LABELS, label="supported") == (True, None, "supported", {})
    assert read(LABELS, label="not told") == (False, None, "not told", {})
    both = {"accuracy": 8, "style": 6}
    assert read(RATED, accuracy=8, style=6) == (True, 7, None, both)
    assert read(RATED, accuracy=8, style=5) == (False, 6.5, None, {**both, "style": 5})
    assert read(HELD, accuracy=1, style=1) == (True, 1, None, {"accuracy": 1, "style": 1})
    assert read(HELD, accuracy=1, style=0) == (False, 0.5, None, {"accuracy": 1, "style": 0})


def test_the_labels_of_a_user_may_be_any_text() -> None:
    label = 'so "so" \\ é'
    scale = LabelScale(labels=(label, "no"), correct=(label,))
    assert json.dumps(label, ensure_ascii=False) in scale.form("")
    verdict = scale.read(json.dumps({"reason": "", "label": label}))
    assert verdict is not None
    assert verdict.label == label
