"""Validations: figures of judges on labelled cases, stored as files that runs and gates use."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.atomic import write_atomically
from pytest_llmeval.files.json_file import read_json
from pytest_llmeval.records import Record
from pytest_llmeval.results.statistics import wilson
from pytest_llmeval.results.task_info import Validated
from pytest_llmeval.session.judge_figures import JudgeFigures

FOLDER: Final = "validations"
"""Name of the folder of validations in the folder of runs."""

SCHEMA: Final = 1
"""Version of the files."""

LONGEST_NAME: Final = 150
"""Characters of a judge's name in the name of its file."""

_DEFAULT: Final = "votes=1"
"""The options of most validations, which their files' names leave out."""

_UNFIT: Final = re.compile(r"[^A-Za-z0-9.+]+")


class CaseFile(Record, frozen=True, kw_only=True):
    """The file of labelled cases: its name and its digest."""

    file: str
    sha256: str


class PrefilterFigures(Record, frozen=True, kw_only=True):
    """How many cases the prefilter of a `version` decides, and how many of them wrongly."""

    version: str
    decided: int
    wrong: int


class Differing(Record, frozen=True, kw_only=True):
    """A case whose verdict is not the label; `verdict` is None if the judge gave none."""

    id: str
    correct: bool
    verdict: bool | None
    reason: str


class Validation(Record, frozen=True, kw_only=True, rename={"overall": "all"}):
    """The figures of one judge, or of several together, as a file has them.

    Attributes:
        schema: version of the file.
        judge: label of the judge, or the common name of several.
        prompt: version and digest of the judge's question.
        options: of the scorer, those that decide what a verdict is, such as ``votes=1 minimum=7``.
        votes: number of verdicts asked for each case, of each judge.
        made: the date, such as ``2026-03-01``.
        models: names of the models that answered, as they report them.
        cases: the labelled cases.
        overall: the figures of all cases.
        kinds: the figures of each kind of case.
        differing: the cases judged otherwise than labelled.
        prefilter: the figures of the rules that decide some answers before a judge.
    """

    schema: int
    judge: str
    question: str
    options: str = _DEFAULT
    votes: int
    made: str
    models: tuple[str, ...] = ()
    cases: CaseFile | None = None
    overall: JudgeFigures
    kinds: Mapping[str, JudgeFigures] = {}
    differing: tuple[Differing, ...] = ()
    prefilter: PrefilterFigures | None = None


def keep_validation(folder: Path, validation: Validation) -> Path:
    """Write a validation into `folder`, in place of an older one of the same judge and question.

    Returns:
        The file.

    Raises:
        UsageError: it cannot be written.
    """
    several = "" if validation.options == _DEFAULT else f"-{validation.options}"
    title = f"{validation.judge[:LONGEST_NAME]}-{validation.question}{several}"
    file = folder / f"{_UNFIT.sub('-', title)}.json"
    text = json.dumps(validation.to_json(), indent=1, ensure_ascii=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(file, text + "\n")
    except OSError as error:
        msg = f"{file}: the validation cannot be written: {error.strerror or error}"
        raise UsageError(msg) from error
    return file


def read_validations(folder: Path) -> tuple[Validated, ...]:
    """Return the validations in a folder; () if there is no folder.

    Raises:
        UsageError: a file there is no validation.
    """
    return tuple(_read(file) for file in sorted(folder.glob("*.json")))


def stored_validations(report: str | None) -> tuple[Validated, ...]:
    """Return the validations in the folder of runs; () without one."""
    return () if report is None else read_validations(Path(report) / FOLDER)


def _read(file: Path) -> Validated:
    data = read_json(file)
    if data.get("schema", SCHEMA) != SCHEMA:
        msg = (
            f"{file}: schema {data['schema']!r}; this version reads {SCHEMA}: "
            "run llmeval validate again"
        )
        raise UsageError(msg)
    try:
        found = Validation.from_json(data)
    except ValueError as error:
        msg = f"{file}: no validation ({error}); run llmeval validate again"
        raise UsageError(msg) from error
    low, high = found.overall.kappa_95
    return Validated(
        judge=found.judge,
        question=found.question,
        options=found.options,
        votes=found.votes,
        made=found.made,
        n=found.overall.n,
        unscored=found.overall.unscored,
        unscored_rate=found.overall.unscored / found.overall.n if found.overall.n else None,
        unscored_rate_95=_share_interval(found.overall.unscored, found.overall.n),
        accuracy=found.overall.accuracy,
        accuracy_95=found.overall.accuracy_95,
        confusion=found.overall.confusion,
        false_positives=found.overall.false_positives,
        false_positive_rate=found.overall.false_positive_rate,
        false_positive_rate_95=found.overall.false_positive_rate_95,
        false_negative_rate=found.overall.false_negative_rate,
        false_negative_rate_95=found.overall.false_negative_rate_95,
        kappa=found.overall.kappa,
        kappa_low=low,
        kappa_high=high,
    )


def _share_interval(count: int, n: int) -> tuple[float | None, float | None]:
    if not n:
        return None, None
    found = wilson(count / n, n)
    return found.low, found.high
