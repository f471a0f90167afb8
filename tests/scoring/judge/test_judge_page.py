"""The figures and the example of docs/judge.md are those of the code."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from pytest_llmeval.records import Sample
from pytest_llmeval.scoring.judge import decide_plainly
from pytest_llmeval.scoring.judge.built_in import BUILT_IN
from pytest_llmeval.scoring.judge.scorer import JudgeScorer
from pytest_llmeval.scoring.scorer import score_names
from pytest_llmeval.session.labelled_cases import read_cases
from pytest_llmeval.task.declared import make_scorer
from pytest_llmeval.task.spec import Spec

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/judge.md").read_text("utf-8")


def test_the_page_states_how_many_cases_need_no_judge() -> None:
    cases = read_cases(ROOT / "fixtures/geometry3k/judge_validation.yaml")
    decisions = [decide_plainly(case.answer, case.sample.target_text).decision for case in cases]
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


def block(language: str, holding: str) -> str:
    """Return the block of the page in a language that holds a text."""
    blocks = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    [found] = [one for one in blocks if holding in one]
    return str(found)


def test_the_example_of_a_prompt_and_a_rubric_asks_what_it_says(tmp_path: Path) -> None:
    (tmp_path / "judge.md").write_text(block("text", "{{ candidate }}"))
    [(name, options)] = yaml.safe_load(block("yaml", "./judge.md"))["scorer"].items()
    scorer = make_scorer(Spec(name=name, options=options), tmp_path)
    assert isinstance(scorer, JudgeScorer)
    assert score_names(scorer) == ("judge", "judge.accuracy", "judge.style")
    sample = Sample(
        id="1",
        input="When do I water it?",
        target="",
        tags=("water", "cacti"),
        metadata={"facts": "It is a cactus."},
    )
    rules, question = scorer.prompt.messages(sample, "Every day.")
    assert rules.text.startswith("You rate advice to gardeners.")
    assert "- style: Is it short, and clear to a beginner?" in rules.text
    assert question.text.startswith("Question, about water and cacti:\nWhen do I water it?\n")
    assert "\nEvery day.\nCANDIDATE-" in question.text


def test_the_page_lists_every_built_in_prompt_with_its_scale() -> None:
    rows = re.findall(
        r"^\| `(\w+)`(?: \(default\))? \| .* \| ([^|]*) \| [^|]* \|$", PAGE, re.MULTILINE
    )
    scales = {name: scale for name, scale in rows if name in BUILT_IN}
    assert list(scales) == list(BUILT_IN)
    for name, scale in scales.items():
        own = BUILT_IN[name].scale.options
        assert scale.startswith(str(own["scale"]))
        assert ("minimum" in own) is (f"from {own.get('minimum')} on" in scale)


def test_the_page_states_how_many_of_the_labelled_pairs_need_no_judge() -> None:
    file = "tests/scoring/judge/prefilter_pairs.jsonl"
    pairs = [json.loads(line) for line in (ROOT / file).read_text("utf-8").splitlines()]
    decisions = [decide_plainly(pair["answer"], pair["target"]).decision for pair in pairs]
    decided = len(decisions) - decisions.count("undecided")
    page = re.sub(r"\s+", " ", (ROOT / "docs/judge.md").read_text("utf-8"))
    told = f"Of {len(pairs)} pairs that another hand wrote to mislead it (`{file}`) it decides"
    assert f"{told} {decided}," in page
