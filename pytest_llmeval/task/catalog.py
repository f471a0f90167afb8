"""The tasks of a run, each loaded once, with the run's overrides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.records import Display, Json, Sample, display_of
from pytest_llmeval.task.address import address_of, parse_address
from pytest_llmeval.task.declared import DeclaredScorer
from pytest_llmeval.task.limit import Limit
from pytest_llmeval.task.load import made_task
from pytest_llmeval.task.model import Task
from pytest_llmeval.task.samples import check_examples, read_samples, sample_groups
from pytest_llmeval.task.shared_samples import SharedSamples
from pytest_llmeval.task.task_file import TaskFile


@dataclass(frozen=True)
class LoadedTask:
    """A task with its samples.

    Attributes:
        task: the task.
        read: its samples; the variants of a task share them.
        limit: ``--llmeval-limit``; None without one.
    """

    task: Task
    read: SharedSamples
    limit: Limit | None = None

    @property
    def scorers(self) -> tuple[DeclaredScorer, ...]:
        """The task's scorers."""
        return self.task.scorers

    @property
    def display(self) -> Display:
        """How results show the solver's details."""
        return display_of(self.task.named_solver)

    @property
    def samples(self) -> Sequence[Sample]:
        """The samples in the order of the dataset, cut to ``--llmeval-limit``."""
        return self.read.samples

    @property
    def by_id(self) -> Mapping[str, Sample]:
        """The samples by id."""
        return self.read.by_id

    @property
    def digest(self) -> str:
        """The digest of the samples; see `SharedSamples.digest`."""
        return self.read.digest

    @property
    def dataset_digest(self) -> str:
        """The sha256 of the dataset file in hex, which identifies public datasets."""
        return self.read.dataset_digest

    @cached_property
    def versions(self) -> Mapping[str, Json]:
        """The task's version and digests, which every row stores."""
        examples, limit = self.task.examples, self.limit
        return {
            **({} if limit is None or limit.seed is None else {"subset": str(limit)}),
            **({} if examples is None else {"examples": examples.digest}),
            "task": self.task.version,
            "dataset": self.dataset_digest,
            "prompt": self.task.prompt_digest,
            "settings": self.task.settings_digest,
        }

    def groups(self, sample: Sample) -> dict[str, tuple[str, ...]]:
        """Return the sample's values for each `group_by` column of the task."""
        return sample_groups(self.task, sample)


class Catalog:
    """Loads tasks on first use, and keeps them."""

    def __init__(
        self,
        *,
        folder: Path,
        overrides: Mapping[str, Mapping[str, str]] | None = None,
        limit: int | None = None,
        seed: int | None = None,
    ) -> None:
        """Load nothing yet.

        Args:
            folder: where relative paths in overrides start.
            overrides: by task name, dotted keys and the texts of their values.
            limit: samples to keep of each task; None keeps all.
            seed: which ones; None keeps the first. See `Limit`.
        """
        self._folder, self._overrides = folder, overrides or {}
        self._count, self._seed = limit, seed
        self._files: dict[Path, TaskFile] = {}
        self._loaded: dict[Path, LoadedTask] = {}
        # Beside `_loaded`, because making a path takes longer than all else of a look-up.
        self._by_text: dict[str, LoadedTask] = {}
        self._shared: dict[Path, list[SharedSamples]] = {}
        self._wrong: dict[Path, LLMEvalError] = {}

    def addresses(self, file: Path) -> tuple[Path, ...]:
        """Return the addresses of a file's variants; the file's own if it has none.

        Raises:
            TaskError: the file is invalid.
        """
        if file in self._wrong:
            raise self._wrong[file]
        try:
            variants = self._read(file).variants
        except LLMEvalError as error:
            self._wrong[file] = error.with_traceback(None)
            raise
        return tuple(address_of(file, variant) for variant in variants) or (file,)

    def load(self, file: Path) -> LoadedTask:
        """Return the task at an address with its samples; it is read once, also if it is wrong.

        Raises:
            TaskError: the task or its dataset is invalid.
            UsageError: an override is invalid.
        """
        if file in self._wrong:
            raise self._wrong[file]
        if file not in self._loaded:
            try:
                self._loaded[file] = self._load(file)
            except LLMEvalError as error:
                self._wrong[file] = error.with_traceback(None)
                raise
        return self._loaded[file]

    def at(self, address: str) -> LoadedTask:
        """Return what `load` does, for an address as plans name it."""
        if address not in self._by_text:
            self._by_text[address] = self.load(Path(address))
        return self._by_text[address]

    @property
    def wrong(self) -> tuple[Path, ...]:
        """The files that could not be loaded so far."""
        return tuple(self._wrong)

    @property
    def loaded(self) -> Mapping[Path, LoadedTask]:
        """The tasks loaded so far, by file."""
        return self._loaded

    def _read(self, file: Path) -> TaskFile:
        if file not in self._files:
            self._files[file] = TaskFile.read(file)
        return self._files[file]

    def _load(self, address: Path) -> LoadedTask:
        file, variant = parse_address(address)
        task = made_task(self._read(file), variant, self._overrides, self._folder)
        read = self._samples(file, task)
        check_examples(task, read.samples)
        limit = None if self._count is None else Limit(self._count, self._seed)
        return LoadedTask(task, read, limit)

    def _samples(self, file: Path, task: Task) -> SharedSamples:
        """Return a task's samples, read once for all variants of a file that read the same."""
        known = self._shared.setdefault(file, [])
        found = next((shared for shared in known if shared.serve(task)), None)
        if found is None:
            samples = read_samples(task, limit=self._count, seed=self._seed)
            found = SharedSamples(task, samples, whole=self._count is None)
            known.append(found)
        return found
