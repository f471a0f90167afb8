"""Answers by another hand, written from docs/scorers.md alone."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_llmeval import Sample
from pytest_llmeval.task import options
from pytest_llmeval.task.registry import SCORERS

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "data" / "outsider.yaml").read_text("utf-8")
)


def params() -> list[Any]:
    """Return one parameter a case; those that are known to come out otherwise must fail."""
    return [
        pytest.param(
            case,
            id=f"{case['scorer']}-{number}",
            marks=[pytest.mark.xfail(reason=case["known"], raises=AssertionError, strict=True)]
            if "known" in case
            else [],
        )
        for number, case in enumerate(CASES, 1)
    ]


@pytest.mark.parametrize("case", params())
def test_an_answer_is_scored_as_the_page_says(case: dict[str, Any]) -> None:
    scorer = options.build(SCORERS.load(case["scorer"], Path()), case.get("options", {}), Path())
    result = scorer.score(case["answer"], Sample(id="x", input="", target=case["target"]), None)
    said = "correct" if result.value == 1 else "incorrect"
    assert said == case["expected"], f"{case['why']}: {result.explanation}"
