"""Calibrations of judges: how far each agreed with labelled cases, kept as files that runs and gates look at."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from pytest_llmeval.errors import TaskError, UsageError
from pytest_llmeval.files.atomic import write_atomically
from pytest_llmeval.files.json_file import read_json
from pytest_llmeval.records import Json
from pytest_llmeval.results.statistics import wilson
from pytest_llmeval.results.task_info import Calibrated
from pytest_llmeval.scoring.judge.agreement import beyond_chance, chance_agreement
from pytest_llmeval.scoring.judge.calibration import JudgedCase, calibrate
from pytest_llmeval.task.rows import read_rows

SCHEMA: Final = 1
"""Version of the files."""

DIGITS: Final = 4
"""Decimals that are written: more would be noise in a diff."""

LONGEST_NAME: Final = 150
"""Characters of a judge's name in a file's."""

_UNFIT: Final = re.compile(r"[^A-Za-z0-9.+]+")
_TEXTS: Final = ("id", "kind", "target", "candidate")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledCase:
    """An answer to a problem with the verdict of a careful reader. `kind` groups cases."""

    id: str
    kind: str
    problem: str
    target: str
    candidate: str
    equivalent: bool


def read_cases(file: Path) -> tuple[LabelledCase, ...]:
    """Return the cases in a YAML, JSON, JSON Lines or CSV file; TaskError names the row that is none."""
    cases = []
    for place, row in read_rows(file, None):
        wrong = next((name for name in _TEXTS if not isinstance(row.get(name), str)), None)
        if wrong:
            raise place.error(wrong, "must be a text")
        if not isinstance(row.get(label := "equivalent"), bool):
            raise place.error(label, "must be true or false")
        cases.append(
            LabelledCase(
                **{name: row[name] for name in _TEXTS},
                problem=str(row.get("problem") or ""),
                equivalent=row["equivalent"],
            )
        )
    if not cases:
        problem = "holds no cases"
        raise TaskError(problem, file=file)
    return tuple(cases)


def figures(cases: Sequence[JudgedCase]) -> dict[str, Json]:
    """Return how well a judge agrees with the labels of `cases`, as it is stored; intervals are of 95 %.

    Rates have Wilson's interval, kappa that of the observed agreement with the agreement by chance
    held fixed, as in Cohen (1960): it says something also of a judge that never disagreed.
    """
    found = calibrate(cases)
    pairs = [(case.label, case.verdict) for case in cases if case.verdict is not None]
    wrong, right = sum(not label for label, _ in pairs), sum(label for label, _ in pairs)
    low, high = _interval(found.accuracy, len(pairs))
    kappas: list[Json] = [None, None]
    if low is not None and high is not None and found.cohen is not None:
        chance = chance_agreement(pairs)
        kappas = [
            _rounded(kappa and max(-1.0, kappa))
            for kappa in (beyond_chance(end, chance) for end in (low, high))
        ]
    return {
        "n": found.n,
        "unscored": found.unscored,
        "accuracy": _rounded(found.accuracy),
        "accuracy_95": [_rounded(low), _rounded(high)],
        "false_positives": found.false_positives,
        "false_positive_rate": _rounded(found.false_positive_rate),
        "false_positive_rate_95": [*map(_rounded, _interval(found.false_positive_rate, wrong))],
        "false_negatives": found.false_negatives,
        "false_negative_rate": _rounded(found.false_negative_rate),
        "false_negative_rate_95": [*map(_rounded, _interval(found.false_negative_rate, right))],
        "kappa": _rounded(found.cohen),
        "kappa_95": kappas,
        "votes_kappa": _rounded(found.fleiss),
    }


def figures_by_kind(cases: Sequence[JudgedCase]) -> dict[str, Json]:
    """Return the figures of each kind of case, kinds in alphabetical order."""
    kinds = sorted({case.kind for case in cases})
    return {kind: figures([case for case in cases if case.kind == kind]) for kind in kinds}


def store(folder: Path, judge: str, prompt: str, votes: int, facts: Mapping[str, Json]) -> Path:
    """Write a calibration into `folder` and return its file; an older one of the same judge gives way."""
    several = f"-{votes}-votes" if votes > 1 else ""
    name = _UNFIT.sub("-", f"{judge[:LONGEST_NAME]}-{prompt}{several}")
    file = folder / f"{name}.json"
    head: dict[str, Json] = {"schema": SCHEMA, "judge": judge, "prompt": prompt, "votes": votes}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(file, json.dumps({**head, **facts}, indent=1, ensure_ascii=False) + "\n")
    except OSError as error:
        msg = f"{file}: the calibration cannot be written: {error.strerror or error}"
        raise UsageError(msg) from error
    return file


def read_calibrations(folder: Path) -> tuple[Calibrated, ...]:
    """Return the calibrations in a folder, none when there is no such folder; UsageError names a file that is none."""
    return tuple(_read(file) for file in sorted(folder.glob("*.json")))


def stored_calibrations(report: str | None) -> tuple[Calibrated, ...]:
    """Return the calibrations in the folder of reports; () without one."""
    folder = Path(report or "") / "calibrations"
    return () if report is None or not folder.is_dir() else read_calibrations(folder)


def _read(file: Path) -> Calibrated:
    data = read_json(file)
    try:
        if data["schema"] != SCHEMA:
            msg = f"{file}: schema {data['schema']!r}; this version reads {SCHEMA}: run llmeval calibrate again"
            raise UsageError(msg)
        found = cast("dict[str, Json]", data["all"])
        low, high = cast("list[float | None]", found["kappa_95"])
        return Calibrated(
            judge=str(data["judge"]),
            prompt=str(data["prompt"]),
            votes=cast("int", data["votes"]),
            made=str(data["made"]),
            n=cast("int", found["n"]),
            unscored=cast("int", found["unscored"]),
            accuracy=cast("float | None", found["accuracy"]),
            false_positives=cast("int", found["false_positives"]),
            false_positive_rate=cast("float | None", found["false_positive_rate"]),
            kappa=cast("float | None", found["kappa"]),
            kappa_low=low,
            kappa_high=high,
        )
    except (KeyError, TypeError, ValueError) as error:
        msg = (
            f"{file}: no calibration ({type(error).__name__}: {error}); run llmeval calibrate again"
        )
        raise UsageError(msg) from error


def _interval(rate: float | None, n: int) -> tuple[float, float] | tuple[None, None]:
    if rate is None:
        return None, None
    found = wilson(rate, n)
    return found.low, found.high


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)
