"""The scorer `checks`: what a sample lists, partial credit, and what is told before a request."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from example_rows import row
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.records import Json, Sample, Score
from pytest_llmeval.results.metric import micro
from pytest_llmeval.scoring.decision import failure_of
from pytest_llmeval.task.checks import Checks
from pytest_llmeval.task.declared import MisfitError, make_scorer
from pytest_llmeval.task.registry import SCORERS
from pytest_llmeval.task.spec import Spec

OWN = """
def words(answer, sample, *, at_least: int = 0):
    return len(answer.split()) >= at_least

def half(answer, sample):
    from pytest_llmeval import Score
    return Score(name="half", value=None, correct=None)
"""


def sample(*checks: Json, target: Any = None) -> Sample:
    return Sample(id="1", input="?", target=target, metadata={"checks": list(checks)})


@pytest.fixture
def own(tmp_path: Path) -> Any:
    """Return the scorer with two kinds of checks of the task's own."""
    (tmp_path / "own.py").write_text(OWN)
    kinds: dict[str, Json] = {"words": "./own.py:words", "half": "./own.py:half"}
    return make_scorer(Spec(name="checks", options={"kinds": kinds}), tmp_path)


def scored(scorer: Any, answer: str | None, *checks: Json, target: Any = None) -> Score:
    asked = sample(*checks, target=target)
    scorer.check_sample(asked)
    found: Score = scorer.score(answer, asked, None)
    return found


LETTERS = st.sampled_from("abcd")


@given(
    answer=st.text("abcd", max_size=6),
    checks=st.lists(st.tuples(LETTERS, st.booleans()), min_size=1, max_size=6),
)
def test_the_value_is_the_share_of_passed_checks_and_all_make_it_correct(
    answer: str, checks: list[tuple[str, bool]]
) -> None:
    listed: list[Json] = [{"includes": {"target": one, "not": no}} for one, no in checks]
    score = scored(Checks(), answer, *listed)
    passed = sum((one in answer) is not no for one, no in checks)
    assert score.value == passed / len(checks)
    assert score.correct is (passed == len(checks))
    assert score.details == {"passed": passed, "checks": len(checks)}


def test_checks_of_one_kind_have_options_of_their_own(own: Any) -> None:
    score = scored(own, "one two", {"words": {"at_least": 2}}, {"words": {"at_least": 3}}, "words")
    assert (score.correct, score.value) == (False, 2 / 3)
    assert "2 of 3 checks passed\n2 words (at_least: 3): failed\n" in f"{score.explanation}\n"


def test_a_check_compares_with_its_own_target_or_the_samples() -> None:
    listed: list[Json] = ["number", {"includes": {"target": ["Rome", "about"]}}]
    assert scored(Checks(), "about 7", *listed, target="7").correct is True
    assert scored(Checks(), "about 8", *listed, target="7").value == 0.5
    assert scored(Checks(), '{"a": 1}', {"json_schema": {"schema": {"required": ["a"]}}}).correct


def test_without_a_target_a_failure_names_none(own: Any) -> None:
    asked = sample({"words": {"at_least": 9}})
    failure = failure_of(own, "a", asked, own.score("a", asked, None))
    assert failure == "checks: 'a' is not correct"


def test_no_answer_passes_nothing_and_an_undecided_check_leaves_it_open(own: Any) -> None:
    nothing = scored(own, None, {"words": {}}, "half")
    assert (nothing.value, nothing.correct, nothing.details["checks"]) == (0.0, False, 2)
    undecided = scored(own, "a", "words", "half")
    assert (undecided.value, undecided.correct) == (None, None)
    failed = scored(own, "a", {"words": {"at_least": 9}}, "half")
    assert (failed.value, failed.correct) == (0.0, False)


@pytest.mark.parametrize(
    ("checks", "says"),
    [
        ([], "metadata.checks is empty"),
        ([3], "metadata.checks[0] is 3; write a name"),
        (["words", {"a": {}, "b": {}}], "metadata.checks[1] is {'a'"),
        (["wrods"], "wrods: the task does not declare this kind of check (known: words, half"),
        (["./own.py:words"], "./own.py:words: the task does not declare"),
        (["os:remove"], "os:remove: the task does not declare"),
        (
            [{"words": {"at_most": 3}}],
            (
                "words.at_most: is not an option here (allowed: at_least); "
                "every check may have target and not"
            ),
        ),
        ([{"words": {"at_least": "3"}}], "words.at_least: is '3'"),
        (["json_schema"], "json_schema.schema: is missing"),
        ([{"regex": {"pattern": "("}}], "regex: "),
        (["exact"], "exact: there is no target; write it into the check: {exact: {target: TEXT}}"),
        ([{"number": {"target": "x"}}], "number: target 'x' is no number"),
        (["judge"], "judge: it is no check of an answer alone"),
        ([{"checks": {}}], "checks: it is no check"),
    ],
)
def test_a_wrong_check_is_told(checks: list[Json], says: str, own: Any) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        own.check_sample(sample(*checks))


@pytest.mark.parametrize("name", SCORERS.own)
def test_messages_name_the_scorers_that_can_be_checks(name: str) -> None:
    with pytest.raises(ValueError, match="does not declare") as unknown:
        Checks().check_sample(sample("nothing"))
    listed = str(unknown.value).partition("(known: ")[2].rstrip(")").split(", ")
    needed: dict[str, Json] = {"json_schema": {"schema": {}}, "regex": {"pattern": "a"}}
    options: Any = needed.get(name, {})
    try:
        Checks().check_sample(sample({name: {"target": "1", **options}}))
        can_be = True
    except ValueError as error:
        can_be = "it is no check of an answer alone" not in str(error)
    assert can_be == (name in listed)


def test_missing_checks_are_told_with_the_fix() -> None:
    with pytest.raises(ValueError, match="is missing; name its column in dataset"):
        Checks().check_sample(Sample(id="1", input="?", target="x"))
    with pytest.raises(ValueError, match=r"metadata.how is 'x', not a list"):
        Checks(column="how").check_sample(
            Sample(id="1", input="?", target="x", metadata={"how": "x"})
        )


@pytest.mark.parametrize("kinds", [["./own.py:words"], {"a": 1}, {"a": "./own.py:nothing"}])
def test_wrong_kinds_are_told(kinds: Json, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    with pytest.raises(MisfitError) as caught:
        make_scorer(Spec(name="checks", options={"kinds": kinds}), tmp_path)
    assert caught.value.place[:3] == ("scorer", "checks", "kinds")


def test_micro_weighs_checks_and_the_mean_weighs_samples() -> None:
    many = Score(name="checks", value=1.0, correct=True, details={"passed": 9, "checks": 9})
    few = Score(name="checks", value=0.0, correct=False, details={"passed": 0, "checks": 1})
    rows = [row("1", scores=(many,)), row("2", "incorrect", scores=(few,))]
    assert micro(rows) == 0.9
    assert micro(rows, "Checks") == 0.9
    assert micro([row()]) is None
