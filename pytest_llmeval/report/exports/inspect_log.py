"""A run as logs of Inspect (https://inspect.aisi.org.uk), one for each task and model.

The form is that of `inspect_ai.log.EvalLog`, version 2, as JSON; Inspect need not be installed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any, Final, cast

from pytest_llmeval.records import Json, RowKey
from pytest_llmeval.report.exports.export import Exported, ExportFile, file_name
from pytest_llmeval.report.exports.inspect_sample import OUTCOME, UsageByModel, inspect_sample
from pytest_llmeval.report.natural_order import natural_order
from pytest_llmeval.results.figures import Mean
from pytest_llmeval.results.run import Run
from pytest_llmeval.results.summary import TaskSummary

_VERSION: Final = 2
"""Version of Inspect's form."""


def inspect_logs(exported: Exported) -> Iterator[ExportFile]:
    """Yield one log for each task, test function and model, under the name that Inspect gives it.

    A sample that was not run has no place in it. Half a surrogate pair, which Inspect cannot read,
    becomes a question mark.
    """
    for entry in exported.run.summary.entries:
        log = _Log(exported, entry)
        moment = f"{exported.started:%Y-%m-%dT%H-%M-%S}-00-00"
        name = f"{moment}_{file_name(entry.task)}_{log.digest}.json"
        yield ExportFile(name, log.parts())


class _Log:
    """The log of one entry."""

    def __init__(self, exported: Exported, entry: TaskSummary) -> None:
        self._run: Run = exported.run
        self._entry = entry
        self._started = exported.started.isoformat()
        identity = f"{self._run.name} {entry.task} {entry.test} {entry.model}"
        self.digest = hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()[:22]

    def parts(self) -> Iterator[str]:
        """Yield the text of the log, one sample at a time."""
        keys = self._keys()
        head: dict[str, Json] = {
            "version": _VERSION,
            "status": "cancelled" if self._entry.figures.counts.not_run else "success",
            "eval": self._eval(keys),
            "plan": {"name": "plan", "steps": []},
            "results": self._results(),
            "stats": self._stats(keys),
        }
        yield f'{_text(head)[:-1]},"samples":['
        for number, key in enumerate(keys):
            transcript = self._run.transcripts.get(key)
            row = self._run.by_key[key]
            yield "," * bool(number) + _text(inspect_sample(row, transcript, started=self._started))
        yield "]}\n"

    def _keys(self) -> list[RowKey]:
        """Return the keys of the entry's rows that ran."""
        entry = self._entry
        wanted = (entry.test, entry.task, entry.model)
        keys = [key for key in self._run.by_key if (key.test, key.task, key.model) == wanted]
        ran = (key for key in keys if self._run.by_key[key].outcome != "not run")
        return sorted(ran, key=lambda key: (natural_order(key.sample), key.epoch))

    def _eval(self, keys: list[RowKey]) -> dict[str, Json]:
        entry, info = self._entry, self._run.info
        tasks = cast("dict[str, dict[str, Json]]", info.get("tasks", {}))
        file, known = next(
            ((file, one) for file, one in tasks.items() if one.get("name") == entry.task),
            (None, cast("dict[str, Json]", {})),
        )
        samples = list(dict.fromkeys(key.sample for key in keys))
        scorers: list[Json] = [
            {"name": score.name, "options": {"scorer": score.scorer, **score.options}}
            for score in entry.info.scores
        ]
        return {
            "eval_id": self.digest,
            "run_id": self._run.name,
            "created": self._started,
            "task": entry.task,
            "task_id": self.digest,
            "task_version": known.get("version", 0),
            "task_file": file,
            "task_display_name": entry.info.title,
            "dataset": {
                "name": entry.task,
                "samples": len(samples),
                "sample_ids": cast("list[Json]", samples),
            },
            "model": entry.model,
            "config": {"epochs": entry.figures.epochs or 1, "fail_on_error": False},
            "revision": _revision(info.get("git")),
            "packages": _packages(info.get("versions")),
            "metadata": {
                "test": entry.test,
                "demo": entry.info.demo,
                "graders": {name: list(texts) for name, texts in entry.versions.items()},
            },
            "scorers": [{"name": OUTCOME}, *scorers],
        }

    def _results(self) -> Json:
        figures = self._entry.figures
        counts = figures.counts
        accuracy = _score(OUTCOME, "accuracy", figures.accuracy, counts.planned)
        return {
            "total_samples": counts.planned,
            "completed_samples": counts.scored + counts.unscored,
            "scores": [
                accuracy,
                *(_score(mean.name, "mean", mean, counts.scored) for mean in figures.scores),
            ],
        }

    def _stats(self, keys: list[RowKey]) -> Json:
        used = UsageByModel()
        for key in keys:
            used.add(self._run.by_key[key], self._run.transcripts.get(key))
        return {"started_at": self._started, "completed_at": "", **used.to_json()}


def _score(name: str, metric: str, mean: Mean, planned: int) -> Json:
    """Return a mean as Inspect's score, with the ends of its interval as metrics of their own."""
    values = {metric: mean.value, "stderr": mean.standard_error}
    values |= {"95 % low": mean.low, "95 % high": mean.high}
    return {
        "name": name,
        "scorer": name,
        "scored_samples": mean.n,
        "unscored_samples": max(planned - mean.n, 0),
        "metrics": {
            name: {"name": name, "value": value}
            for name, value in values.items()
            if value is not None
        },
    }


def _revision(git: Json) -> Json:
    if not isinstance(git, dict):
        return None
    commit, dirty = git.get("commit"), git.get("modified")
    return {"type": "git", "origin": "", "commit": commit, "dirty": dirty}


def _packages(versions: Json) -> Json:
    found = versions if isinstance(versions, dict) else {}
    return {name: version for name, version in found.items() if isinstance(version, str)}


def _text(value: Any) -> str:  # noqa: ANN401 - JSON, and numbers that are none
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace").decode()
