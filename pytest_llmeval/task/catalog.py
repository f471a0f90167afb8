"""The tasks of a run, each loaded once with the run's overrides."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pytest_llmeval.records import Display, Json, Sample, display_of
from pytest_llmeval.task.declared import DeclaredScorer
from pytest_llmeval.task.load import load_task
from pytest_llmeval.task.model import Task
from pytest_llmeval.task.samples import dataset_digest, read_samples, sample_groups


@dataclass(frozen=True)
class LoadedTask:
    """A task and its samples in dataset order, after ``--llmeval-limit``."""

    task: Task
    samples: tuple[Sample, ...]

    @property
    def scorers(self) -> tuple[DeclaredScorer, ...]:
        """The task's scorers."""
        return self.task.scorers

    @property
    def display(self) -> Display:
        """What results show of the solver's details."""
        return display_of(self.task.named_solver)

    @cached_property
    def by_id(self) -> Mapping[str, Sample]:
        """The samples by their id."""
        return {sample.id: sample for sample in self.samples}

    @cached_property
    def digest(self) -> str:
        """The hash of ids, inputs and targets: processes that agree on it run the same samples."""
        digest = hashlib.sha256()
        for sample in self.samples:
            text = f"{sample.id}\0{sample.input}\0{sample.target}\1"
            digest.update(text.encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    @cached_property
    def dataset_digest(self) -> str:
        """The sha256 of the dataset file, by which public datasets are known."""
        return dataset_digest(self.task)

    @cached_property
    def versions(self) -> Mapping[str, Json]:
        """What decides requests and scores, as every row stores it."""
        return {
            "task": self.task.version,
            "dataset": self.dataset_digest,
            "prompt": self.task.prompt_digest,
            "settings": self.task.settings_digest,
        }

    def groups(self, sample: Sample) -> dict[str, tuple[str, ...]]:
        """Return the sample's values of each column that the task groups by."""
        return sample_groups(self.task, sample)


class Catalog:
    """Loads tasks on first use; the collecting side and the engine's side each see the same ones."""

    def __init__(
        self,
        *,
        folder: Path,
        overrides: Mapping[str, Mapping[str, str]] | None = None,
        limit: int | None = None,
    ) -> None:
        """Load the first `limit` samples of each task, with its `overrides` (by task and key).

        Paths in overrides start from `folder`.
        """
        self._folder, self._overrides, self._limit = folder, overrides or {}, limit
        self._loaded: dict[Path, LoadedTask] = {}

    def load(self, file: Path) -> LoadedTask:
        """Return the task in `file` with its samples; TaskError for anything wrong with either."""
        if file not in self._loaded:
            self._loaded[file] = self._load(file)
        return self._loaded[file]

    @property
    def loaded(self) -> Mapping[Path, LoadedTask]:
        """The tasks loaded so far."""
        return self._loaded

    def _load(self, file: Path) -> LoadedTask:
        # The file names the task, and the task its overrides.
        task = load_task(file)
        if overrides := self._overrides.get(task.name):
            task = load_task(file, overrides, self._folder)
        return LoadedTask(task, read_samples(task, limit=self._limit))
