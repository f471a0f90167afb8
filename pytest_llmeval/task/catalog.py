"""The tasks of a run, each loaded once with the run's overrides."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_llmeval.records import Json, Sample
from pytest_llmeval.session.settings import Settings

if TYPE_CHECKING:
    from pytest_llmeval.task import Task

HUB = "hub://"
"""How the address of a dataset on the Hugging Face hub begins, which is no path."""

FILE_KEYS = frozenset({"dataset.path", "graph.scene", "replay", "published"})
"""The keys of a task that name files: on the command line these are relative to the invocation
folder."""


@dataclass(frozen=True)
class LoadedTask:
    """A task and its samples in dataset order, after `--llmeval-limit`."""

    task: Task
    samples: tuple[Sample, ...]

    @cached_property
    def by_id(self) -> Mapping[str, Sample]:
        """The samples by their id."""
        return {sample.id: sample for sample in self.samples}

    @cached_property
    def digest(self) -> str:
        """The hash of ids, inputs and targets: processes that agree on it run the same samples."""
        digest = hashlib.sha256()
        for sample in self.samples:
            digest.update(
                f"{sample.id}\0{sample.input}\0{sample.target}\1".encode("utf-8", "surrogatepass")
            )
        return digest.hexdigest()

    @cached_property
    def dataset_digest(self) -> str:
        """The sha256 of the dataset file, by which public datasets are known."""
        from pytest_llmeval.task.samples import dataset_digest  # noqa: PLC0415 - loaded by then

        return dataset_digest(self.task)

    @cached_property
    def versions(self) -> Mapping[str, Json]:
        """What decides what is asked and how it is scored, for every row."""
        return {
            "task": self.task.version,
            "dataset": self.dataset_digest,
            "prompt": self.task.prompt_digest,
            "settings": self.task.settings_digest,
        }

    def groups(self, sample: Sample) -> dict[str, tuple[str, ...]]:
        """Return the sample's values of each column that the task groups by."""
        from pytest_llmeval.task.samples import sample_groups  # noqa: PLC0415 - loaded by then

        return sample_groups(self.task, sample)


class Catalog:
    """Loads tasks on first use; the collecting side and the engine's side each see the same ones."""

    def __init__(self, settings: Settings) -> None:
        """Load with these settings."""
        self._settings = settings
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
        # pydantic and jinja2 are loaded only once a task is.
        from pytest_llmeval.task import load_task  # noqa: PLC0415
        from pytest_llmeval.task.samples import read_samples  # noqa: PLC0415

        task = load_task(file)
        if overrides := self._overrides(task):
            task = load_task(file, overrides)
        return LoadedTask(task, read_samples(task, limit=self._settings.limit))

    def _overrides(self, task: Task) -> dict[str, Json | Path]:
        name = task.name
        folder = Path(self._settings.folder)
        overrides: dict[str, Json | Path] = {
            key: folder / value if key in FILE_KEYS else value
            for key, value in self._settings.overrides.get(name, {}).items()
        }
        if (dataset := self._settings.datasets.get(name)) is not None:
            overrides["dataset.path"] = dataset if dataset.startswith(HUB) else Path(dataset)
        if task.solver.name == "visual_cot" and self._settings.image_mode is not None:
            overrides.setdefault("solver.visual_cot.image_mode", self._settings.image_mode)
        return overrides
