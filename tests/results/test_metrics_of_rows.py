from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from example_rows import eed, row
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Display, Row, Score, Usage
from pytest_llmeval.results.figures import Figures
from pytest_llmeval.results.stand_in import StandIn
from pytest_llmeval.results.stored_run import read_summary
from pytest_llmeval.results.summarise import summarise
from pytest_llmeval.results.summary import Summary
from pytest_llmeval.results.task_info import Published, ScoreInfo, TaskInfo


def figures_of(rows: Sequence[Row], **info: object) -> Figures:
    [entry] = summarise(rows, {"demo": TaskInfo(title="demo", **info)}).entries  # type: ignore[arg-type]
    return entry.figures


MIXED = [
    row("1", "correct", scores=eed(100, 100)),
    row("2", "correct", scores=eed(100, 20)),
    row("3", "incorrect", scores=eed(40, 0)),
    row("4", "error", scores=eed(70)),  # scored, then the database broke
    row("5", "unscored"),
    row("6", "not run"),
]


def test_the_five_counts_stay_apart_and_accuracy_is_of_correct_and_incorrect() -> None:
    figures = figures_of(MIXED)
    counts = figures.counts
    assert (counts.correct, counts.incorrect, counts.error, counts.unscored, counts.not_run) == (
        2,
        1,
        1,
        1,
        1,
    )
    assert (counts.planned, counts.scored, counts.coverage) == (6, 3, 0.5)
    assert (figures.accuracy.value, figures.accuracy.n) == (2 / 3, 3)


def test_both_eeds_have_their_own_mean_and_scale_over_the_scored_rows() -> None:
    corrected, published = figures_of(MIXED).scores
    assert (corrected.name, corrected.value, corrected.n, corrected.scale) == (
        "EED",
        80.0,
        3,
        100.0,
    )
    assert (published.name, published.value, published.n, published.scale) == (
        "EED published",
        40.0,
        3,
        100.0,
    )
    assert corrected.low is not None
    assert corrected.high is not None
    assert 0 < corrected.low < 80 < corrected.high <= 100


def test_a_run_in_which_nothing_was_scored_has_no_accuracy_rather_than_0() -> None:
    figures = figures_of([row("1", "error"), row("2", "not run")])
    assert (figures.accuracy.value, figures.accuracy.low, figures.accuracy.n) == (None, None, 0)
    assert (figures.counts.coverage, figures.scores) == (0.0, ())
    assert (figures.seconds.median, figures.usage.cost) == (None, None)


def test_a_mean_is_not_rounded() -> None:
    figures = figures_of(
        [
            row(str(i), "incorrect", scores=eed(value))
            for i, value in enumerate([33.04, 33.04, 33.03])
        ]
    )
    assert figures.scores[0].value == pytest.approx(99.11 / 3, abs=1e-12)


def test_a_score_without_a_value_is_left_out_of_its_mean_and_its_n() -> None:
    rows = [
        row("1", "correct", scores=eed(100)),
        row("2", "incorrect", scores=(Score(name="EED", value=None, scale=100.0, correct=False),)),
    ]
    [mean] = figures_of(rows).scores
    assert (mean.value, mean.n) == (100.0, 1)


def test_of_two_scores_of_one_name_in_a_row_the_last_counts() -> None:
    [mean] = figures_of([row("1", "correct", scores=(*eed(10), *eed(100)))]).scores
    assert (mean.value, mean.n) == (100.0, 1)


def test_a_later_row_replaces_an_earlier_one_under_its_key_and_reruns_are_counted() -> None:
    figures = figures_of([row("1", "incorrect"), row("2"), row("1", "correct", reports=3)])
    assert (figures.counts.planned, figures.counts.correct, figures.reruns) == (2, 2, 2)


def test_rows_of_a_tool_that_stood_in_for_another_are_counted_where_that_matters() -> None:
    rows = [row(sample, engine="arcadedb", stands_in_for="Neo4j") for sample in "12"]
    rows.append(row("3", engine="neo4j"))
    assert figures_of(rows).stand_ins == (
        StandIn(engine="arcadedb", stands_in_for="Neo4j", rows=2),
    )


def test_models_and_test_functions_are_told_apart_and_tasks_stand_in_order() -> None:
    rows = [
        row("1", task="b"),
        row("1", task="a", model="y"),
        row("1", task="a", model="x", test="t.py::two"),
        row("1", task="a", model="x", test="t.py::one"),
    ]
    found = [
        (entry.task, entry.test.partition("::")[2], entry.model)
        for entry in summarise(rows, {}).entries
    ]
    assert found == [
        ("a", "test_demo", "y"),
        ("a", "one", "x"),
        ("a", "two", "x"),
        ("b", "test_demo", "openai/small"),
    ]


def test_groups_stand_by_key_and_value_and_rows_without_one_are_not_lost() -> None:
    rows = [
        row("1", "correct", groups={"tag": ("OPTICS",)}),
        row("2", "incorrect", groups={"tag": ("OPTICS",)}),
        row("3", "not run", groups={"tag": ("MECHANICS",)}),
        row("4", "correct"),
    ]
    [entry] = summarise(rows, {"demo": TaskInfo(title="demo", group_by=("tag",))}).entries
    found = [
        (group.key, group.value, group.figures.accuracy.value, group.figures.counts.planned)
        for group in entry.groups
    ]
    assert found == [
        ("tag", "(none)", 1.0, 1),
        ("tag", "MECHANICS", None, 1),
        ("tag", "OPTICS", 0.5, 2),
    ]


def test_a_row_with_several_tags_counts_under_each_and_once_in_all() -> None:
    rows = [
        row("1", "correct", groups={"tag": ("count", "set")}),
        row("2", "incorrect", groups={"tag": ("set",)}),
    ]
    [entry] = summarise(rows, {"demo": TaskInfo(title="demo", group_by=("tag",))}).entries
    assert [(group.value, group.figures.counts.planned) for group in entry.groups] == [
        ("count", 1),
        ("set", 2),
    ]
    assert entry.figures.counts.planned == 2


def test_declared_details_of_solver_and_scorer_are_shares_of_the_scored_rows_that_have_them() -> (
    None
):
    def sldp(*, valid: bool) -> tuple[Score, ...]:
        return (Score(name="SLDP", value=1.0, correct=True, details={"valid_sldp": valid}),)

    declared: dict[str, object] = {
        "display": Display(shares=("valid_cypher",)),
        "scores": (ScoreInfo(name="SLDP", display=Display(shares=("valid_sldp",))),),
    }

    rows = [
        row("1", details={"valid_cypher": True}, scores=sldp(valid=True)),
        row("2", "incorrect", details={"valid_cypher": True}, scores=sldp(valid=False)),
        row("3", "incorrect", details={"valid_cypher": False}, scores=sldp(valid=False)),
        row("4", "error", details={"valid_cypher": False}),
        row("5", "incorrect", details={"valid_cypher": "yes"}),
    ]
    cypher, validity = figures_of(rows, **declared).shares
    assert (cypher.name, cypher.n) == ("valid_cypher", 3)
    assert cypher.value == pytest.approx(2 / 3)
    assert (validity.name, validity.n) == ("valid_sldp", 3)
    assert validity.value == pytest.approx(1 / 3)


def test_a_property_that_the_tasks_metrics_name_is_a_share_and_others_are_not() -> None:
    rows = [
        row("1", details={"cites": True, "prefiltered": True}),
        row("2", details={"cites": False}),
    ]
    assert [
        (share.name, share.value)
        for share in figures_of(rows, metrics=("accuracy", "cites")).shares
    ] == [("cites", 0.5)]


def test_use_is_summed_and_an_unknown_price_is_told() -> None:
    rows = [
        row("1", usage=Usage(input_tokens=10, output_tokens=5, requests=2, cost=0.25), seconds=1.0),
        row("2", "error", usage=Usage(input_tokens=1, requests=1), seconds=3.0),
        row("3", "not run"),
    ]
    figures = figures_of(rows)
    assert (figures.usage.input_tokens, figures.usage.output_tokens, figures.usage.requests) == (
        11,
        5,
        3,
    )
    assert (figures.usage.cost, figures.unpriced) == (0.25, 1)
    assert (figures.seconds.total, figures.seconds.median) == (4.0, 2.0)


def test_cut_cached_and_recorded_rows_are_counted() -> None:
    rows = [
        row("1", stop_reason="length"),
        row("2", "incorrect", stop_reason="refusal"),
        row("3", stop_reason="length", cached=True, age=60.0),
        row("4", cached=True, age=7200.0),
        row("5", recorded=True),
        row("6", stop_reason="tool_calls"),
        row("7", "error", usage=Usage()),
    ]
    figures = figures_of(rows)
    assert figures.cut == {"length": 2, "refusal": 1}
    assert (figures.live, figures.recorded, figures.cached, figures.oldest) == (3, 1, 2, 7200.0)


def test_epochs_cluster_by_sample_and_give_pass_rates() -> None:
    # Sample 1: 2 of 4 right; sample 2: 0 of 4. pass@2 = (1 - C(2,2)/C(4,2) + 0) / 2 = 5/12; pass^2
    # = (1/6 + 0) / 2.
    rows = [
        row("1", "correct" if epoch <= 2 else "incorrect", epoch=epoch) for epoch in range(1, 5)
    ]
    rows += [row("2", "incorrect", epoch=epoch) for epoch in range(1, 5)]
    figures = figures_of(rows)
    assert (figures.samples, figures.epochs, figures.accuracy.n, figures.accuracy.value) == (
        2,
        4,
        8,
        0.25,
    )
    # Sums of deviations 1 and -1: sqrt(2/1 * 2) / 8 = 0.25, where eight independent values would
    # give 0.16.
    assert figures.accuracy.standard_error == pytest.approx(0.25)
    two, four = figures.repeated
    assert (two.k, two.n) == (2, 2)
    assert two.at_least_one == pytest.approx(5 / 12)
    assert two.every_one == pytest.approx(1 / 12)
    assert (four.k, four.n, four.at_least_one, four.every_one) == (4, 2, 0.5, 0.0)


def test_a_sample_with_too_few_scored_epochs_does_not_enter_pass_at_k() -> None:
    rows = [
        row("1", epoch=1),
        row("1", "error", epoch=2),
        row("2", epoch=1),
        row("2", "incorrect", epoch=2),
    ]
    [two] = figures_of(rows).repeated
    assert (two.k, two.n, two.at_least_one, two.every_one) == (2, 1, 1.0, 0.0)


def test_rows_of_different_versions_show() -> None:
    rows = [
        row("1", versions={"prompt": "ab", "task": 1}),
        row("2", versions={"prompt": "cd", "task": 1}),
    ]
    [entry] = summarise(rows, {}).entries
    assert entry.versions == {"prompt": ("ab", "cd"), "task": ("1",)}


def test_the_order_of_arrival_changes_nothing() -> None:
    generator = random.Random(3)
    rows = [
        row(str(i), "incorrect", scores=eed(generator.uniform(0, 59)), seconds=generator.random())
        for i in range(50)
    ]
    shuffled = generator.sample(rows, len(rows))
    assert summarise(shuffled, {}).to_json() == summarise(rows, {}).to_json()


@given(
    st.lists(
        st.sampled_from(["correct", "incorrect", "error", "unscored", "not run"]),
        min_size=1,
        max_size=30,
    )
)
def test_every_planned_sample_is_in_exactly_one_count(outcomes: list[str]) -> None:
    figures = figures_of([row(str(i), outcome) for i, outcome in enumerate(outcomes)])  # type: ignore[arg-type]
    assert figures.counts.planned == len(outcomes)
    assert figures.accuracy.n == outcomes.count("correct") + outcomes.count("incorrect")


def test_a_summary_survives_its_json_form() -> None:
    figure = Published(name="o3-high", metric="accuracy", value=0.3458, source="arXiv 2504.16074")
    rows = [
        row(
            "1",
            scores=eed(100, 50),
            cached=True,
            age=5.0,
            groups={"tag": ("OPTICS",)},
            versions={"task": 1},
        ),
        row(
            "1",
            "incorrect",
            epoch=2,
            scores=eed(12.5, 0),
            stop_reason="length",
            details={"valid_sldp": True},
        ),
        row("2", "error"),
    ]
    info = TaskInfo(
        title="demo", metrics=("accuracy",), group_by=("tag",), demo=True, published=(figure,)
    )
    summary = summarise(rows, {"demo": info})
    text = json.dumps(summary.to_json(), allow_nan=False)
    assert Summary.from_json(json.loads(text)) == summary
    assert json.loads(text)["schema"] == 1


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"schema": 99, "entries": []}, "99"),
        ({"entries": []}, "None"),
        ({"schema": 1, "entries": [{"task": "demo"}]}, r"`test` - at `\$\.entries\[0\]`"),
        ({"schema": 1, "entries": "all"}, "entries"),
    ],
)
def test_a_file_that_is_no_summary_is_refused_with_the_place(
    tmp_path: Path, data: dict[str, object], said: str
) -> None:
    file = tmp_path / "summary.json"
    file.write_text(json.dumps(data))
    with pytest.raises(UsageError, match=rf"summary\.json: .*{said}"):
        read_summary(file)
