"""A run's figures in the two forms of the Hugging Face hub, for the repository of each model.

``model-index.yaml`` holds the metadata ``model-index`` of a model card
(https://github.com/huggingface/hub-docs/blob/main/modelcard.md), ``.eval_results/TASK.yaml`` the
entry of a benchmark's leaderboard (https://huggingface.co/docs/hub/eval-results).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import yaml

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Json
from pytest_llmeval.report.exports.export import Benchmark, Exported, ExportFile, file_names
from pytest_llmeval.report.task_title import task_title
from pytest_llmeval.results.figures import Mean
from pytest_llmeval.results.summary import TaskSummary
from pytest_llmeval.results.task_info import metric_name


def huggingface_results(exported: Exported) -> Iterator[ExportFile]:
    """Yield the export's files, one folder per model.

    A task takes part in a leaderboard if `Exported.benchmarks` names it.

    Raises:
        UsageError: a named task is not in the run, or its figures are no result of the model.
    """
    entries = exported.run.summary.entries
    _check(exported.benchmarks, entries)
    models = tuple(dict.fromkeys(entry.model for entry in entries))
    for model, folder in zip(models, file_names(models), strict=True):
        own = [entry for entry in entries if entry.model == model]
        yield _yaml(f"{folder}/model-index.yaml", _model_index(model, own, exported.benchmarks))
        ranked = [entry for entry in own if entry.task in exported.benchmarks]
        names = file_names(f"{entry.task} {_test_name(entry, own)}" for entry in ranked)
        for entry, name in zip(ranked, names, strict=True):
            place = f"{folder}/.eval_results/{name}.yaml"
            yield _yaml(place, [_entry(entry, exported.benchmarks[entry.task], exported)])


def _model_index(
    model: str, entries: Sequence[TaskSummary], benchmarks: Mapping[str, Benchmark]
) -> Json:
    results: list[Json] = [
        {
            "task": {"type": "text-generation", "name": task_title([entry])},
            "dataset": _dataset(entry, entries, benchmarks.get(entry.task)),
            "metrics": [_metric(mean) for mean in _means(entry)],
        }
        for entry in entries
        if _means(entry)
    ]
    return {"model-index": [{"name": model, "results": results}]}


def _dataset(
    entry: TaskSummary, entries: Sequence[TaskSummary], benchmark: Benchmark | None
) -> Json:
    """Return the dataset; of several tests of a task each is a configuration of it."""
    found: dict[str, Json] = {
        "type": benchmark.dataset if benchmark else entry.task,
        "name": entry.info.title,
    }
    if sum(other.task == entry.task for other in entries) > 1:
        found["config"] = _test_name(entry, entries)
    if benchmark and benchmark.revision:
        found["revision"] = benchmark.revision
    return found


def _test_name(entry: TaskSummary, entries: Sequence[TaskSummary]) -> str:
    """Return the name of an entry's test function; with its file where two files have one."""
    name = entry.test.rpartition("::")[2]
    alike = [
        other
        for other in entries
        if (other.task, other.test.rpartition("::")[2]) == (entry.task, name)
    ]
    return name if len(alike) == 1 else entry.test


def _means(entry: TaskSummary) -> list[Mean]:
    """Return the accuracy and every other mean that has a value."""
    figures = entry.figures
    means = (figures.accuracy, *figures.scores, *figures.shares, *figures.further_metrics)
    return [mean for mean in means if mean.value is not None]


def _metric(mean: Mean) -> Json:
    return {
        "type": metric_name(mean.name),
        "name": mean.name,
        "value": mean.value,
        "args": {"n": mean.n, "scale": mean.scale, "low": mean.low, "high": mean.high},
    }


def _entry(entry: TaskSummary, benchmark: Benchmark, exported: Exported) -> Json:
    accuracy, counts = entry.figures.accuracy, entry.figures.counts
    dataset: dict[str, Json] = {"id": benchmark.dataset, "task_id": benchmark.task}
    if benchmark.revision:
        dataset["revision"] = benchmark.revision
    return {
        "dataset": dataset,
        "value": accuracy.value,
        "date": exported.started.isoformat(),
        "notes": f"{counts.scored} of {counts.planned} samples scored, by pytest-llmeval",
    }


def _check(benchmarks: Mapping[str, Benchmark], entries: Sequence[TaskSummary]) -> None:
    """Refuse tasks that are not there, and figures that no leaderboard should show."""
    tasks = sorted({entry.task for entry in entries})
    for task in benchmarks:
        if task not in tasks:
            msg = f"--benchmark {task}: no task of the run; it has {', '.join(tasks)}"
            raise UsageError(msg)
    for entry in entries:
        if entry.task in benchmarks and (reason := _no_result(entry)):
            msg = (
                f"--benchmark {entry.task}: a leaderboard shows what a model answered, and under "
                f"{entry.model} {reason}; run the task on the benchmark's own data with the model"
            )
            raise UsageError(msg)


def _no_result(entry: TaskSummary) -> str:
    """Return why figures are no result of the model on the benchmark; "" if they are."""
    figures = entry.figures
    if entry.info.demo:
        return "the data are for a demonstration"
    if figures.recorded:
        return f"{figures.recorded} of {figures.counts.planned} rows are of recorded replies"
    if figures.stand_ins:
        return f"its tools were answered by {figures.stand_ins[0].engines}"
    return "no sample was scored" if figures.accuracy.value is None else ""


def _yaml(name: str, data: Json) -> ExportFile:
    return ExportFile(name, (yaml.safe_dump(data, sort_keys=False, width=100),))
