"""`Run.dataframe`: one line a row, with the types and the figures of the rows."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import pytest
from example_rows import eed, row
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from record_strategies import ROWS
from stored_runs import stored

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Outcome, Row, Usage
from pytest_llmeval.results.flat_row import flat_row
from pytest_llmeval.results.frame import data_frame
from pytest_llmeval.results.rows import last_scores

pd = pytest.importorskip("pandas")

few = settings(max_examples=25, deadline=None, phases=set(Phase) - {Phase.shrink, Phase.explain})
"""A frame of forty columns takes 10 ms, and shrinking one minutes."""


def plain(value: Any) -> Any:
    """Return a cell as the row has it: what is missing as None."""
    if isinstance(value, tuple):
        return value
    return None if value is pd.NA or pd.isna(value) else value


def lines(frame: Any) -> list[dict[str, Any]]:
    columns = {name: [plain(value) for value in frame[name]] for name in frame.columns}
    return [{name: columns[name][n] for name in columns} for n in range(len(frame))]


def without_gaps(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return a line's cells that hold something; a group of one value as that value."""
    return {
        name: value[0] if name.startswith("group:") and len(value) == 1 else value
        for name, value in line.items()
        if value is not None and not (name.startswith("group:") and value == ())
    }


@few
@given(st.lists(ROWS, max_size=4))
def test_each_row_is_one_line_with_all_its_values(rows: list[Row]) -> None:
    found = lines(data_frame(rows))
    assert list(map(without_gaps, found)) == [without_gaps(flat_row(one)) for one in rows]


@given(ROWS)
def test_no_field_of_a_row_is_lost(one: Row) -> None:
    flat = flat_row(one)
    apart = {"scores", "groups", "details", "usage", "target", "versions"}
    for name in set(Row.__struct_fields__) - apart:
        assert flat[name] == getattr(one, name)
    for name in Usage.__struct_fields__:
        assert flat[name] == getattr(one.usage, name)
    for name, score in last_scores(one).items():
        assert (flat[f"score:{name}"], flat[f"correct:{name}"]) == (score.value, score.correct)
    for name, values in one.groups.items():
        assert flat[f"group:{name}"] == values
    scalars = {n: v for n, v in one.details.items() if not isinstance(v, list | dict)}
    assert {n: flat[f"detail:{n}"] for n in scalars} == scalars


@few
@given(st.lists(ROWS, max_size=4))
def test_types_do_not_depend_on_which_rows_there_are(rows: list[Row]) -> None:
    types = data_frame(rows).dtypes.astype(str)
    for name in ("test", "task", "model", "outcome", "stop_reason", "worker"):
        assert types[name] == "category"
    for name in ("epoch", "input_tokens", "output_tokens", "requests", "reports"):
        assert types[name] == "Int64" if rows else True
    for name in ("cost", "seconds", "age", *(n for n in types.index if n.startswith("score:"))):
        assert types[name] == "float64"
    for name in ("correct", *(n for n in types.index if n.startswith("correct:"))):
        assert types[name] == "boolean"


def test_outcomes_are_categories_in_their_usual_order() -> None:
    frame = data_frame([row("1", "unscored")])
    assert list(frame["outcome"].cat.categories) == list(get_args(Outcome))


def test_a_group_is_a_category_unless_a_row_has_several_values() -> None:
    one = data_frame([row("1", groups={"topic": ("a",)}), row("2")])["group:topic"]
    assert (str(one.dtype), one[0], pd.isna(one[1])) == ("category", "a", True)
    several = data_frame([row("1", groups={"topic": ("a", "b")}), row("2")])
    assert [*several["group:topic"]] == [("a", "b"), ()]
    exploded = several.explode("group:topic")
    assert [*exploded["group:topic"].dropna()] == ["a", "b"]


def test_the_figures_are_those_of_the_summary(tmp_path: Path) -> None:
    rows = [
        row("1", "correct", scores=eed(100), usage=Usage(input_tokens=3, cost=0.5), seconds=2.0),
        row("2", "incorrect", scores=eed(40), usage=Usage(input_tokens=4), seconds=1.5),
        row("3", "error", scores=eed(7), model="openai/large"),
        row("4", "correct", scores=eed(100), model="openai/large"),
        row("5", "not run", model="openai/large"),
    ]
    run = stored(tmp_path, rows)
    frame = run.dataframe()
    for entry in run.summary.entries:
        figures = entry.figures
        part = frame[frame["model"] == entry.model]
        scored = part[part["correct"].notna()]
        assert scored["correct"].mean() == figures.accuracy.value
        assert scored["score:EED"].mean() == figures.scores[0].value
        assert part["input_tokens"].sum() == figures.usage.input_tokens
        assert part["cost"].sum() == (figures.usage.cost or 0)
        assert part["seconds"].sum() == figures.seconds.total
        counts = part["outcome"].value_counts()
        assert (counts["error"], counts["not run"]) == (
            figures.counts.error,
            figures.counts.not_run,
        )


def test_without_pandas_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match=r"pip install 'pytest-llmeval-suite\[dataframe\]'"):
        data_frame([row("1")])
