"""The scorer `exact`."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scoring.corpora import corpus, scored

from pytest_llmeval.scoring.exact import Exact
from pytest_llmeval.scoring.scorer import NO_ANSWER


@pytest.mark.parametrize("case", corpus("exact"))
def test_texts_are_compared_as_the_options_say(case: dict[str, Any]) -> None:
    score = scored(Exact(**case.get("options", {})), case["answer"], case["target"])
    assert score.correct is case["expected"], score.explanation


@given(st.text(min_size=1).filter(lambda text: text.strip()))
def test_every_text_equals_itself(text: str) -> None:
    assert scored(Exact(), text, text).correct


def test_no_answer_is_incorrect() -> None:
    score = scored(Exact(name="match"), None, "Paris")
    assert (score.name, score.value, score.correct) == ("match", 0.0, False)
    assert (score.explanation, score.grader) == (NO_ANSWER, "exact/1")


@pytest.mark.parametrize(("target", "options"), [(" ", {}), ("...", {"ignore_punctuation": True})])
def test_a_target_of_which_nothing_is_left_is_refused(target: str, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="is empty under these options"):
        Exact(**options).check(target)
