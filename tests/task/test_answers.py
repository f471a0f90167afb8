"""Answers in model texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_llmeval.task.answers import RULES, boxed_first

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "cases" / "answers.yaml").read_text()
)
MEGABYTE = 1_000_000
HOSTILE = {
    "boxes-never-closed": "\\boxed{" * (MEGABYTE // 7),
    "boxes-in-boxes": "\\boxed{" * (MEGABYTE // 8) + "x" + "}" * (MEGABYTE // 8),
    "boxes-in-spaced-boxes": "\\boxed{ " * (MEGABYTE // 10) + "x" + "} " * (MEGABYTE // 10),
    "boxes-in-a-row": "\\boxed{x}" * (MEGABYTE // 9),
    "backslashes": "\\" * MEGABYTE,
    "boxes-without-braces": ("\\boxed" + " " * 94) * (MEGABYTE // 100),
    "one-box-and-blanks": "\\boxed" + " " * MEGABYTE,
    "braces": "{" * MEGABYTE,
    "tags-never-closed": "<answer>" * (MEGABYTE // 8),
    "half-tags": "<answer " * (MEGABYTE // 8),
    "half-a-tag-and-blanks": "<answer" + " " * MEGABYTE,
    "an-answer-and-blanks": "the answer" + " " * MEGABYTE + "!",
    "blank-lines": " \n" * (MEGABYTE // 2),
    "fences": "```\n" * (MEGABYTE // 4),
    "fences-of-other-lengths": "".join("`" * n + "\n" for n in range(3, 1_400)),
    "one-long-fence": "`" * (MEGABYTE // 2) + "\n" + "```\n" * (MEGABYTE // 8),
    "fences-never-closed": "```x\n~~~\n" * (MEGABYTE // 9),
}


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case['how']}-{case['name']}".replace(" ", "-")
)
def test_answers_are_found_by_their_rule(case: dict[str, Any]) -> None:
    assert RULES[case["how"]](case["text"]) == case["answer"]


# Quadratic work on these would take minutes each; the limit is far above what linear work needs.
@pytest.mark.timeout(20)
@pytest.mark.parametrize("how", list(RULES))
@pytest.mark.parametrize("text", list(HOSTILE.values()), ids=list(HOSTILE))
def test_a_megabyte_of_malice_is_read_in_linear_time(how: str, text: str) -> None:
    answer = RULES[how](text)
    assert answer is None or answer in text


def test_a_box_filled_by_boxes_to_any_depth_gives_its_core() -> None:
    assert boxed_first(HOSTILE["boxes-in-spaced-boxes"]) == "x"
