"""The samples of a task's dataset, all checked before a request is paid for."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pytest_llmeval.errors import TaskError
from pytest_llmeval.records import Json, Sample, Target
from pytest_llmeval.safety.raised import described_with_place
from pytest_llmeval.safety.regular_files import check_regular, open_regular
from pytest_llmeval.scoring.targets import check_target
from pytest_llmeval.task.cells import (
    json_value,
    optional,
    required,
    several,
    target,
    text,
    texts,
    word,
)
from pytest_llmeval.task.choices import ShownChoices
from pytest_llmeval.task.dataset import Dataset
from pytest_llmeval.task.declared import DeclaredScorer
from pytest_llmeval.task.fewshot import EXAMPLES_STAGE, Examples, FewShot
from pytest_llmeval.task.limit import Limit
from pytest_llmeval.task.model import Task
from pytest_llmeval.task.row_place import Columns, MissingColumnError, RowPlace
from pytest_llmeval.task.rows import folder_reader, read_rows
from pytest_llmeval.task.sample_images import SampleImages
from pytest_llmeval.task.selection import Selection
from pytest_llmeval.task.spooled_samples import collected
from pytest_llmeval.task.wrong_rows import SHOWN, WrongRows
from pytest_llmeval.templates.filling import FillingError, check_syntax
from pytest_llmeval.templates.language import AS_TEXT, names_used


def read_samples(
    task: Task, *, limit: int | None = None, seed: int | None = None
) -> Sequence[Sample]:
    """Return the samples of a task that `limit` and `seed` take, in the order of its dataset file.

    The whole file is checked, whatever the limit. Long texts are kept in a temporary file.

    Raises:
        TaskError: the dataset is invalid or has no samples; with file, line (where the format has
            lines), row, column and value. The errors of several rows are told together.
        UsageError: an option sets a value of the dataset that is invalid.
    """
    _check_file(task, task.dataset.path, "dataset")
    reader = _Reader(
        task,
        task.dataset,
        scorers=task.scorers,
        solver=task.named_solver,
        groups=task.group_by,
    )
    found = reader.samples()
    samples = collected(found if limit is None else Limit(limit, seed).of(found))
    if not samples:
        keep = task.dataset.keep
        kept = f", and dataset.keep ({keep}) is true for none" if keep else ""
        problem = f"has no samples: {reader.rows} rows{kept}"
        raise TaskError(problem, file=task.dataset.path)
    return samples


def wrong_samples(task: Task, problems: Mapping[str, str]) -> TaskError:
    """Return the error of samples by their ids, with a line for each row of the dataset."""
    return _Reader(task, task.dataset).told(problems)


def is_checked_by(task: Task, samples: Iterable[Sample]) -> bool:
    """Return whether a task's scorers can use the targets of samples, and its solver the samples.

    Samples that were read for another task; `read_samples` tells what is wrong with which row.
    """
    check = getattr(task.named_solver, "check_sample", None)
    try:
        for sample in samples:
            for declared in task.scorers:
                check_target(declared.scorer, sample.target)
            if check is not None:
                check(sample)
    except Exception:  # noqa: BLE001 - of the user's code; it is met again and told
        return False
    return True


def read_examples(task: Task, fewshot: FewShot) -> Examples:
    """Return the samples of a task's split of examples, read as those of its dataset.

    Pictures and tags are left out.

    Raises:
        LLMEvalError: the split cannot be read, has too few rows, or rows without a target; or no
            prompt shows the examples.
    """
    _check_form(task, fewshot)
    _check_file(task, fewshot.path, "fewshot")
    fields = task.dataset.fields.model_copy(update={"images": (), "pictures": {}, "tags": ()})
    dataset = task.dataset.model_copy(update={"path": fewshot.path, "fields": fields})
    split = collected(_Reader(task, dataset).samples())
    if len(split) < fewshot.count:
        problem = f"is {fewshot.count}, and {fewshot.path.name} has {len(split)} examples"
        raise task.error(problem, "fewshot", "count")
    if lacking := next((one.id for one in split if one.target is None), None):
        problem = f"names {fewshot.path.name}, whose row {lacking!r} has no target to show"
        raise task.error(problem, "fewshot", "path")
    return Examples(split=split, chosen=fewshot, digest=_file_digest(fewshot.path))


def _check_form(task: Task, fewshot: FewShot) -> None:
    """Raise an error if the prompt does not show the examples in their form."""
    if not fewshot.as_turns:
        if not task.shows("examples"):
            problem = "chooses examples that no prompt shows; write {{ examples }} into the prompt"
            raise task.error(problem, "fewshot")
        return
    if not any(turn.role == "user" for turn in task.prompt.get(EXAMPLES_STAGE, ())):
        problem = (
            f"is turns, and the prompt has no stage {EXAMPLES_STAGE} with a message of the user "
            "that could ask the examples"
        )
        raise task.error(problem, "fewshot", "form")
    uses = (
        use for turns in task.prompt.values() for turn in turns for use in names_used(turn.text)
    )
    if any(use.name in {"examples", f"examples{AS_TEXT}"} for use in uses):
        problem = "is turns, and the prompt shows {{ examples }} as text too; choose one of the two"
        raise task.error(problem, "fewshot", "form")
    try:
        check_syntax(fewshot.reply)
    except FillingError as error:
        raise task.error(error.problem, "fewshot", "reply") from None


def check_examples(task: Task, samples: Iterable[Sample]) -> None:
    """Raise an error if there are too few examples besides one of the samples itself."""
    if (examples := task.examples) is None:
        return
    for sample in samples:
        if (found := len(examples.of(sample))) < examples.chosen.count:
            problem = (
                f"is {examples.chosen.count}, and sample {sample.id!r} has {found} examples "
                "besides itself"
            )
            raise task.error(problem, "fewshot", "count")


def _check_file(task: Task, path: Path, section: str) -> None:
    if path.is_dir():
        return
    try:
        check_regular(path)
    except OSError as error:
        reason = "there is no such file" if not path.exists() else error.strerror
        problem = f"names {str(path)!r}: {reason}"
        raise task.error(problem, section, "path") from None


def dataset_digest(task: Task) -> str:
    """Return the sha256 of the dataset's bytes in hex, which identifies public datasets.

    For a folder it is the sha256 of the digests of its row files, concatenated in their order.
    """
    return _file_digest(task.dataset.path)


def _file_digest(path: Path) -> str:
    if path.is_dir():
        digests = "".join(_digest(file) for file in folder_reader(path).files(path))
        return hashlib.sha256(digests.encode()).hexdigest()
    return _digest(path)


def _digest(path: Path) -> str:
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sample_groups(task: Task, sample: Sample) -> dict[str, tuple[str, ...]]:
    """Return the sample's values for each `group_by` column; a list counts as several values."""
    return {
        name: _group(sample.metadata[name]) for name in task.group_by if name in sample.metadata
    }


def _group(value: Json) -> tuple[str, ...]:
    return tuple(str(part) for part in value) if isinstance(value, list) else (str(value),)


class _Reader:
    """Reads one task's dataset row by row into samples.

    Attributes:
        rows: number of rows read so far, with those that are not selected.
    """

    def __init__(
        self,
        task: Task,
        dataset: Dataset,
        *,
        scorers: Sequence[DeclaredScorer] = (),
        solver: Any = None,  # noqa: ANN401 - a port of the engine, a layer above
        groups: Sequence[str] = (),
    ) -> None:
        """Read `dataset`, and add the columns `groups` as metadata.

        `scorers` check the targets, and `solver` the samples.
        """
        self._task, self._dataset, self._fields = task, dataset, dataset.fields
        self._scorers, self._solver, self._groups = scorers, solver, groups
        self.rows = 0
        self._wrong = WrongRows(task)
        self._ids: dict[str, RowPlace] = {}
        self._images = SampleImages(self._dataset.path)
        selects = self._dataset.keep is not None or self._dataset.unique is not None
        self._selection = Selection(task) if selects else None

    def samples(self) -> Iterator[Sample]:
        """Yield the samples of the selected rows; at the end raise the errors of the wrong ones."""
        selected = 0
        rows = self._counted()
        for place, row in rows if self._selection is None else self._selection.selected(rows):
            selected += 1
            try:
                sample = self._sample(place, row)
            except TaskError as error:
                self._wrong.add(error)
            else:
                yield sample
        self._wrong.check(selected)

    def told(self, problems: Mapping[str, str]) -> TaskError:
        """Return the error of problems by sample, at the rows that are these samples."""
        errors: list[TaskError] = []
        rows = self._counted()
        for place, row in rows if self._selection is None else self._selection.selected(rows):
            sample = self._id(place, row)
            if sample in problems and len(errors) < SHOWN:
                errors.append(place.error(None, f"{problems[sample]} (sample {sample!r})"))
        return TaskError.together(errors, more=len(problems) - len(errors))

    def _counted(self) -> Iterator[tuple[RowPlace, Columns]]:
        for placed in read_rows(self._dataset.path, self._dataset.rows, self._wrong.add):
            self.rows += 1
            yield placed

    def _sample(self, place: RowPlace, row: Columns) -> Sample:
        sample_id = self._id(place, row)
        if (first := self._ids.setdefault(sample_id, place)) is not place:
            where = f"row {first.number}" if first.line is None else f"line {first.line}"
            raise place.error(self._fields.id, f"the id {sample_id!r} is also used in {where}")
        shown = self._choices(place, row, sample_id)
        sample = Sample(
            id=sample_id,
            input=text(place, row, self._fields.input, "input"),
            target=self._target(place, row) if shown is None else self._checked(place, shown.right),
            choices=() if shown is None else shown.texts,
            order="" if shown is None else shown.order,
            images=tuple(self._image_paths(place, row)),
            tags=tuple(self._tags(place, row)),
            metadata=self._metadata(place, row),
            pictures=self._pictures(place, row),
        )
        self._check_sample(place, sample)
        return sample

    def _check_sample(self, place: RowPlace, sample: Sample) -> None:
        """Have the solver check what it needs of a sample, if it is one that does."""
        check = getattr(self._solver, "check_sample", None)
        if check is None:
            return
        with _checking(place, None, f"solver {self._task.solver.name!r}"):
            check(sample)

    def _target(self, place: RowPlace, row: Columns) -> Target:
        column = self._fields.target
        return self._checked(place, None if column is None else target(place, row, column))

    def _choices(self, place: RowPlace, row: Columns, sample_id: str) -> ShownChoices | None:
        """Return the sample's choices; None for a task without the section ``choices``."""
        if (chosen := self._task.choices) is None:
            return None
        column = self._fields.target or ""
        right = text(place, row, column, "target")
        try:
            return ShownChoices.of(sample_id, texts(place, row, chosen.column), right, chosen)
        except ValueError as error:
            raise place.error(column, str(error)) from None

    def _checked(self, place: RowPlace, found: Target) -> Target:
        """Return a target; TaskError if a scorer cannot use it."""
        column = self._fields.target
        for declared in self._scorers:
            with _checking(place, column, f"scorer {declared.scorer.name!r}"):
                check_target(declared.scorer, found)
        return found

    def _id(self, place: RowPlace, row: Columns) -> str:
        if self._fields.id is None:
            return str(place.number - 1)
        try:
            value = required(place, row, self._fields.id)
        except MissingColumnError:
            hint = "; dataset.fields.id: null numbers the rows"
            raise place.lacks(self._fields.id, row, hint) from None
        return word(place, value, self._fields.id, "id")

    def _tags(self, place: RowPlace, row: Columns) -> Iterator[str]:
        for column in self._fields.tags:
            for value in several(optional(place, row, column)):
                yield word(place, value, column, "tag")

    def _metadata(self, place: RowPlace, row: Columns) -> dict[str, Json]:
        columns = {**{name: name for name in self._groups}, **self._fields.metadata}
        values = {name: (column, optional(place, row, column)) for name, column in columns.items()}
        return {
            name: json_value(place, value, column)
            for name, (column, value) in values.items()
            if value is not None
        }

    def _pictures(self, place: RowPlace, row: Columns) -> dict[str, str]:
        values = {
            name: (one, optional(place, row, one)) for name, one in self._fields.pictures.items()
        }
        return {
            name: self._images.path(place, value, column)
            for name, (column, value) in values.items()
            if value is not None
        }

    def _image_paths(self, place: RowPlace, row: Columns) -> Iterator[str]:
        for column in self._fields.images:
            values = several(optional(place, row, column))
            if not values and not column.endswith("?"):
                hint = (
                    f"write {column + '?'!r} for rows that may have none, "
                    f"or drop them with dataset.keep: {column}"
                )
                raise place.error(column, f"there is no image; {hint}")
            for value in values:
                yield self._images.path(place, value, column)


@contextmanager
def _checking(place: RowPlace, column: str | None, who: str) -> Iterator[None]:
    """Raise what a check in the block raises as the TaskError of a row.

    Args:
        place: the row.
        column: the column that is checked; None for the whole row.
        who: the solver or scorer that checks.
    """
    try:
        yield
    except ValueError as error:
        raise place.error(column, str(error)) from None
    except Exception as error:
        problem = f"the check of the {who} failed: {described_with_place(error)}"
        raise place.error(column, problem) from error
