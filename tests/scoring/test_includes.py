"""The scorer `includes`."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scoring.corpora import corpus, scored

from pytest_llmeval.scoring.includes import Includes


@pytest.mark.parametrize("case", corpus("includes"))
def test_targets_are_found_as_the_options_say(case: dict[str, Any]) -> None:
    score = scored(Includes(**case.get("options", {})), case["answer"], case["target"])
    assert score.correct is case["expected"], score.explanation


@given(st.text("ab .", max_size=9), st.text("abc", min_size=1), st.text("ab .", max_size=9))
def test_a_target_with_anything_around_it_is_included(before: str, target: str, after: str) -> None:
    assert scored(Includes(), before + target + after, target).correct


def test_a_blank_target_is_refused() -> None:
    with pytest.raises(ValueError, match="occurs in every answer"):
        Includes().check(" \n")
