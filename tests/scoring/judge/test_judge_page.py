"""The figures and the example of docs/judge.md are those of the code."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_llmeval.scoring.judge import decide_plainly
from pytest_llmeval.session.labelled_cases import read_cases

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[3]


def test_the_page_states_how_many_cases_need_no_judge() -> None:
    cases = read_cases(ROOT / "fixtures/geometry3k/judge_validation.yaml")
    decisions = [decide_plainly(case.answer, case.sample.target).decision for case in cases]
    decided = len(decisions) - decisions.count("undecided")
    page = re.sub(r"\s+", " ", (ROOT / "docs/judge.md").read_text("utf-8"))
    file = "fixtures/geometry3k/judge_validation.yaml"
    share = f"{decided / len(cases):.0%}".replace("%", " %")
    assert f"On the {len(cases)} labelled cases of `{file}` it decides {decided} ({share})" in page


JUDGE = """
def reply(request):
    right = "times the root of 221" in request.messages[-1].text
    reason = "the same" if right else "another value"
    return '{"answer_correct": %d, "reason": "%s"}' % (right, reason)
"""


def test_the_example_without_a_task_file_runs_as_it_stands(pytester: pytest.Pytester) -> None:
    example = re.search(
        r"```python\n(.*?)```", (ROOT / "docs/judge.md").read_text("utf-8"), re.DOTALL
    )
    assert example is not None
    pytester.makepyfile(test_example=example[1], judge=JUDGE)
    arguments = ("-p", "pytest_llmeval.plugin", "--llmeval-judge", "python/./judge.py:reply")
    pytester.runpytest_subprocess(*arguments).assert_outcomes(passed=3)


def test_the_page_states_how_many_of_the_labelled_pairs_need_no_judge() -> None:
    file = "tests/scoring/judge/prefilter_pairs.jsonl"
    pairs = [json.loads(line) for line in (ROOT / file).read_text("utf-8").splitlines()]
    decisions = [decide_plainly(pair["answer"], pair["target"]).decision for pair in pairs]
    decided = len(decisions) - decisions.count("undecided")
    page = re.sub(r"\s+", " ", (ROOT / "docs/judge.md").read_text("utf-8"))
    told = f"Of {len(pairs)} pairs that another hand wrote to mislead it (`{file}`) it decides"
    assert f"{told} {decided}," in page
