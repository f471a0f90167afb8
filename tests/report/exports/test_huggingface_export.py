"""The forms of the Hugging Face hub, read back by huggingface_hub itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from example_rows import TEST, eed, row
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from record_strategies import ROWS
from stored_runs import stored

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Row
from pytest_llmeval.report.exports.export import Benchmark, Exported
from pytest_llmeval.report.exports.huggingface import huggingface_results
from pytest_llmeval.results.run import Run
from pytest_llmeval.results.task_info import TaskInfo

hub = pytest.importorskip("huggingface_hub")
cards = pytest.importorskip("huggingface_hub.repocard_data")
GPQA = Benchmark(dataset="Idavidrein/gpqa", task="gpqa_diamond", revision="1f")


def files_of(run: Run, **benchmarks: Benchmark) -> dict[str, Any]:
    exported = huggingface_results(Exported(run=run, benchmarks=benchmarks))
    return {file.name: yaml.safe_load("".join(file.parts)) for file in exported}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@settings(max_examples=20, deadline=None, phases=set(Phase) - {Phase.shrink, Phase.explain})
@given(st.lists(ROWS, min_size=1, max_size=3))
def test_the_hub_reads_every_mean_of_every_model(folder: Path, rows: list[Row]) -> None:
    run = stored(folder, rows)
    found = set()
    for file in files_of(run).values():
        model, results = cards.model_index_to_eval_results(file["model-index"])
        card = cards.ModelCardData(**file)
        assert len(card.eval_results or ()) == len(results)
        found |= {
            (model, one.dataset_type, one.metric_name, one.metric_value, one.metric_args["n"])
            for one in results
        }
    assert found == {
        (entry.model, entry.task, mean.name, mean.value, mean.n)
        for entry in run.summary.entries
        for mean in (entry.figures.accuracy, *entry.figures.scores)
        if mean.value is not None
    }


def test_each_model_has_a_folder_and_each_benchmark_a_file(tmp_path: Path) -> None:
    rows = [row("1", model=model, scores=eed(40)) for model in ("openai/small", "openai-small")]
    run = stored(tmp_path, [*rows, row("2", "incorrect", model="openai/small")])
    files = files_of(run, demo=GPQA)
    assert sorted(files) == [
        "openai-small-2/.eval_results/demo-test_demo.yaml",
        "openai-small-2/model-index.yaml",
        "openai-small/.eval_results/demo-test_demo.yaml",
        "openai-small/model-index.yaml",
    ]
    values = {
        name: hub.parse_eval_result_entries(file)[0]
        for name, file in files.items()
        if ".eval_results" in name
    }
    assert sorted(entry.value for entry in values.values()) == [0.5, 1.0]
    [entry, _] = values.values()
    assert (entry.dataset_id, entry.task_id, entry.dataset_revision) == tuple(GPQA)
    assert entry.date == "2026-11-23T07:18:17+00:00"
    again = hub.eval_result_entries_to_yaml([entry])
    assert again in files.values()


def test_several_tests_of_a_task_are_configurations_of_its_dataset(tmp_path: Path) -> None:
    rows = [row("1", test=TEST), row("1", test="other.py::test_other")]
    [file] = files_of(stored(tmp_path, rows)).values()
    _, results = cards.model_index_to_eval_results(file["model-index"])
    assert [one.dataset_config for one in results] == ["test_demo", "test_other"]


def test_tests_of_one_name_in_two_files_stay_apart(tmp_path: Path) -> None:
    rows = [row("1", test="a.py::test_it"), row("1", "incorrect", test="b.py::test_it")]
    files = files_of(stored(tmp_path, rows), demo=GPQA)
    _, results = cards.model_index_to_eval_results(
        next(file for name, file in files.items() if "model-index" in name)["model-index"]
    )
    assert [one.dataset_config for one in results] == ["a.py::test_it", "b.py::test_it"]
    ranked = {name: file[0]["value"] for name, file in files.items() if ".eval_results" in name}
    assert sorted(ranked.values()) == [0.0, 1.0]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"recorded": True}, "1 of 1 rows are of recorded replies"),
        ({"stands_in_for": "neo4j", "engine": "other"}, "answered by other, not neo4j"),
        ({"outcome": "error"}, "no sample was scored"),
    ],
)
def test_a_leaderboard_gets_only_what_the_model_answered(
    fields: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    run = stored(tmp_path, [row("1", **fields)])
    with pytest.raises(UsageError, match=rf"--benchmark demo: .*{reason}"):
        files_of(run, demo=GPQA)


def test_a_leaderboard_gets_no_demonstration(tmp_path: Path) -> None:
    run = stored(tmp_path, [row("1")], infos={"demo": TaskInfo(title="demo", demo=True)})
    with pytest.raises(UsageError, match="for a demonstration"):
        files_of(run, demo=GPQA)


def test_a_task_that_is_not_in_the_run_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--benchmark sums: no task of the run; it has demo"):
        files_of(stored(tmp_path, [row("1")]), sums=GPQA)
