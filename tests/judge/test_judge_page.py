"""The figures that docs/judge.md tells are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from pytest_llmeval.eed import eed_score
from pytest_llmeval.judge import decide_plainly

ROOT = Path(__file__).parents[2]


def test_the_page_tells_how_many_cases_need_no_judge() -> None:
    cases = yaml.safe_load((ROOT / "fixtures/geometry3k/judge_calibration.yaml").read_text("utf-8"))
    pairs = [(case["candidate"], case["target"]) for case in cases]
    by_number = sum(decide_plainly(*pair).decision != "undecided" for pair in pairs)
    by_sympy = sum(
        decide_plainly(*pair, equivalent=lambda *two: eed_score(*two).score == 100).decision != "undecided"
        for pair in pairs
    )
    page = re.sub(r"\s+", " ", (ROOT / "docs/judge.md").read_text("utf-8"))
    told = f"On the {len(pairs)} labelled cases of `fixtures/geometry3k/judge_calibration.yaml` it decides {by_number}"
    assert f"{told} ({by_number / len(pairs):.0%}".replace("%", " %") in page
    assert f"and {by_sympy} ({by_sympy / len(pairs):.0%}".replace("%", " %") in page
