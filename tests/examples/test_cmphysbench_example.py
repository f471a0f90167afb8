"""examples/cmphysbench on its recorded replies: rows in the form of the public ones, all types."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import yaml
from examples.example_run import ROOT, rows_of

from pytest_llmeval.task.catalog import Catalog
from pytest_llmeval.task.hub import HubFile

FOLDER = ROOT / "examples/cmphysbench"
PLANNED: list[dict[str, str]] = yaml.safe_load(
    (Path(__file__).parent / "cmphysbench.yaml").read_text("utf-8")
)
ROWS: list[dict[str, Any]] = json.loads((FOLDER / "samples.json").read_text("utf-8"))
TYPES = {"Expression", "Equation", "Tuple", "Interval", "Numeric"}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the outcomes of the example's run on recorded replies, by sample."""
    reports = tmp_path_factory.mktemp("reports")
    return {row["sample"]: row["outcome"] for row in rows_of(FOLDER, reports)}


@pytest.mark.parametrize("planned", PLANNED, ids=lambda one: f"{one['id']} {one['why']}")
def test_every_reply_gets_the_outcome_that_is_right_for_it(
    planned: dict[str, str], outcomes: dict[str, str]
) -> None:
    assert outcomes[planned["id"]] == planned["outcome"]


def test_rows_without_a_reference_answer_are_left_out(outcomes: dict[str, str]) -> None:
    withheld = {str(row["id"]) for row in ROWS if not row["final_answer"]}
    assert withheld
    assert set(outcomes) == {str(row["id"]) for row in ROWS} - withheld
    assert set(outcomes) == {one["id"] for one in PLANNED}


def test_every_type_of_answer_has_a_right_and_a_wrong_reply() -> None:
    types = {str(row["id"]): row["answer_type"] for row in ROWS}
    found = defaultdict(set)
    for one in PLANNED:
        found[types[one["id"]]].add(one["outcome"])
    assert found == {one: {"correct", "incorrect"} for one in TYPES}


def test_the_prompt_holds_context_question_and_symbols_and_never_the_answer() -> None:
    loaded = Catalog(folder=ROOT).load(FOLDER / "cmphysbench.yaml")
    assert [sample.target for sample in loaded.by_id.values()] == [
        row["final_answer"][0] for row in ROWS if row["final_answer"]
    ]
    replies = (FOLDER / "replies.jsonl").read_text("utf-8").splitlines()
    asked = [json.loads(line)["content"]["messages"][-1]["parts"][0]["text"] for line in replies]
    for row in (row for row in ROWS if row["final_answer"]):
        [text] = [one for one in asked if row["question"] in one]
        assert text.startswith(row.get("context", "") + row["question"])
        assert text.endswith(row["symbol"])
        assert row["final_answer"][0] not in text


def test_the_public_file_is_named_by_a_pinned_address() -> None:
    for page in ("cmphysbench.yaml", "README.md"):
        text = (FOLDER / page).read_text("utf-8")
        addresses = {word.rpartition("=")[2] for word in text.split() if "hub://" in word}
        [source] = {HubFile.parse(address) for address in addresses}
        assert len(source.revision) == 40
