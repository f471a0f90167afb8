"""The run of all benchmarks as data, and in the forms of other tools."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval import Run, load_run
from pytest_llmeval.commands.main import main
from pytest_llmeval.records import RowKey
from pytest_llmeval.report.exports.inspect_sample import OUTCOME
from pytest_llmeval.roles import SOLVER


@pytest.fixture(scope="module")
def run(recorded: Path) -> Run:
    return load_run("latest", reports=recorded)


@pytest.fixture(scope="module")
def logs(run: Run, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str, str], Any]:
    """Return what Inspect reads, without a warning, by task, test and model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of Inspect's own imports
        inspect_log = pytest.importorskip("inspect_ai.log")
    out = tmp_path_factory.mktemp("logs")
    assert main(["export", str(run.path), "--to", "inspect", "--out", str(out)]) == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [
            inspect_log.read_eval_log(path, resolve_attachments="full")
            for path in inspect_log.list_eval_logs(str(out))
        ]
    return {(log.eval.task, log.metadata["test"], log.eval.model): log for log in found}


def test_the_data_frame_has_the_figures_of_every_task_and_model(run: Run) -> None:
    pytest.importorskip("pandas")
    frame = run.dataframe()
    assert len(frame) == len(run.rows)
    parts = {
        tuple(map(str, key)): part
        for key, part in frame.groupby(["task", "test", "model"], observed=True)
    }
    assert len(parts) == len(run.summary.entries)
    for entry in run.summary.entries:
        part = parts[entry.task, entry.test, entry.model]
        figures = entry.figures
        assert part["correct"].mean() == pytest.approx(figures.accuracy.value)
        assert part["correct"].count() == figures.counts.scored
        assert part["output_tokens"].sum() == figures.usage.output_tokens
        assert part["seconds"].sum() == pytest.approx(figures.seconds.total)
        for mean in figures.scores:
            scored = part[part["correct"].notna()]
            assert scored[f"score:{mean.name}"].mean() == pytest.approx(mean.value)


def test_inspect_reads_every_sample_of_every_benchmark(run: Run, logs: dict[Any, Any]) -> None:
    found = {
        RowKey(test, task, sample.id, model, sample.epoch): sample
        for (task, test, model), log in logs.items()
        for sample in log.samples
    }
    ran = [row for row in run.rows if row.outcome != "not run"]
    assert found.keys() == {row.key for row in ran}
    for row in ran:
        sample, events = found[row.key], run.transcripts[row.key].events
        assert len(sample.events) == len(events)
        assert (sample.error is not None) == (row.outcome == "error")
        if row.outcome in {"correct", "incorrect"}:
            assert sample.scores[OUTCOME].value == row.outcome[0].upper()
        calls = [one for one in run.transcripts[row.key].calls if one.asked.role == SOLVER]
        chats = [one for one in calls if one.asked.operation == "chat"]
        if chats:
            asked = [message.text for message in chats[-1].asked.messages]
            # Between the parts of a text Inspect puts line breaks.
            said = [message.text for message in sample.messages]
            assert [re.sub(r"\s", "", text) for text in said] == [
                re.sub(r"\s", "", text) for text in (*asked, chats[-1].reply.text)
            ]
        total = sum(one.total_tokens for one in sample.model_usage.values())
        assert total == row.usage.total_tokens


def test_other_forms_take_every_task(run: Run, tmp_path: Path) -> None:
    for form in ("huggingface", "latex"):
        assert main(["export", str(run.path), "--to", form, "--out", str(tmp_path / form)]) == 0
    tasks = {entry.task for entry in run.summary.entries}
    assert (tmp_path / "latex/tables.tex").read_text().count(r"\begin{table}") == len(tasks)
