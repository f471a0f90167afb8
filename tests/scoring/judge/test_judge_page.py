"""The figures and the example of docs/judge.md are those of the code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_llmeval.scoring.judge import decide_plainly
from pytest_llmeval.session.calibrating import decide_cases
from pytest_llmeval.session.labelled_cases import read_cases

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[3]


def test_the_page_states_how_many_cases_need_no_judge() -> None:
    cases = read_cases(ROOT / "fixtures/geometry3k/judge_calibration.yaml")
    pairs = [(case.candidate, case.target) for case in cases]
    by_number = sum(decide_plainly(*pair).decision != "undecided" for pair in pairs)
    # as in a run: formulas are compared in a child
    decisions = [one.decision for one in decide_cases(cases)]
    decided = [
        (case.equivalent, decision == "equal")
        for case, decision in zip(cases, decisions, strict=True)
        if decision != "undecided"
    ]
    by_sympy = len(decided)
    assert all(label is equal for label, equal in decided)
    page = re.sub(r"\s+", " ", (ROOT / "docs/judge.md").read_text("utf-8"))
    file = "fixtures/geometry3k/judge_calibration.yaml"
    sentence = f"On the {len(pairs)} labelled cases of `{file}` it decides {by_number}"
    assert f"{sentence} ({by_number / len(pairs):.0%}".replace("%", " %") in page
    assert f"and {by_sympy} ({by_sympy / len(pairs):.0%}".replace("%", " %") in page


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
