"""Runs whose samples other graders scored: nothing that the graders may have moved is compared."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from example_rows import row
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Outcome, Row, Score
from pytest_llmeval.report.matrix_sheet import matrix_sheet
from pytest_llmeval.report.table import render_comparison, render_sheets, render_table
from pytest_llmeval.results.baseline import baseline_of, read_baseline, write_baseline
from pytest_llmeval.results.compare import compare
from pytest_llmeval.results.gate_check import check
from pytest_llmeval.results.gate_file import parse_gate
from pytest_llmeval.results.gate_result import GateResult
from pytest_llmeval.results.graders import mixed_graders
from pytest_llmeval.results.matrix import matrices
from pytest_llmeval.results.merge import merged_rows
from pytest_llmeval.results.regression import check_against
from pytest_llmeval.results.stored_run import StoredRun
from pytest_llmeval.results.summarise import summarise
from pytest_llmeval.scoring.grader import grader_text
from pytest_llmeval.scoring.judge.scorer import JudgeScorer
from pytest_llmeval.scoring.sldp.scorer import SldpScorer

RULES = """
recorded: allowed
rules:
  demo.accuracy: {max_drop: 1, max_rise: 1}
  demo.judge: {max_drop: 1}
  demo.correct: {max_drop: 1000}
  demo.coverage: {max_drop: 1}
  demo.pass@1: {max_drop: 1}
"""
TOUCHED = frozenset({"accuracy", "judge", "correct", "coverage", "pass@1"})

PANELS = ((), ("openai/a",), ("openai/b",), ("openai/a,temperature=1",), ("openai/a", "openai/b"))
GRADERS = (
    *(
        grader_text(JudgeScorer(votes=votes, prefilter=prefilter), panel)
        for votes, prefilter, panel in itertools.product((1, 3), (True, False), PANELS)
    ),
    "judge/1",
    "judge/2 prompt 00000000 prefilter/3 votes=1 by openai/a",
    "",
)
"""Graders of one score: every two of them differ."""

ANSWERS = st.sampled_from([None, "4", "four", "sha256:4"])
SAMPLES = st.lists(
    st.tuples(st.booleans(), st.booleans(), ANSWERS, ANSWERS), min_size=1, max_size=12
)
"""For each sample whether it is correct in two runs, and its answers there."""
DIFFERING = st.lists(st.sampled_from(GRADERS), min_size=2, max_size=2, unique=True)


def judged(sample: str, value: float, grader: str, answer: str | None = "4") -> Row:
    correct = value == 1.0
    score = Score(name="judge", value=float(value), correct=correct, grader=grader)
    outcome: Outcome = "correct" if correct else "incorrect"
    return row(sample, outcome, answer=answer, target="4", scores=(score,))


def both(
    samples: Sequence[tuple[bool, bool, str | None, str | None]], a: str, b: str
) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """Return the rows of two runs by the graders a and b."""
    numbered = [(f"{number:02}", *sample) for number, sample in enumerate(samples)]
    return (
        tuple(judged(name, was, a, one) for name, was, _, one, _ in numbered),
        tuple(judged(name, is_, b, other) for name, _, is_, _, other in numbered),
    )


def gated(before: Sequence[Row], after: Sequence[Row], rules: str = RULES) -> GateResult:
    summary = summarise(after, {})
    baseline = baseline_of("then", before, summarise(before, {}))
    found = compare(before, after)
    return check_against(parse_gate(rules, "gates.yaml"), summary, baseline, found)


def run_of(name: str, rows: Sequence[Row]) -> StoredRun:
    return StoredRun(path=Path(name), info={}, rows=tuple(rows))


@settings(max_examples=50)
@given(SAMPLES, DIFFERING)
def test_under_two_graders_no_rule_passes_and_no_difference_is_printed(
    samples: list[tuple[bool, bool, str | None, str | None]], graders: list[str]
) -> None:
    before, after = both(samples, *graders)
    results = {one.metric: one for one in gated(before, after).results if one.metric in TOUCHED}
    assert results.keys() == TOUCHED
    assert {one.status for one in results.values()} == {"missing"}
    assert all("graders differ" in one.reason for one in results.values())
    (pair,) = compare(before, after).pairs
    assert pair.compared == ()
    told = render_comparison(compare(before, after), width=200, color=False)
    assert "GRADERS DIFFER" in told
    assert "b - a" not in told
    (matrix,) = matrices({"then": before, "now": after})
    assert matrix.regraded == ((0, 1),)
    assert "row minus column" not in render_sheets([matrix_sheet(matrix)], width=200, color=False)


@given(SAMPLES, DIFFERING)
def test_the_change_is_divided_by_answers_that_stayed_and_others(
    samples: list[tuple[bool, bool, str | None, str | None]], graders: list[str]
) -> None:
    (pair,) = compare(*both(samples, *graders)).pairs
    assert pair.regrading is not None
    parts = {str(part.answers): part for part in pair.regrading.moved}
    for name, of_kind in (
        ("same", [(was, now) for was, now, a, b in samples if a == b]),
        ("other", [(was, now) for was, now, a, b in samples if a != b]),
    ):
        assert (name in parts) is bool(of_kind)
        if of_kind:
            part = parts[name]
            assert part.n == len(of_kind)
            assert part.gained == sum(now > was for was, now in of_kind)
            assert part.lost == sum(now < was for was, now in of_kind)
    steps = sum(part.step for part in parts.values())
    assert steps == pytest.approx(pair.changes[0].difference)


@given(SAMPLES, st.sampled_from(GRADERS))
def test_under_one_grader_all_is_compared(
    samples: list[tuple[bool, bool, str | None, str | None]], grader: str
) -> None:
    before, after = both(samples, grader, grader)
    (pair,) = compare(before, after).pairs
    assert pair.regrading is None
    assert pair.compared == pair.changes
    assert all("graders" not in one.reason for one in gated(before, after).results)
    assert merged_rows([run_of("a", before), run_of("b", _renamed(after))])


@settings(max_examples=40)
@given(SAMPLES, DIFFERING)
def test_a_baselines_file_decides_as_the_run_does(
    tmp_path_factory: pytest.TempPathFactory,
    samples: list[tuple[bool, bool, str | None, str | None]],
    graders: list[str],
) -> None:
    before, after = both(samples, *graders)
    # A run of two graders itself.
    before = (*before[:1], *(judged(one.sample, 1, graders[1], "4") for one in before[1:]))
    file = tmp_path_factory.mktemp("baseline") / "main.jsonl"
    write_baseline(baseline_of("then", before, summarise(before, {})), file)
    assert compare(read_baseline(file).rows, after) == compare(before, after)


def test_a_baseline_without_answers_tells_that_nothing_can_be_divided(tmp_path: Path) -> None:
    before, after = both([(False, True, "4", "4")] * 3, GRADERS[0], GRADERS[1])
    file = tmp_path / "main.jsonl"
    write_baseline(baseline_of("then", before, summarise(before, {})), file)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    old = [{name: value for name, value in line.items() if name != "answer"} for line in lines]
    file.write_text("".join(json.dumps(line) + "\n" for line in old))
    (pair,) = compare(read_baseline(file).rows, after).pairs
    assert pair.regrading is not None
    assert [(part.answers, part.n) for part in pair.regrading.moved] == [("unknown", 3)]


@given(DIFFERING)
def test_shards_of_two_graders_are_not_merged(graders: list[str]) -> None:
    first, second = (judged(name, 1, text) for name, text in zip("12", graders, strict=True))
    runs = [run_of("one", [first]), run_of("two", [second])]
    same_rules = len({text.replace("votes=3", "votes=1") for text in graders}) == 1
    if same_rules:  # the option of a test; an option of the task is in its settings
        assert len(merged_rows(runs)) == 2
        return
    with pytest.raises(UsageError, match="two graders gave the score 'judge' of demo"):
        merged_rows(runs)


def test_options_of_the_task_that_differ_are_not_merged() -> None:
    rows = [
        row(str(number), versions={"settings": f"digest {number}"}, scores=(_sldp(number),))
        for number in (1, 2)
    ]
    with pytest.raises(UsageError, match="settings of demo differs"):
        merged_rows([run_of("one", rows[:1]), run_of("two", rows[1:])])


@given(SAMPLES.filter(lambda samples: len(samples) > 1), DIFFERING)
def test_two_graders_in_one_run_pass_no_gate_and_are_told_with_their_shares(
    samples: list[tuple[bool, bool, str | None, str | None]], graders: list[str]
) -> None:
    a, b = both(samples, *graders)
    rows = (*a[:1], *b[1:])
    found = mixed_graders(rows)
    if len({text.replace("votes=3", "votes=1") for text in graders}) == 1:
        assert found == ()
        return
    assert sum(one.n for one in found) == len(rows)
    assert sum(one.correct for one in found) == sum(one.outcome == "correct" for one in rows)
    summary = summarise(rows, {})
    result = check(parse_gate("recorded: allowed\ncoverage: 0", "gates.yaml"), summary)
    assert [one.metric for one in result.unmet] == ["graders"]
    told = " ".join(render_table(summary, width=200, color=False).split())
    assert told.count("MIXED GRADERS") == 2
    assert "accuracy is no single number" in told


def test_the_same_settings_allow_options_by_sample_and_other_settings_do_not() -> None:
    rows = [
        row(str(number), versions={"settings": "s"}, scores=(_sldp(number),)) for number in range(4)
    ]
    assert mixed_graders(rows) == ()
    again = [row(one.sample, versions={"settings": "t"}, scores=_looser(one)) for one in rows[:1]]
    assert [(one.n, one.correct) for one in mixed_graders([*again, *rows[1:]])] == [(1, 1)] * 4
    assert compare(rows, rows).pairs[0].regrading is None


def test_a_score_beside_the_outcome_leaves_accuracy_compared() -> None:
    exact = Score(name="exact", value=1.0, correct=True, grader="exact/1")

    def rows(label: str) -> list[Row]:
        aside = Score(name="kind", value=0.5, correct=None, grader=label, decides=False)
        return [row(str(n), target="4", scores=(exact, aside)) for n in range(40)]

    rules = "recorded: allowed\nrules: {demo.accuracy: {max_drop: 0.5}, demo.kind: {max_drop: 1}}"
    results = gated(rows("kind/1 by openai/a"), rows("kind/1 by openai/b"), rules).results
    found = {one.metric: one.status for one in results}
    assert (found["accuracy"], found["kind"]) == ("pass", "missing")
    (pair,) = compare(rows("kind/1 by openai/a"), rows("kind/1 by openai/b")).pairs
    assert [change.name for change in pair.compared] == ["accuracy"]
    assert pair.regrading is not None
    assert (pair.regrading.decides, pair.regrading.moved) == (False, ())


def test_other_scorers_for_the_same_answers_are_another_grader() -> None:
    before = [judged(str(n), 1, GRADERS[0]) for n in range(5)]
    after = [row(str(n), answer="4", target="4", scores=(_sldp(1),)) for n in range(5)]
    (pair,) = compare(before, after).pairs
    assert pair.compared == ()
    assert pair.regrading is not None
    assert set(pair.regrading.graders) == {"judge", "SLDP"}
    assert pair.regrading.graders["judge"] == (GRADERS[0], "none")


def test_what_no_grader_decides_is_compared_all_the_same() -> None:
    before, after = both([(True, True, "4", "4")] * 5, GRADERS[0], GRADERS[1])
    rules = "recorded: allowed\nrules: {demo.tokens: {max_rise: 10 %}, demo.not_run: {max_rise: 0}}"
    found = {one.metric: one.status for one in gated(before, after, rules).results}
    assert (found["tokens"], found["not_run"]) == ("pass", "pass")


def test_a_run_of_an_older_version_is_told_as_unknown() -> None:
    before, after = both([(True, True, "4", "4")] * 5, "judge/1", GRADERS[0])
    (pair,) = compare(before, after).pairs
    assert pair.regrading is not None
    assert pair.regrading.unknown
    told = render_comparison(compare(before, after), width=200, color=False)
    assert "options and judges of an older version are not known" in told


def _sldp(tenths: int) -> Score:
    text = grader_text(SldpScorer(tolerance=tenths / 10))
    return Score(name="SLDP", value=1.0, correct=True, grader=text)


def _looser(one: Row) -> tuple[Score, ...]:
    return (_sldp(9 + len(one.scores)),)


def _renamed(rows: Sequence[Row]) -> list[Row]:
    return [judged(f"{one.sample} b", 1, one.scores[0].grader) for one in rows]
