"""Measures judges on a file of labelled cases, by the settings of a session."""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from pytest_llmeval.errors import TaskError, UsageError
from pytest_llmeval.files.images import ImageFolder
from pytest_llmeval.files.writes import Writes
from pytest_llmeval.roles import JUDGE
from pytest_llmeval.safety.regular_files import read_regular
from pytest_llmeval.scoring.grader import options_text
from pytest_llmeval.scoring.judge import PREFILTER_VERSION, decide_plainly
from pytest_llmeval.scoring.judge.scorer import JudgeScorer
from pytest_llmeval.session.choice import model_choice
from pytest_llmeval.session.composition import open_models
from pytest_llmeval.session.judge_figures import figures, figures_by_kind
from pytest_llmeval.session.labelled_cases import LabelledCase, read_cases
from pytest_llmeval.session.plan_check import check_settings
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.session.validating import JudgeFindings, Panel
from pytest_llmeval.session.validations import (
    SCHEMA,
    CaseFile,
    Differing,
    PrefilterFigures,
    Validation,
)
from pytest_llmeval.task.catalog import Catalog
from pytest_llmeval.task.declared import MisfitError, make_scorer
from pytest_llmeval.task.json_text import MAX_BYTES
from pytest_llmeval.task.spec import Spec


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What became of one judge, or of several together.

    Attributes:
        judge: its name.
        validation: its figures; None if it gave no verdict on any case.
        problems: sentences about cases without a verdict because of a failure.
    """

    judge: str
    validation: Validation | None
    problems: tuple[str, ...] = ()


class JudgeValidation:
    """The labelled cases of a file, and how well prefilter and judges agree with them.

    Attributes:
        cases: the cases.
        prefilter: the figures of the prefilter; None where the scorer has none.
    """

    def __init__(self, file: Path, scorer: JudgeScorer, settings: Settings) -> None:
        """Read the cases, and decide them by the prefilter.

        Args:
            file: the labelled cases.
            scorer: asks the judges.
            settings: of the session.

        Raises:
            TaskError: the file holds no cases, or the question cannot be made of one.
            UsageError: a setting is wrong.
        """
        check_settings(settings)
        self._file, self._scorer, self._settings = file, scorer, settings
        self.cases = read_cases(file)
        _check_questions(self.cases, scorer, file)
        self.prefilter = _prefilter_figures(self.cases) if scorer.prefilter else None

    def measure(self, tell: Callable[[str], None]) -> tuple[Measured, ...]:
        """Ask the judges of the settings about each case.

        Args:
            tell: shows a line to the user.

        Returns:
            What was found of each judge and, behind several, of all together; () without a judge.

        Raises:
            UsageError: a judge's spec, or a place of replies, is wrong.
        """
        if not self._settings.judges:
            return ()
        return tuple(
            Measured(
                judge=found.judge,
                validation=self._validation(found) if found.verdicts else None,
                problems=tuple(_problems(found)),
            )
            for found in self._findings(tell)
        )

    def _findings(self, tell: Callable[[str], None]) -> tuple[JudgeFindings, ...]:
        settings = self._settings
        choice = model_choice(settings, Catalog(folder=Path(settings.folder)))
        judges = choice.of_role(JUDGE, None)
        with tempfile.TemporaryDirectory(prefix="llmeval-") as name:
            folder = Path(name)
            images = ImageFolder(folder / "images")
            opened = partial(
                open_models,
                settings,
                folder,
                images,
                started=time.time(),
                writes=Writes(),
                tell=tell,
            )
            panel = Panel(scorer=self._scorer, judges=judges, open_models=opened)
            return panel.judge(self.cases)

    def _validation(self, found: JudgeFindings) -> Validation:
        judged = [one.judged for one in found.asked]
        digest = hashlib.sha256(read_regular(self._file, max_bytes=MAX_BYTES)).hexdigest()
        return Validation(
            schema=SCHEMA,
            judge=found.judge,
            question=self._scorer.question,
            options=options_text(self._scorer),
            votes=self._scorer.votes,
            made=datetime.now(UTC).date().isoformat(),
            models=tuple(sorted({model for one in found.cases for model in one.models if model})),
            cases=CaseFile(file=self._file.name, sha256=digest),
            overall=figures(judged),
            kinds=figures_by_kind(judged),
            differing=tuple(_differing(found)),
            prefilter=self.prefilter,
        )


def asking_scorer(spec: Spec, votes: int | None) -> JudgeScorer:
    """Return the scorer that asks the question to validate.

    Args:
        spec: the scorer ``judge`` with its options, as the command line has it.
        votes: number of verdicts; None for that of the options.

    Raises:
        UsageError: it is another scorer, or an option does not fit.
    """
    if votes is not None:
        spec = Spec(name=spec.name, options={**spec.options, "votes": votes})
    try:
        scorer = make_scorer(spec, Path.cwd())
    except MisfitError as error:
        msg = f"--scorer {spec.name}: {error.problem}"
        raise UsageError(msg) from None
    if isinstance(scorer, JudgeScorer) and scorer.pictures:
        msg = f"--scorer {spec.name}: labelled cases have no pictures; leave out pictures: true"
        raise UsageError(msg)
    if not isinstance(scorer, JudgeScorer):
        msg = f"--scorer {spec.name}: asks no judge; name one such as judge={{votes: 3}}"
        raise UsageError(msg)
    return scorer


def _check_questions(cases: Sequence[LabelledCase], scorer: JudgeScorer, file: Path) -> None:
    """Raise TaskError for the first case of which no question can be made."""
    for case in cases:
        try:
            scorer.check_sample(case.sample)
        except TaskError as error:
            problem = f"case {case.id!r}: {error}"
            raise TaskError(problem, file=file) from None


def _prefilter_figures(cases: Sequence[LabelledCase]) -> PrefilterFigures:
    decided = [
        (case.correct, decision)
        for case in cases
        if (decision := decide_plainly(case.answer, case.sample.target_text).decision)
        != "undecided"
    ]
    wrong = sum(label is not (decision == "equal") for label, decision in decided)
    return PrefilterFigures(version=PREFILTER_VERSION, decided=len(decided), wrong=wrong)


def _differing(found: JudgeFindings) -> Iterator[Differing]:
    for one in found.asked:
        if one.opinion.correct is not one.case.correct:
            yield Differing(
                id=one.case.id,
                correct=one.case.correct,
                verdict=one.opinion.correct,
                reason=one.opinion.reason,
            )


def _problems(found: JudgeFindings) -> Iterator[str]:
    """Yield what kept the judge from a verdict: the first error stands for all."""
    failed = sum(bool(one.opinion.failure) for one in found.asked)
    left = len(found.cases) - len(found.asked)
    first = next(iter(found.failures), "")
    if not found.verdicts and (failed or left):
        yield f"{found.judge}: none of {len(found.cases):,} cases was judged; {first}"
    elif failed or left:
        parts = [f"{failed:,} unscored"] if failed else []
        parts += [f"{left:,} not asked"] if left else []
        yield (
            f"{found.judge}: {' and '.join(parts)} of {len(found.cases):,} cases, because of a "
            f"failure: {first}"
        )
