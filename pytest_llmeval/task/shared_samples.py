"""The samples of one reading of a dataset, which the variants of a task share."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pytest_llmeval.records import Sample
from pytest_llmeval.task.model import Task
from pytest_llmeval.task.samples import dataset_digest, is_checked_by
from pytest_llmeval.task.spooled_samples import SamplesById


@dataclass(frozen=True)
class SharedSamples:
    """The samples that one task has read, for that task and others that would read the same.

    Attributes:
        task: the task by whose columns and checks they were read.
        samples: in the order of the dataset.
        whole: whether they are all that the file holds, so that further checks miss none.
    """

    task: Task
    samples: Sequence[Sample]
    whole: bool

    def serve(self, task: Task) -> bool:
        """Return whether a task would read the same samples, and none that its checks refuse.

        Where a check refuses one, the task reads its dataset itself, for errors that name rows.
        """
        read = self.task
        same = (task.dataset, task.choices, task.group_by)
        if same != (read.dataset, read.choices, read.group_by):
            return False
        if (task.scorer, task.solver) == (read.scorer, read.solver):
            return True
        return self.whole and is_checked_by(task, self.samples)

    @cached_property
    def by_id(self) -> Mapping[str, Sample]:
        """The samples by id."""
        return SamplesById(self.samples)

    @cached_property
    def digest(self) -> str:
        """The sha256, in hex, of all ids, inputs and targets, to compare processes."""
        digest = hashlib.sha256()
        for sample in self.samples:
            shown = f"{sample.choices}" if sample.choices else ""
            text = f"{sample.id}\0{sample.input}\0{sample.target}{shown}\1"
            digest.update(text.encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    @cached_property
    def dataset_digest(self) -> str:
        """The sha256 of the dataset file in hex, which identifies public datasets."""
        return dataset_digest(self.task)
