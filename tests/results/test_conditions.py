"""Under what two runs were made: what is the same, what differs, and what nobody knows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from example_rows import eed, row
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.records import Row
from pytest_llmeval.results.baseline import baseline_of, read_baseline, write_baseline
from pytest_llmeval.results.conditions import UNKNOWN, common_samples, conditions
from pytest_llmeval.results.summarise import summarise


def run(*samples: str, **fields: Any) -> list[Row]:
    given = {"question": "q", **fields}
    return [row(sample, "correct", scores=eed(100), **given) for sample in samples]


def likenesses(a: list[Row], b: list[Row]) -> dict[str, str]:
    return {one.name: one.likeness for one in conditions(a, b)}


def test_grader_data_prompt_settings_model_engine_and_replies_are_told() -> None:
    versions = {"task": 1, "dataset": "d1", "prompt": "p1", "settings": "s1", "grader:EED": "eed/1"}
    before = run("1", "2", versions=versions, engine="sqlite", recorded=True)
    after = run(
        "1",
        "2",
        versions={**versions, "dataset": "d2", "grader:EED": "eed/2"},
        engine="neo4j",
        model="other",
    )
    assert likenesses(before, after) == {
        "grader of EED": "differs",
        "dataset": "differs",
        "engine": "differs",
        "prompt": "same",
        "settings": "same",
        "version of the task": "same",
        "model": "differs",
        "replies": "differs",
        "epochs": "same",
    }
    by_name = {one.name: one for one in conditions(before, after)}
    assert by_name["grader of EED"][1:] == ("eed/1", "eed/2")
    assert by_name["replies"][1:] == ("recorded: 2 of 2", "asked for in this run")


def test_a_file_of_a_baseline_does_not_tell_where_replies_came_from(tmp_path: Path) -> None:
    rows = run("1", "2", versions={"dataset": "d", "grader:EED": "eed/1"}, recorded=True)
    write_baseline(baseline_of("main", rows, summarise(rows, {})), tmp_path / "main.jsonl")
    stored = list(read_baseline(tmp_path / "main.jsonl").rows)
    found = {one.name: one for one in conditions(stored, rows)}
    assert (found["replies"].a, found["replies"].likeness) == (UNKNOWN, UNKNOWN)
    assert {name for name, one in found.items() if one.likeness == "differs"} == set()
    assert common_samples(stored, rows).unknown == 0


@given(
    st.dictionaries(st.sampled_from("123456"), st.sampled_from(["", "q", "r"]), min_size=1),
    st.dictionaries(st.sampled_from("123456"), st.sampled_from(["", "q", "r"]), min_size=1),
)
def test_each_sample_is_in_both_or_in_one_and_asked_alike_otherwise_or_unknown(
    asked_a: dict[str, str], asked_b: dict[str, str]
) -> None:
    a, b = (
        [one for sample, question in asked.items() for one in run(sample, question=question)]
        for asked in (asked_a, asked_b)
    )
    found = common_samples(a, b)
    both = asked_a.keys() & asked_b.keys()
    assert (found.both, found.only_a, found.only_b) == (
        len(both),
        len(asked_a.keys() - both),
        len(asked_b.keys() - both),
    )
    known = {sample for sample in both if asked_a[sample] and asked_b[sample]}
    assert set(found.asked_otherwise) == {s for s in known if asked_a[s] != asked_b[s]}
    assert found.unknown == len(both - known)


def test_a_target_that_changed_is_told_by_its_sample() -> None:
    before, after = run("1", "2", target="x"), [*run("1", target="x"), *run("2", target="y")]
    assert common_samples(before, after).retargeted == ("2",)
