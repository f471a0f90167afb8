"""The options of the scorer `judge`, and the scores that it gives by them."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scoring.judge.judges import Judges, saying

from pytest_llmeval.records import Completion, Reply, Sample, Score, display_of
from pytest_llmeval.scoring.grader import grader_text
from pytest_llmeval.scoring.judge.making import judge_scorer
from pytest_llmeval.scoring.judge.scorer import JudgeScorer
from pytest_llmeval.scoring.scorer import ScorerContext, score_names
from pytest_llmeval.task.declared import MisfitError, make_scorer
from pytest_llmeval.task.spec import Spec

SAMPLE = Sample(id="1", input="Say hi.", target="hi", metadata={"context": "c"})
CRITERIA = {"accuracy": "Is it true?", "style": "Is it clear?"}
OWN = "Rules\n\n---\n\n{{ input }}\n\n{{ candidate }}\n\nIs it good?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("task")
    (found / "judge.md").write_text(OWN)
    return found


def made(folder: Path, **options: Any) -> JudgeScorer:
    scorer = make_scorer(Spec(name="judge", options=options), folder)
    assert isinstance(scorer, JudgeScorer)
    return scorer


def scored(scorer: JudgeScorer, *replies: dict[str, Any], answer: str = "Hi!") -> Score:
    """Return the score that a judge leads to, whose replies are these objects in turn."""
    judges = Judges({"a": saying(*(Reply(text=json.dumps(one)) for one in replies))})
    completion = Completion(text=answer, answer=answer)
    context = cast("ScorerContext", judges)
    prepared = asyncio.run(scorer.prepare(SAMPLE, completion, context))
    return scorer.score(answer, SAMPLE, prepared)


def test_without_options_the_judge_asks_for_equivalence_as_ever(folder: Path) -> None:
    scorer = made(folder)
    assert scorer == JudgeScorer()
    assert re.fullmatch(
        r"judge/1 prompt 00895f1b prefilter/\d+ votes=1 by no judge", grader_text(scorer)
    )


@pytest.mark.parametrize(
    ("options", "place", "says"),
    [
        ({"prompt": "helpfulnes"}, "prompt", "did you mean 'helpfulness'?"),
        ({"prompt": 3}, "prompt", "is 3 (allowed: equivalence, published"),
        ({"prompt": "./absent.md"}, "", "absent.md: cannot be read"),
        ({"prompt": "./judge.md", "scale": [1, 5]}, "", "add the least one, such as minimum: 5"),
        ({"prompt": "./judge.md", "scale": [1, 5], "minimum": 6}, "", "must lie in the scale"),
        ({"prompt": "./judge.md", "scale": [True, 5], "minimum": 1}, "", "write verdict, [low"),
        ({"prompt": "./judge.md", "scale": "stars"}, "", "scale is 'stars'; write verdict, [low"),
        ({"prompt": "./judge.md", "scale": {"labels": ["a", "b"]}}, "", "add correct: [...]"),
        ({"prompt": "./judge.md", "scale": {"labels": ["a", 1], "correct": ["a"]}}, "", "write v"),
        ({"prompt": "./judge.md", "minimum": 3}, "", "there are no ratings; add scale: [1, 10]"),
        ({"prompt": "./judge.md", "prefilter": True}, "", "of the prompt equivalence alone"),
        ({"scale": [1, 5], "minimum": 4}, "", "the prompt equivalence asks for a verdict"),
        ({"prompt": "published", "criteria": CRITERIA}, "", "prompt published asks for a verdict"),
        ({"prompt": "./judge.md", "criteria": {"a": 1}}, "criteria", "valid string"),
        ({"prompt": "./judge.md", "criteria": {"reason": "why"}}, "", "'reason' cannot be"),
        ({"votes": 0}, "", "from 1 to 99"),
        ({"stars": 5}, "stars", "is not an option here"),
    ],
)
def test_options_that_do_not_fit_are_refused_with_the_fix(
    options: dict[str, Any], place: str, says: str, folder: Path
) -> None:
    with pytest.raises(MisfitError) as raised:
        made(folder, **options)
    assert says in raised.value.problem
    assert (raised.value.place[-1] == place) is bool(place)


OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "prompt": st.sampled_from(["./judge.md", "faithfulness", "instructions", "helpfulness"]),
        "scale": st.sampled_from(
            ["verdict", [1, 5], [0, 100], {"labels": ["a", "b"], "correct": ["a"]}]
        ),
        "minimum": st.sampled_from([1, 2.5, 4]),
        "criteria": st.just(CRITERIA),
        "votes": st.integers(1, 5),
        "prefilter": st.booleans(),
        "models": st.just(["openai/a", "openai/b"]),
    },
)


@given(OPTIONS)
def test_what_a_task_declares_can_be_made_again_from_the_scorer(
    folder: Path, options: dict[str, Any]
) -> None:
    try:
        scorer = made(folder, **options)
    except MisfitError:
        return
    name, again = scorer.spec
    assert json.loads(json.dumps(again)) == again
    assert make_scorer(Spec(name=name, options=again), Path("/elsewhere")) == scorer


def test_a_rating_is_the_value_and_correct_from_the_minimum_on(folder: Path) -> None:
    scorer = made(folder, prompt="./judge.md", scale=[1, 5], minimum=4, votes=2)
    found = scored(scorer, {"reason": "good", "rating": 5}, {"reason": "fair", "rating": 2})
    assert (found.value, found.scale, found.correct) == (3.5, 5, False)
    assert scorer.failure("Hi!", SAMPLE, found) == "judge: rated 3.5, and 4 is the least"
    assert grader_text(scorer).endswith(" votes=2 minimum=4 by no judge")


def test_the_built_in_rating_has_a_minimum_of_its_own_which_a_task_may_move(folder: Path) -> None:
    six = {"reason": "", "rating": 6}
    assert scored(made(folder, prompt="helpfulness"), six).correct is False
    assert scored(made(folder, prompt="helpfulness", minimum=6), six).correct is True


def test_a_label_stands_in_the_details_and_is_counted(folder: Path) -> None:
    scale = {"labels": ["polite", "rude"], "correct": ["polite"]}
    scorer = made(folder, name="tone", prompt="./judge.md", scale=scale)
    found = scored(scorer, {"reason": "", "label": "rude"})
    assert (found.value, found.correct, found.details["label"]) == (0.0, False, "rude")
    assert scorer.failure("Hi!", SAMPLE, found) == "tone: labelled 'rude', and correct is 'polite'"
    assert display_of(scorer).labels == {"label": {"polite": "polite", "rude": "rude"}}


def test_each_criterion_is_a_score_beside_the_judges_own(folder: Path) -> None:
    scorer = made(folder, prompt="./judge.md", scale=[1, 10], minimum=7, criteria=CRITERIA, votes=2)
    assert score_names(scorer) == ("judge", "judge.accuracy", "judge.style")
    found = scored(
        scorer,
        {"reason": "", "accuracy": 9, "style": 4},
        {"reason": "", "accuracy": 8, "style": 8},
    )
    assert (found.value, found.correct) == (7.25, True)
    further = scorer.further(found)
    assert [(one.name, one.value, one.scale) for one in further] == [
        ("judge.accuracy", 8.5, 10),
        ("judge.style", 6.0, 10),
    ]
    assert not any(one.decides for one in further)


def test_where_nothing_was_decided_there_is_no_score_of_a_criterion(folder: Path) -> None:
    scorer = made(folder, prompt="./judge.md", criteria=CRITERIA)
    found = scored(scorer, {"accuracy": 1})
    assert (found.value, found.correct, scorer.further(found)) == (None, None, ())


@pytest.mark.parametrize("answer", [None, "", " \n"])
def test_an_empty_answer_has_the_lowest_value_on_every_scale(
    folder: Path, answer: str | None
) -> None:
    rating = {"prompt": "./judge.md", "scale": [1, 10], "minimum": 7}
    rated = made(folder, **rating).score(answer, SAMPLE, None)
    assert (rated.value, rated.correct) == (1, False)
    rubric = made(folder, **rating, criteria=CRITERIA)
    score = rubric.score(answer, SAMPLE, None)
    assert [one.value for one in (score, *rubric.further(score))] == [1, 1, 1]
    assert JudgeScorer().score(answer, SAMPLE, None).value == 0


def test_only_equivalence_has_a_prefilter_and_equal_answers(folder: Path) -> None:
    assert JudgeScorer().prefilter
    assert JudgeScorer().same("1/2", "0.5", "")
    for name in ("published", "faithfulness", "instructions", "helpfulness"):
        scorer = made(folder, prompt=name)
        assert not scorer.prefilter
        assert scorer.same("1/2", "0.5", "") is (name == "published")
        assert "prefilter" not in scorer.grader


def test_a_maker_of_an_option_may_also_be_called_directly() -> None:
    assert judge_scorer() == JudgeScorer()
