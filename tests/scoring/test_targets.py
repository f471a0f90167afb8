"""Targets of every form: several texts of which any is right, mappings, none."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Json, Sample, Score, Target, target_text, target_texts
from pytest_llmeval.results.targets import target_digest
from pytest_llmeval.scoring.assertions import assert_sldp_equal
from pytest_llmeval.scoring.choice import Choice
from pytest_llmeval.scoring.exact import Exact
from pytest_llmeval.scoring.function import FunctionScorer
from pytest_llmeval.scoring.includes import Includes
from pytest_llmeval.scoring.json_schema import JsonSchema
from pytest_llmeval.scoring.number import Number
from pytest_llmeval.scoring.pddl.scorer import PddlScorer
from pytest_llmeval.scoring.regex import Regex
from pytest_llmeval.scoring.scorer import Scorer
from pytest_llmeval.scoring.sldp.scorer import SldpScorer
from pytest_llmeval.scoring.targets import check_target, score_of
from pytest_llmeval.scoring.votes import same_answer

TEXTS: dict[str, tuple[Scorer, list[str]]] = {
    "exact": (Exact(), ["Paris", "Rome", "the city of Oslo"]),
    "includes": (Includes(), ["Paris", "Rome", "Oslo"]),
    "regex": (Regex(full=True), ["Pa.*", "Ro.*", "Os[l]o"]),
    "number": (Number(), ["1", "2.50", "3 km"]),
    "choice": (Choice(), ["A", "B", "(c)"]),
    "sldp": (SldpScorer(), ["<A, B>", "7", "[1, 2]"]),
    "pddl": (PddlScorer(), ["(and (p a) (p b))", "(not (p a))", "(p b)"]),
}
ANSWERS = [None, "", "Paris", "Rome", "1", "2.5", "3000 m", "A", "C", "<b, a>", "7", "(p b)"]
MAPPING: dict[str, Json] = {"city": "Paris", "people": 2}


def sample(target: Target) -> Sample:
    return Sample(id="1", input="?", target=target)


@pytest.mark.parametrize("name", TEXTS)
@settings(deadline=None)
@given(data=st.data())
def test_of_several_texts_the_best_score_counts(name: str, data: st.DataObject) -> None:
    scorer, texts = TEXTS[name]
    target = tuple(data.draw(st.lists(st.sampled_from(texts), min_size=1, max_size=3)))
    answer = data.draw(st.sampled_from(ANSWERS))
    check_target(scorer, target)
    found = score_of(scorer, answer, sample(target), None)
    alone = [scorer.score(answer, sample(text), None) for text in target]
    assert found in alone
    assert bool(found.correct) == any(one.correct for one in alone)
    assert found.value == max(one.value or 0.0 for one in alone)


def test_an_undecided_text_keeps_an_answer_from_being_incorrect() -> None:
    class Half:
        name, grader, scale = "half", "half/1", 1.0

        def check(self, target: str) -> None:
            pass

        def score(self, answer: str | None, sample: Sample, prepared: Json) -> Score:  # noqa: ARG002
            correct = None if sample.target == "open" else sample.target == answer
            value = None if correct is None else float(correct)
            return Score(name="half", value=value, correct=correct)

    for target in (("open", "no"), ("no", "open")):
        assert score_of(Half(), "yes", sample(target), None).correct is None
    assert score_of(Half(), "yes", sample(("open", "yes")), None).correct is True


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("target", [None, MAPPING])
def test_a_scorer_of_texts_refuses_other_targets_with_the_fix(name: str, target: Target) -> None:
    scorer, _ = TEXTS[name]
    with pytest.raises(ValueError, match=f"the scorer '{scorer.name}' compares with a text; name"):
        check_target(scorer, target)


UNUSABLE = {"number": "one", "choice": "Z", "sldp": "<", "pddl": "(", "regex": "("}


@pytest.mark.parametrize("name", UNUSABLE)
def test_each_text_of_a_list_is_checked(name: str) -> None:
    scorer, texts = TEXTS[name]
    check_target(scorer, tuple(texts))
    with pytest.raises(ValueError, match=r"\S"):
        check_target(scorer, (texts[0], UNUSABLE[name]))


@pytest.mark.parametrize("target", ["text", ("a", "b"), MAPPING, None])
def test_a_function_gets_every_target_as_it_is(target: Target) -> None:
    seen: list[Any] = []

    def mine(answer: str | None, sample: Sample) -> bool:  # noqa: ARG001
        seen.append(sample.target)
        return True

    scorer = FunctionScorer(function=mine, name="mine", grader="./s.py:mine")
    check_target(scorer, target)
    assert score_of(scorer, "a", sample(target), None).correct
    assert seen == [target]


def test_json_is_compared_with_a_mapping() -> None:
    scorer = JsonSchema(schema={"type": "object"}, equal=True)
    check_target(scorer, MAPPING)
    right, wrong = '{"people": 2.0, "city": "Paris"}', '{"city": "Paris"}'
    assert score_of(scorer, right, sample(MAPPING), None).correct
    assert not score_of(scorer, wrong, sample(MAPPING), None).correct
    with pytest.raises(ValueError, match="does not fit the schema"):
        check_target(JsonSchema(schema={"maxProperties": 1}, equal=True), MAPPING)


@pytest.mark.parametrize("target", [None, MAPPING, ("a", "b")])
def test_a_scorer_that_compares_with_no_target_needs_none(target: Target) -> None:
    for scorer in (JsonSchema(schema={}), Regex(pattern="[0-9]+")):
        check_target(scorer, target)
        assert score_of(scorer, "12", sample(target), None).correct


def test_answers_are_one_vote_by_any_of_the_texts() -> None:
    same = same_answer(Number())
    assert same("1 km", "1000 m", ("7 s", "5 km"))
    assert not same("1 km", "1001 m", ("7 s", "5 km"))


def test_an_assertion_takes_several_solutions() -> None:
    assert assert_sldp_equal("<b, a>", ("7", "<A, B>")).correct
    with pytest.raises(AssertionError):
        assert_sldp_equal("8", ("7", "<A, B>"))
    with pytest.raises(UsageError, match="the target is a mapping"):
        assert_sldp_equal("8", MAPPING)


TARGETS: st.SearchStrategy[Target] = st.one_of(
    st.none(),
    st.text(max_size=5),
    st.lists(st.text(max_size=3), min_size=1, max_size=3).map(tuple),
    st.dictionaries(st.text(max_size=3), st.integers(0, 3), max_size=3),
)


@given(one=TARGETS, other=TARGETS)
def test_targets_survive_json_and_their_digests_tell_them_apart(one: Target, other: Target) -> None:
    assert Sample.from_json(sample(one).to_json()).target == one
    assert (target_digest(one) == target_digest(other)) == (one == other)
    assert target_digest(target_digest(one)) == target_digest(one)


def test_a_target_as_one_text() -> None:
    assert [target_text(one) for one in (None, "a", ("a", "b"), ("a\nb", "c"))] == [
        "",
        "a",
        "a or b",
        "a\nb\nor\nc",
    ]
    assert target_text({"a": ["é"]}) == '{"a": ["é"]}'
    assert target_texts(None) == ("",)
