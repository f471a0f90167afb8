from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from example_rows import eed, row
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.records import Json, Outcome, Row, Usage
from pytest_llmeval.results.baseline import Baseline, baseline_of, read_baseline, write_baseline
from pytest_llmeval.results.compare import compare
from pytest_llmeval.results.gate_file import parse_gate
from pytest_llmeval.results.gate_result import GateResult, RuleResult
from pytest_llmeval.results.regression import check_against
from pytest_llmeval.results.store import RunFolder
from pytest_llmeval.results.summarise import summarise
from pytest_llmeval.results.task_info import TaskInfo


def run(correct: int, wrong: int, *, lost: int = 0, **fields: Any) -> list[Row]:
    """Return a run of so many right and wrong formulas; `lost` of the right ones are wrong."""
    outcomes: list[Outcome] = [
        "correct" if lost <= i < correct else "incorrect" for i in range(correct + wrong)
    ]
    return [
        row(f"{i:04}", outcome, scores=eed(100 if outcome == "correct" else 20), **fields)
        for i, outcome in enumerate(outcomes)
    ]


def baseline(rows: Sequence[Row]) -> Baseline:
    return baseline_of("then", rows, summarise(rows, {}))


def judged(text: str, before: Sequence[Row], after: Sequence[Row]) -> GateResult:
    gate, then = parse_gate(text, "gates.yaml"), baseline(before)
    return check_against(
        gate,
        summarise(after, {}),
        then,
        compare(then.rows, after, confidence=1 - gate.significance),
    )


def last(text: str, before: Sequence[Row], after: Sequence[Row]) -> RuleResult:
    return judged(text, before, after).results[-1]


DROP = "rules: {demo.accuracy: {max_drop: 0.05}}"


def test_a_run_like_its_baseline_passes_when_there_are_samples_enough_to_tell() -> None:
    # A loss of one sample in 20 is missed by 72 samples with a chance of 0.95 ** 72 = 0.0249.
    assert judged(DROP, run(150, 50), run(150, 50)).passed
    assert judged(DROP, run(50, 23), run(50, 23)).passed
    few = last(DROP, run(15, 5), run(15, 5))
    assert (few.status, few.value, few.baseline) == ("inconclusive", 0.75, 0.75)
    assert few.reason == (
        "20 samples cannot decide max_drop 0.05: they leave a change between -0.1684 and +0.1684; "
        "about 73 like these would"
    )


def test_a_run_that_gained_a_sample_proves_little_more_than_one_that_gained_none() -> None:
    before, gained = run(30, 13), run(31, 12)
    assert last(DROP, before, before).status == last(DROP, before, gained).status == "inconclusive"


@given(st.integers(3, 60), st.integers(0, 9), st.sampled_from(["0", "0.02", "0.05", "0.3"]))
@settings(deadline=None, max_examples=30)
def test_so_many_samples_like_these_decide(n: int, lost: int, drop: str) -> None:
    text = f"rules: {{demo.accuracy: {{max_drop: {drop}}}}}"
    lost = min(n, lost)
    found = last(text, run(n, 0), run(n, 0, lost=lost))
    assert ("would" in found.reason) == (found.status == "inconclusive")
    named = re.search(r"about ([\d,]+) like", found.reason)
    if named is None or int(named[1].replace(",", "")) > 3000:
        return
    # Whole multiples of the run: the first with so many samples decides.
    times = -(-int(named[1].replace(",", "")) // n)
    more = run(times * n, 0), run(times * n, 0, lost=times * lost)
    assert last(text, *more).status in {"pass", "fail"}


def test_the_point_alone_decides_where_the_rule_says_so() -> None:
    rule = "rules: {demo.accuracy: {max_drop: 0.05, point: true}}"
    assert last(rule, run(15, 5), run(15, 5, lost=1)).status == "pass"
    assert last(rule, run(15, 5), run(15, 5, lost=2)).status == "fail"


def test_a_drop_beyond_all_doubt_fails_and_one_in_doubt_is_inconclusive() -> None:
    assert last(DROP, run(150, 50), run(150, 50, lost=40)).status == "fail"
    assert last(DROP, run(150, 50), run(150, 50, lost=8)).status == "inconclusive"
    assert not judged(DROP, run(150, 50), run(150, 50, lost=8)).passed
    assert judged("inconclusive: pass\n" + DROP, run(150, 50), run(150, 50, lost=8)).passed
    assert not judged("inconclusive: pass\n" + DROP, run(150, 50), run(150, 50, lost=40)).passed


def test_a_drop_is_proven_where_the_table_says_that_it_is_significant() -> None:
    none = "rules: {demo.accuracy: {max_drop: 0}}"
    for lost in range(8):
        then, now = run(36, 4), run(36, 4, lost=lost)
        [pair] = compare(then, now).pairs
        proven = last(none, then, now).status == "fail"
        assert proven == (pair.changes[0].p_value < 0.05) == (lost >= 5)
    doubtful = last(none, run(36, 4), run(36, 4, lost=4))
    assert doubtful.status == "inconclusive"
    assert last("significance: 0.2\n" + none, run(36, 4), run(36, 4, lost=4)).status == "fail"


def test_the_level_of_significance_widens_or_narrows_the_doubt() -> None:
    # 14 of 200 lost are 7 points with a standard error of 1.8: beyond 5 for sure only at a low
    # level.
    before, after = run(150, 50), run(150, 50, lost=14)
    assert last(DROP, before, after).status == "inconclusive"
    assert last("significance: 0.5\n" + DROP, before, after).status == "fail"


def test_scores_are_judged_in_their_own_scale_or_by_a_share_of_the_baseline() -> None:
    # The mean falls from 80 to 64: 40 of 200 lost 80 points each.
    before, after = run(150, 50), run(150, 50, lost=40)
    assert last("rules: {demo.EED: {max_drop: 5}}", before, after).status == "fail"
    assert last("rules: {demo.EED: {max_drop: 30}}", before, after).status == "pass"
    assert last("rules: {demo.EED: {max_drop: 50 %}}", before, after).status == "pass"
    assert last("rules: {demo.EED: {max_drop: 5 %}}", before, after).status == "fail"
    assert str(last("rules: {demo.EED: {max_drop: 5 %}}", before, after).bounds) == "max_drop 5 %"


def test_cost_and_latency_are_held_against_the_baselines() -> None:
    before = run(5, 5, usage=Usage(requests=1, cost=0.02), seconds=2.0)
    after = run(5, 5, usage=Usage(requests=1, cost=0.023), seconds=2.5)
    assert last("rules: {demo.cost: {max_rise: 20 %}}", before, after).status == "pass"
    dear = last("rules: {demo.cost: {max_rise: 10 %}}", before, after)
    assert (dear.status, dear.reason) == ("fail", "0.23 after 0.2 is outside max_rise 10 %")
    assert last("rules: {demo.seconds_p95: {max_rise: 0.4}}", before, after).status == "fail"
    assert last("rules: {demo.seconds_p95: {max_rise: 0.6}}", before, after).status == "pass"


def test_a_sum_over_other_samples_is_no_measure() -> None:
    priced: dict[str, Any] = {"usage": Usage(requests=1, cost=0.02)}
    found = last(
        "compared: 0\nrules: {demo.cost: {max_rise: 0}}", run(5, 5, **priced), run(5, 4, **priced)
    )
    assert (found.status, found.reason[:20]) == ("missing", "a sum over 9 planned")


def test_samples_that_the_run_left_out_shut_the_gate_unless_its_file_allows_it() -> None:
    text = "rules: {demo.EED: {max_drop: 100}}"
    result = judged(text, run(10, 10), run(10, 5))
    [overlap] = [one for one in result.results if one.metric == "compared"]
    assert (overlap.status, overlap.value) == ("fail", 0.75)
    assert (
        overlap.reason
        == "15 of the baseline's 20 scored samples were scored again, with the same target"
    )
    assert judged("compared: 0.7\n" + text, run(10, 10), run(10, 5)).passed
    retargeted = judged("compared: 0.7\n" + text, run(10, 10, target="1"), run(10, 10, target="2"))
    assert [one.status for one in retargeted.results if one.metric == "compared"] == ["fail"]


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("other.accuracy: {max_drop: 0}", "run and baseline have no part of this task in common"),
        (
            "demo.acuracy: {max_drop: 1}",
            "this run has no such figure (this run has accuracy, coverage",
        ),
        ("demo.cost: {max_rise: 1}", "this run has no such figure"),
        ("judge.kappa: {max_drop: 0.1}", "run and baseline have no part of this task"),
    ],
)
def test_what_is_not_there_is_never_a_pass(rule: str, said: str) -> None:
    result = judged(f"inconclusive: pass\nrules: {{{rule}}}", run(5, 5), run(5, 5))
    assert result.results[-1].status == "missing"
    assert said in result.results[-1].reason
    assert not result.passed


def test_a_model_that_the_baseline_lacks_is_not_passed_over() -> None:
    after = [*run(150, 50), *run(150, 50, model="new")]
    verdicts = {
        one.model: one.status
        for one in judged(DROP, run(150, 50), after).results
        if one.metric == "accuracy"
    }
    assert verdicts == {"openai/small": "pass", "new": "missing"}


def test_a_single_new_model_is_held_against_the_baselines_single_one() -> None:
    assert judged(DROP, run(150, 50, model="old"), run(150, 50, model="new")).passed


def test_a_baseline_survives_its_file_and_decides_alike(tmp_path: Path) -> None:
    before = run(
        15, 5, target="\\frac{a}{b}", versions={"grader:EED": "eed/1", "task": 1}, seconds=2.0
    )
    after = run(15, 5, lost=3, target="\\frac{a}{b}", versions={"grader:EED": "eed/2", "task": 1})
    file = tmp_path / "new" / "main.jsonl"
    write_baseline(baseline(before), file)
    kept = read_baseline(file)
    assert kept.name == "then"
    assert kept.metrics == baseline(before).metrics
    assert compare(kept.rows, after) == compare(before, after)
    assert compare(kept.rows, after).pairs[0].versions == {"grader:EED": ("eed/1", "eed/2")}


def test_a_baseline_is_small_in_stable_order_and_spreads_no_answers(tmp_path: Path) -> None:
    rows = run(15, 5, target="the secret answer", answer="A" * 10_000)
    write_baseline(baseline(rows), tmp_path / "a.jsonl")
    write_baseline(baseline(rows[::-1]), tmp_path / "b.jsonl")
    text = (tmp_path / "a.jsonl").read_text()
    assert text == (tmp_path / "b.jsonl").read_text()
    assert len(text.splitlines()) == 2 + 20
    assert len(text) < 5_000
    assert "secret" not in text
    other = run(15, 5, lost=1, target="the secret answer", answer="A" * 10_000)
    write_baseline(baseline(other), tmp_path / "c.jsonl")
    changed = set((tmp_path / "c.jsonl").read_text().splitlines()) ^ set(text.splitlines())
    assert {json.loads(line).get("sample") for line in changed} == {
        None,
        "0000",
    }  # None: the figures of the part


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "an empty file is no baseline"),
        ("{}\n", "no baseline of schema 1"),
        ('{"schema": 9, "run": "x"}\n', "no baseline of schema 1"),
        ('{"schema": 1, "run": "x"}\n{"sample": "1"}\n', "b.jsonl:2: not a line of a baseline"),
        ('{"schema": 1, "run": "x"}\nnonsense\n', "b.jsonl:2: not a line of a baseline"),
        ("[]\n", "b.jsonl:1: not a line of a baseline"),
    ],
)
def test_a_file_that_is_no_baseline_is_refused_with_its_line(
    tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "b.jsonl").write_text(text)
    with pytest.raises(UsageError, match=re.escape(said)):
        read_baseline(tmp_path / "b.jsonl")


def test_a_run_s_folder_is_the_baseline_that_would_be_made_of_it(tmp_path: Path) -> None:
    rows = run(3, 1, details={"polite": True})
    info = TaskInfo(title="demo", metrics=("polite",), group_by=("tag",))
    told: dict[str, Json] = {"tasks": {"demo.yaml": {"name": "demo", "info": info.to_json()}}}
    with closing(RunFolder.create(tmp_path, told, redactor=Redactor(secrets={}))) as folder:
        for one in rows:
            folder.add_row(one)
    made = baseline_of(folder.path.name, rows, summarise(rows, {"demo": info}))
    [figures] = made.metrics.values()
    assert figures["polite"] == 1.0
    assert read_baseline(folder.path).metrics == made.metrics


def test_a_baseline_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.jsonl: no run here"):
        read_baseline(tmp_path / "none.jsonl")
