"""PHYBench run whole: what a row holds, how results are split, and what stands beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.benchmark_session import ROOT, newest_rows, run_pytest

from pytest_llmeval.errors import TaskError
from pytest_llmeval.task import load_task
from pytest_llmeval.task.samples import read_samples

FILE = ROOT / "benchmarks" / "phybench" / "phybench.yaml"
SCRIPTED = "python/./fixtures/phybench/scripted.py:reply"
STACKED = ["PHYBench-fullques_v1.json", "PHYBench-onlyques_v1.json", "PHYBench-questions_v1.json"]


def run(folder: Path, *options: str) -> str:
    """Run the benchmark, its files below `folder`, and return what pytest says."""
    done = run_pytest(
        FILE.parent,
        "-q",
        "--tb=no",
        "--llmeval-groups",
        f"--llmeval-report={folder / 'reports'}",
        *options,
    )
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    return done.stdout


def entry(folder: Path) -> dict[str, Any]:
    summary = json.loads((folder / "reports/latest/summary.json").read_text("utf-8"))
    found: dict[str, Any]
    [found] = summary["entries"]
    return found


@pytest.fixture(scope="module")
def stacked(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the hub's default split: the release's three files, one after the other."""
    parts = [
        json.loads((shared / "data" / "phybench" / name).read_text("utf-8")) for name in STACKED
    ]
    assert list(map(len, parts)) == [100, 400, 500]
    file = tmp_path_factory.mktemp("hub") / "train.json"
    file.write_text(json.dumps([row for part in parts for row in part]), encoding="utf-8")
    return file


def test_the_hubs_1000_stacked_rows_are_the_100_problems_with_answers(
    shared: Path, stacked: Path
) -> None:
    samples = read_samples(load_task(FILE, {"dataset.path": str(stacked)}))
    release = shared / "data" / "phybench" / STACKED[0]
    assert samples == read_samples(load_task(FILE, {"dataset.path": str(release)}))
    assert len({sample.input for sample in samples}) == len(samples) == 100


@pytest.mark.parametrize("left_out", ["keep", "unique"])
def test_both_rules_are_needed_for_that(stacked: Path, left_out: str) -> None:
    with pytest.raises(TaskError, match=r"the id '.*' is also used|the target is empty"):
        read_samples(load_task(FILE, {"dataset.path": str(stacked), f"dataset.{left_out}": "null"}))


@pytest.fixture(scope="module")
def labelled_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run of seven problems in two epochs, with labels of the judge."""
    folder = tmp_path_factory.mktemp("labelled")
    options = [f"--llmeval-sample={number}" for number in (106, 107, 108, 109, 505, 602, 101)]
    models = ["--llmeval-model", SCRIPTED, "--llmeval-judge", SCRIPTED]
    models += ["--llmeval-set", "phybench.scorer+=taxonomy"]
    (folder / "table.txt").write_text(
        run(folder, *options, *models, "--llmeval-epochs", "2"), "utf-8"
    )
    return folder


def test_every_row_has_both_scores_also_where_there_is_no_answer(labelled_run: Path) -> None:
    found = newest_rows(labelled_run / "reports")
    assert len(found) == 14
    assert any(row["answer"] is None for row in found)
    for row in found:
        found_scores = {
            score["name"]: (score["scale"], score["decides"]) for score in row["scores"]
        }
        found_scores.pop("taxonomy", None)
        assert found_scores == {"EED": (100.0, True), "EED published": (100.0, False)}
        assert (row["outcome"] == "correct") is (row["scores"][0]["value"] == 100)


def test_the_results_are_split_by_tag_and_by_difficulty(labelled_run: Path) -> None:
    groups = [
        (group["key"], group["value"], group["tally"]["samples"])
        for group in entry(labelled_run)["groups"]
    ]
    assert [(value, n) for key, value, n in groups if key == "tag"] == [
        ("ADVANCED", 1),
        ("MECHANICS", 5),
        ("MODERN", 1),
    ]
    assert {value for key, value, _ in groups if key == "difficulty"} <= {"easy", "medium", "hard"}
    assert sum(n for key, _, n in groups if key == "difficulty") == 7


def test_two_epochs_give_pass_at_2(labelled_run: Path) -> None:
    # The scripted model answers a problem the same way in both epochs: one of two right is both of
    # two right.
    tally = entry(labelled_run)["tally"]
    right = tally["counts"]["correct"] / 14
    [twice] = tally["repeated"]
    assert (twice["k"], twice["n"]) == (2, 7)
    assert twice["at_least_one"] == twice["every_one"] == right
    assert twice["every_one_95"][0] < right <= twice["every_one_95"][1]
    assert "pass@2" in (labelled_run / "table.txt").read_text("utf-8")


def test_the_scripted_judge_labels_the_wrong_answers(labelled_run: Path) -> None:
    rows = newest_rows(labelled_run / "reports")
    labels = {
        row["sample"]: score["details"]["label"]
        for row in rows
        for score in row["scores"]
        if score["name"] == "taxonomy"
    }
    assert labels == {
        "106": "RR",
        "107": "PP",
        "108": "RR",
        "109": "PP",
        "505": None,
        "602": "RR",
    }
    assert entry(labelled_run)["tally"]["labels"] == {"label": {"PP": 4, "RR": 6, "unlabelled": 2}}


def test_fourteen_rows_do_not_tell_which_samples_eed_spares(labelled_run: Path) -> None:
    assert entry(labelled_run)["tally"]["efficiency"] == []
    assert "the samples of EED" not in (labelled_run / "table.txt").read_text("utf-8")


def test_literature_stands_beside_the_public_problems(shared: Path, tmp_path: Path) -> None:
    release = shared / "data" / "phybench" / STACKED[0]
    public = [
        f"--llmeval-set=phybench.dataset.path={release}",
        "--llmeval-model",
        SCRIPTED,
        "--llmeval-limit",
        "2",
    ]
    text = run(tmp_path, *public)
    assert "demo data" not in text
    assert "2 of 100 samples" in text
    lines = [line.split() for line in text.splitlines()]
    # accuracy, EED published: the humans, table 4, and the public 100, where the paper gives no
    # EED.
    assert ["Students,", "mean", "61.9", "%", "70.4"] in lines
    assert ["o1", "10.7", "%", "27.5"] in lines
    assert ["Gemini", "2.5", "Pro", "38.7", "%"] in lines
    assert [group["key"] for group in entry(tmp_path)["groups"]] == ["tag"]


def test_no_literature_stands_beside_our_own_problems(labelled_run: Path) -> None:
    text = (labelled_run / "table.txt").read_text("utf-8")
    assert "phybench (demo data)" in text
    assert "Students" not in text
    assert entry(labelled_run)["info"]["published"] == []
