"""Each row is scored as the scorer scores it alone; hostile answers cost their own row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from bulk.tables import OWN, job, read, score, write
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmeval.bulk.job import Job, ScorerSpec, made_scorers
from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Sample
from pytest_llmeval.scoring.exact import Exact
from pytest_llmeval.scoring.targets import score_of

TEXTS = st.text(max_size=6) | st.none() | st.sampled_from(["x", "x ", "4", "4.0"])
TARGETS = st.lists(st.sampled_from(["x", "4", "a b"]), max_size=3)


@settings(max_examples=12)
@given(
    rows=st.lists(st.tuples(TEXTS, TARGETS), max_size=30),
    part_rows=st.integers(1, 12),
    processes=st.integers(1, 3),
)
def test_every_row_has_the_score_of_its_answer_alone_and_keeps_its_cells(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str | None, list[str]]],
    part_rows: int,
    processes: int,
) -> None:
    folder = tmp_path_factory.mktemp("any")
    table = pa.table(
        {
            "answer": pa.array([answer for answer, _ in rows], pa.string()),
            "target": pa.array([targets for _, targets in rows], pa.list_(pa.string())),
            "kept": pa.array([{"n": n} for n in range(len(rows))], pa.struct({"n": pa.int8()})),
        }
    )
    source = write(folder / "in.parquet", table, row_group_size=7)
    out, wanted = folder / "out.parquet", job(folder, "exact")
    score(source, wanted, out, part_rows=part_rows, processes=processes)
    found = read(out)
    for number, ((answer, targets), row) in enumerate(zip(rows, found, strict=True)):
        assert (row["answer"], row["target"]) == (answer, targets)
        assert row["kept"] == {"n": number}
        if not targets:
            assert row["exact.error"] == "the target is empty"
            assert row["exact.value"] is row["exact.correct"] is None
            continue
        sample = Sample(id="", input="", target=tuple(dict.fromkeys(targets)))
        alone = score_of(Exact(), answer, sample, None)
        assert (row["exact.value"], row["exact.correct"]) == (alone.value, alone.correct)
        assert row["exact.explanation"] == alone.explanation
        assert row["exact.grader"].startswith("exact/1 ignore_case=false")
        assert row["exact.error"] is None
    # The same bytes by other parts and another number of children.
    score(source, wanted, folder / "again.parquet", part_rows=part_rows + 1, processes=1)
    assert (folder / "again.parquet").read_bytes() == out.read_bytes()


def test_the_types_of_the_new_columns_are_fixed_also_without_rows(tmp_path: Path) -> None:
    empty = pa.table({"answer": pa.array([], pa.string()), "target": pa.array([], pa.string())})
    source = write(tmp_path / "in.parquet", empty)
    assert score(source, job(tmp_path, "exact"), tmp_path / "out.parquet") is not None
    from pyarrow import parquet  # noqa: PLC0415 - for the schema

    schema = parquet.read_schema(tmp_path / "out.parquet")
    assert [(field.name, str(field.type)) for field in schema][2:] == [
        ("exact.value", "double"),
        ("exact.correct", "bool"),
        ("exact.explanation", "string"),
        ("exact.error", "string"),
        ("exact.grader", "string"),
    ]


HOSTILE = {
    "die": "ends the process",
    "spin": "more than 1 s of processor time",
    "raise": r"a poor answer \(own.py, line \d+",
    "exit": "out",
    "fill": "memory|MemoryError",
    "beyond": "7.0 is not in 0..1",
    "nan": "nan is not in 0..1",
    "text": "returned a str",
}
"""Answers, and the error of their row."""


def test_a_hostile_answer_costs_its_own_row_alone(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    answers = [text for bad in HOSTILE for text in ("t", bad, "t")]
    source = write(tmp_path / "in.parquet", {"answer": answers, "target": ["t"] * len(answers)})
    wanted = job(tmp_path, "exact", "./own.py:obey", cpu_seconds=1)
    score(source, wanted, tmp_path / "out.parquet", processes=2)
    for row, answer in zip(read(tmp_path / "out.parquet"), answers, strict=True):
        if answer == "t":
            assert row["obey.correct"] is True
            assert row["exact.correct"] is True
            continue
        assert row["obey.correct"] is row["obey.value"] is row["obey.grader"] is None
        with pytest.raises(AssertionError, match=HOSTILE[answer]):
            raise AssertionError(row["obey.error"])


def test_output_keys_and_half_characters_of_a_scorer_get_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    (tmp_path / "own.py").write_text(OWN)
    answers = ["print", "key", "half"]
    source = write(tmp_path / "in.parquet", {"answer": answers, "target": ["t"] * 3})
    score(source, job(tmp_path, "./own.py:obey"), tmp_path / "out.parquet")
    printed, key, half = read(tmp_path / "out.parquet")
    assert printed["obey.correct"] is True
    assert key["obey.correct"] is False
    assert half["obey.explanation"] == r"half \ud800"


def test_a_child_that_is_killed_from_outside_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    answers = ["t", f"once:{tmp_path / 'a'}", f"once:{tmp_path / 'b'}", "t"]
    source = write(tmp_path / "in.parquet", {"answer": answers, "target": ["t"] * 4})
    score(source, job(tmp_path, "./own.py:obey"), tmp_path / "out.parquet")
    assert [row["obey.correct"] for row in read(tmp_path / "out.parquet")] == [True] * 4


def test_a_row_that_waits_for_ever_ends_by_the_clock(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    source = write(
        tmp_path / "in.parquet", {"answer": ["t", "sleep:600", "t"], "target": ["t"] * 3}
    )
    wanted = job(tmp_path, "./own.py:obey", wall_seconds=8.0)
    score(source, wanted, tmp_path / "out.parquet")
    before, waiting, after = read(tmp_path / "out.parquet")
    assert before["obey.correct"] is after["obey.correct"] is True
    assert "8 s on the clock" in waiting["obey.error"]


def test_a_formula_has_the_score_of_a_run(tmp_path: Path) -> None:
    pairs = [("x + x", "2 x"), (r"\frac{", "2 x"), ("4 m g", "2 m g"), ("x", r"\nosuchcommand"),
             (None, "x")]  # fmt: skip
    source = write(
        tmp_path / "in.parquet", {"answer": [a for a, _ in pairs], "target": [t for _, t in pairs]}
    )
    wanted = job(tmp_path, "eed")
    score(source, wanted, tmp_path / "out.parquet")
    (scorer,) = made_scorers(wanted)
    for (answer, target), row in zip(pairs, read(tmp_path / "out.parquet"), strict=True):
        if target.startswith(r"\nosuch"):
            assert "cannot be read as a formula" in row["EED.error"]
            continue
        alone = scorer.score(answer, Sample(id="", input="", target=target), None)
        assert (row["EED.value"], row["EED.correct"]) == (alone.value, alone.correct)
        assert (row["EED.explanation"] or "") == alone.explanation
        assert row["EED.grader"].startswith("eed-corrected/")


def test_the_answer_is_what_the_rule_finds(tmp_path: Path) -> None:
    texts = [r"so \boxed{4}", "none", r"\boxed{1} or \boxed{5}"]
    source = write(tmp_path / "in.parquet", {"answer": texts, "target": [4, 4, 5]})
    score(source, job(tmp_path, "number", rule="boxed_last"), tmp_path / "out.parquet")
    correct = [row["number.correct"] for row in read(tmp_path / "out.parquet")]
    assert correct == [True, False, True]


def test_checks_of_each_row_stand_in_a_column(tmp_path: Path) -> None:
    checks = [[{"includes": {"target": "a"}}], [{"includes": {"target": "b"}}], []]
    source = write(tmp_path / "in.parquet", {"answer": ["a", "a", "a"], "list": checks})
    out = tmp_path / "out.parquet"
    score(source, job(tmp_path, "checks"), out, fields=["metadata.checks=list"])
    right, wrong, without = read(out)
    assert (right["checks.correct"], wrong["checks.correct"]) == (True, False)
    assert "name at least one check" in without["checks.error"]


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("judge", {}, "it asks a model about each answer"),
    ("code", {"tests": "t"}, "works on a sample of a run"),
    ("trajectory", {}, "works on a sample of a run"),
    ("eed", {"mode": "best"}, "--scorer eed: mode"),
    ("./absent.py:score", {}, "--scorer ./absent.py:score"),
]


@pytest.mark.parametrize(("name", "options", "told"), REFUSED)
def test_a_scorer_that_needs_more_than_an_answer_is_refused_with_the_reason(
    tmp_path: Path, name: str, options: dict[str, Any], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        made_scorers(job(tmp_path, name, options=options))


def test_two_scores_of_one_name_are_refused(tmp_path: Path) -> None:
    twice = Job(scorers=(ScorerSpec(name="exact"), ScorerSpec(name="exact")), folder=str(tmp_path))
    with pytest.raises(UsageError, match="two scores called 'exact'; give one another `name`"):
        made_scorers(twice)
