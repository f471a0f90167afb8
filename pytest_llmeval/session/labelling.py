"""Human labels of a stored run's answers: export, check, and keep."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as with_rows
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from pytest_llmeval.errors import TaskError, UsageError
from pytest_llmeval.files.atomic import write_atomically
from pytest_llmeval.files.json_lines import json_line
from pytest_llmeval.files.lock import turn_in
from pytest_llmeval.records import Json, Row
from pytest_llmeval.results.answer_labels import AnswerLabel, read_labels
from pytest_llmeval.results.label_choice import ChosenAnswer, choose
from pytest_llmeval.results.run_files import LABELS
from pytest_llmeval.results.stored_run import StoredRun
from pytest_llmeval.results.targets import answer_digest
from pytest_llmeval.scoring.judge.agreement import cohen_kappa
from pytest_llmeval.session.label_file import DIGEST, DRAWN, LABELLER, read_label_file
from pytest_llmeval.session.labelled_cases import LABEL
from pytest_llmeval.session.rescore_plan import RescorePlan
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.task.question import question_digest

_TOLD: Final = 10
"""Wrong labels that are told; further ones are counted."""

_Unit = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be labelled.

    Attributes:
        task: name of the task; None for all.
        count: answers of each task and model.
        seed: of the random part.
        shown: whether the outcome is shown to the labeller.
    """

    task: str | None
    count: int
    seed: int
    shown: bool


def answers_to_label(run: StoredRun, settings: Settings, wanted: Wanted) -> list[dict[str, Json]]:
    """Return the rows of a file of answers to label.

    Raises:
        TaskError: a task or its dataset cannot be loaded any more.
        UsageError: there is nothing to label.
    """
    rows = [row for row in run.rows if wanted.task in {None, row.task}]
    if not rows:
        tasks = ", ".join(sorted({row.task for row in run.rows})) or "none"
        msg = f"{run.path.name}: no rows of the task {wanted.task!r} (in it: {tasks})"
        raise UsageError(msg)
    chosen = choose(rows, count=wanted.count, seed=wanted.seed)
    if not chosen:
        msg = f"{run.path.name}: no row has an answer to label"
        raise UsageError(msg)
    plan = RescorePlan(with_rows(run, rows=tuple(rows)), settings, ())
    return [_exported(one, plan, shown=wanted.shown) for one in chosen]


def _exported(chosen: ChosenAnswer, plan: RescorePlan, *, shown: bool) -> dict[str, Json]:
    row = chosen.row
    sample = plan.catalog.load(plan.files[row.task]).by_id.get(row.sample)
    if sample is None:
        msg = f"sample {row.sample!r} of the run is not in the dataset of {row.task!r} any more"
        raise UsageError(msg)
    if row.question not in {"", question_digest(sample)}:
        msg = (
            f"sample {row.sample!r} of {row.task!r} asks something else by now; label it as it was"
        )
        raise UsageError(msg)
    digest = answer_digest(row.answer)
    fields: dict[str, Json] = {
        "id": f"{row.task} {row.sample} {digest[-8:]}",
        "kind": chosen.part,
        "question": sample.input,
        "images": [*sample.images],
        "target": row.target_text,
        "answer": row.answer or "",
        LABEL: None,
        LABELLER: "",
        "task": row.task,
        "sample": row.sample,
        DIGEST: digest,
        DRAWN: [drawn.to_json() for drawn in chosen.drawn],
    }
    if shown:
        fields |= {"outcome": row.outcome, "reason": chosen.reason or row.explanation}
    # The sample's own columns come last: a judge's template may name them.
    return {**fields, **{name: one for name, one in sample.metadata.items() if name not in fields}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Labels that a run's folder holds now.

    Attributes:
        file: where they are.
        labels: all of them.
        read: how many labels the file that was read holds.
        left: how many of its rows have none yet.
        kappa: Cohen's kappa of two labellers over the answers that both labelled; None without two.
    """

    file: Path
    labels: tuple[AnswerLabel, ...]
    read: int
    left: int
    kappa: float | None


def keep_labels(run: StoredRun, file: Path) -> Kept:
    """Read labels, and keep them with the run beside those that it has.

    Raises:
        TaskError: a label is wrong, or of no answer of the run; all of them are told, and none is
            kept.
        UsageError: the labels of the run cannot be read or written.
    """
    answers = _answers(run.rows)
    given, wrong, left = [], [], 0
    for place, label in read_label_file(file):
        if problem := _problem(label, answers):
            wrong.append(place.error(*problem))
        elif label.correct:
            given.append(label)
        else:
            left += 1
    if wrong:
        raise TaskError.together(wrong[:_TOLD], more=max(0, len(wrong) - _TOLD))
    if not given:
        empty = f"no row has a label: write true or false into {LABEL!r}"
        raise TaskError(empty, file=file)
    labels = add_labels(run.path, given)
    return Kept(
        file=run.path / LABELS,
        labels=labels,
        read=len(given),
        left=left,
        kappa=labellers_kappa(labels),
    )


def add_labels(folder: Path, given: Iterable[AnswerLabel]) -> tuple[AnswerLabel, ...]:
    """Keep labels of answers that the run in a folder has, beside those that are there.

    Whoever else adds labels waits. The lock is on the folder of runs: that of the run is its
    session's, as long as it goes on.

    Returns:
        All labels of the run.

    Raises:
        UsageError: the labels of the run cannot be read or written.
    """
    with turn_in(folder.parent):
        known: dict[_Unit, AnswerLabel] = {_unit(label): label for label in read_labels(folder)}
        for label in given:
            known[_unit(label)] = _merged(known.get(_unit(label)), label)
        labels = tuple(known[unit] for unit in sorted(known))
        kept = folder / LABELS
        try:
            write_atomically(kept, [f"{json_line(label.to_json())}\n" for label in labels])
        except OSError as error:
            msg = f"{kept}: cannot be written: {error.strerror or error}"
            raise UsageError(msg) from error
    return labels


def labellers_kappa(labels: Iterable[AnswerLabel]) -> float | None:
    """Return Cohen's kappa of two labellers; None of one, of more, or where it is undefined."""
    listed = list(labels)
    names = sorted({name for label in listed for name in label.correct})
    if len(names) != 2:  # noqa: PLR2004 - Cohen's kappa is of two
        return None
    one, other = names
    pairs = [
        (label.correct[one], label.correct[other])
        for label in listed
        if label.correct.keys() == {one, other}
    ]
    return cohen_kappa(pairs)


def _answers(rows: Sequence[Row]) -> dict[tuple[str, str], set[str]]:
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in rows:
        found[row.task, row.sample].add(answer_digest(row.answer))
    return found


def _problem(
    label: AnswerLabel, answers: Mapping[tuple[str, str], set[str]]
) -> tuple[str, str] | None:
    """Return the column and what is wrong with a label, if anything."""
    if (label.task, label.sample) not in answers:
        return "sample", f"the run has no sample {label.sample!r} of the task {label.task!r}"
    if label.answer not in answers[label.task, label.sample]:
        return DIGEST, f"{label.answer} is of no answer that this run has to {label.sample!r}"
    return None


def _unit(label: AnswerLabel) -> _Unit:
    return label.task, label.sample, label.answer


def _merged(known: AnswerLabel | None, label: AnswerLabel) -> AnswerLabel:
    """Return a label with those that are known already; of one labeller the last counts."""
    if known is None:
        return label
    drawn = dict.fromkeys((*known.drawn, *label.drawn))
    return replace(label, drawn=tuple(drawn), correct={**known.correct, **label.correct})
