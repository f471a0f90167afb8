"""The scores of single rows, in the process that it is called in; see `bulk.child`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from math import isfinite
from pathlib import Path
from typing import Final

from pytest_llmeval.bulk.job import Job, made_scorers
from pytest_llmeval.bulk.row import Found, Row
from pytest_llmeval.records import Json, Sample, Score, Target
from pytest_llmeval.safety.raised import described_with_place
from pytest_llmeval.scoring.grader import grader_text
from pytest_llmeval.scoring.scorer import (
    SampleCheckingScorer,
    Scorer,
    SeveralScores,
    score_names,
)
from pytest_llmeval.scoring.targets import check_target, score_of, takes_form
from pytest_llmeval.task.registry import ANSWERS

MAX_TEXT: Final = 2_000
"""Characters of an explanation or an error at most, as in the rows of a run."""

_SLACK: Final = 1e-9
"""Share of the scale by which a value may lie outside of it, because of rounding."""

_TARGETS: Final = 4_096
"""Targets whose check is remembered: many rows have the same."""


class RowScoring:
    """Scores rows by the scorers of a job; nothing of a row raises an exception."""

    def __init__(self, job: Job) -> None:
        """Make the scorers; UsageError if one cannot be made."""
        folder = Path(job.folder)
        self._scorers = [
            _OneScorer(scorer, spec.options)
            for spec, scorer in zip(job.scorers, made_scorers(job), strict=True)
        ]
        self._rule = ANSWERS.load(job.rule, folder) if job.rule else None

    def scores(self, row: Row) -> list[Found]:
        """Return the scores of a row, those of the first scorer first (see `score_names`)."""
        problem, answer = row.problem, row.answer
        if not problem and self._rule is not None and answer is not None:
            try:
                answer = _text_or_none(self._rule, answer)
            except BaseException as error:  # noqa: BLE001 - code of others, in a child
                problem = f"the answer rule failed: {described_with_place(error)}"
        if problem:
            failed = Found(error=_kept(problem))
            return [failed for one in self._scorers for _ in one.names]
        sample = Sample(id=row.id, input=row.input, target=row.target, metadata=row.metadata)
        return [score for one in self._scorers for score in one.scores(answer, sample)]


class _OneScorer:
    """One scorer, with its check of targets and the texts of its graders."""

    def __init__(self, scorer: Scorer, options: Mapping[str, Json]) -> None:
        self.names = score_names(scorer)
        self._scorer = scorer
        # Asked once: whether an object has the parts of a protocol takes longer than most scores.
        self._several = scorer if isinstance(scorer, SeveralScores) else None
        self._checking = scorer if isinstance(scorer, SampleCheckingScorer) else None
        self._check = lru_cache(_TARGETS)(self._target_problem)
        self._grader = lru_cache(16)(
            lambda rules: grader_text(scorer, rules=rules, declared=options)
        )

    def scores(self, answer: str | None, sample: Sample) -> list[Found]:
        try:
            if problem := self._problem(sample):
                return self._failed(problem)
            scores = self._scored(answer, sample)
            found = {score.name: self._found(score) for score in scores[1:]}
            first = self._found(scores[0])
        except MemoryError:
            return self._failed("it takes more memory than a scoring child may have")
        except BaseException as error:  # noqa: BLE001 - code of others, in a child
            return self._failed(described_with_place(error))
        return [first, *(found.get(name, Found()) for name in self.names[1:])]

    def _scored(self, answer: str | None, sample: Sample) -> tuple[Score, ...]:
        """Return the scorer's own score, and the further ones."""
        score = score_of(self._scorer, answer, sample, None)
        return (score, *(self._several.further(score) if self._several else ()))

    def _failed(self, problem: str) -> list[Found]:
        return [Found(error=_kept(problem)) for _ in self.names]

    def _found(self, score: Score) -> Found:
        slack = _SLACK * score.scale
        value = None if score.value is None else float(score.value)
        if value is not None and not (isfinite(value) and -slack <= value <= score.scale + slack):
            return Found(error=f"{value} is not in 0..{score.scale:g}, the scale of {score.name}")
        return Found(
            value=value,
            correct=None if score.correct is None else bool(score.correct),
            explanation=_kept(score.explanation) or None,
            grader=self._grader(score.grader),
        )

    def _problem(self, sample: Sample) -> str:
        """Return why answers to a sample cannot be scored; "" if they can."""
        target = sample.target
        problem = self._target_problem(target) if isinstance(target, dict) else self._check(target)
        return problem or self._sample_problem(sample)

    def _target_problem(self, target: Target) -> str:
        """Return why the scorer cannot compare with a target; "" if it can."""
        if target is None and not takes_form(self._scorer, None):
            return "the target is empty"
        try:
            check_target(self._scorer, target)
        except ValueError as error:
            return str(error)
        return ""

    def _sample_problem(self, sample: Sample) -> str:
        """Return why the scorer cannot score answers to a sample; "" if it can."""
        if self._checking is not None:
            try:
                self._checking.check_sample(sample)
            except ValueError as error:
                return str(error)
        return ""


def _text_or_none(rule: Callable[[str], object], text: str) -> str | None:
    found = rule(text)
    if found is None or isinstance(found, str):
        return found
    msg = f"it returned a {type(found).__name__}, not text or None"
    raise TypeError(msg)


def _kept(text: str) -> str:
    """Return the beginning of a text, without half characters, which UTF-8 cannot hold."""
    cut = text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"
    return cut if cut.isascii() else cut.encode("utf-8", "backslashreplace").decode()
