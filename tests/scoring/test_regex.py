"""The scorer `regex`."""

from __future__ import annotations

from typing import Any

import pytest
from scoring.corpora import corpus, scored

from pytest_llmeval.scoring.regex import Regex


@pytest.mark.parametrize("case", corpus("regex"))
def test_answers_match_as_the_options_say(case: dict[str, Any]) -> None:
    score = scored(Regex(**case.get("options", {})), case["answer"], case["target"])
    assert score.correct is case["expected"], score.explanation


@pytest.mark.parametrize(
    "pattern", ["(a", "[a-", "a{5,2}", "(" * 5000 + ")" * 5000, "", "a" * 10_001]
)
def test_what_is_no_pattern_is_refused_with_the_target_and_with_the_options(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"no regular expression|the pattern"):
        Regex().check(pattern)
    with pytest.raises(ValueError, match=r"no regular expression|the pattern"):
        Regex(pattern=pattern)


# Without the limit each would take hours; three CPU seconds are what a loaded machine makes of one.
@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    ("pattern", "answer"),
    [
        (r"(a|aa)+$", "a" * 200 + "!"),
        (r"(a|b|ab)*c", "ab" * 5000),
        (r"\s+$", " " * 1_000_000 + "x"),
    ],
)
def test_a_match_without_end_is_cut_off_and_incorrect(pattern: str, answer: str) -> None:
    score = scored(Regex(), answer, pattern)
    assert score.correct is False
