"""Measures judges on a file of labelled cases, by the settings of a session."""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from pytest_llmeval.files.images import ImageFolder
from pytest_llmeval.files.writes import Writes
from pytest_llmeval.roles import JUDGE
from pytest_llmeval.safety.regular_files import read_regular
from pytest_llmeval.scoring.judge import (
    PREFILTER_VERSION,
    decide_plainly,
)
from pytest_llmeval.scoring.judge.scorer import JudgeScorer
from pytest_llmeval.session.calibrating import Found, judge_cases
from pytest_llmeval.session.calibrations import (
    SCHEMA,
    Calibration,
    CaseFile,
    Differing,
    PrefilterFigures,
)
from pytest_llmeval.session.choice import model_choice
from pytest_llmeval.session.composition import open_models
from pytest_llmeval.session.judge_figures import figures, figures_by_kind
from pytest_llmeval.session.labelled_cases import LabelledCase, read_cases
from pytest_llmeval.session.plan_check import check_settings
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.task.catalog import Catalog
from pytest_llmeval.task.json_text import MAX_BYTES


class JudgeMeasurement:
    """The labelled cases of a file, and how well prefilter and judges agree with them.

    Attributes:
        cases: the cases.
        prefilter: the figures of the prefilter.
    """

    def __init__(self, file: Path, settings: Settings) -> None:
        """Read the cases, and decide them by the prefilter.

        Raises:
            TaskError: the file holds no cases.
            UsageError: a setting is wrong.
        """
        check_settings(settings)
        self._file, self._settings = file, settings
        self.cases = read_cases(file)
        self.prefilter = _prefilter_figures(self.cases)

    def measure(self, votes: int) -> tuple[Calibration, ...]:
        """Ask the judges of the settings for `votes` verdicts on each case.

        Returns:
            The calibration of each judge and, behind several, of all together; () without a judge.

        Raises:
            ProviderError: a judge cannot be asked.
            UsageError: a judge, or a place of replies, cannot be opened.
        """
        if not self._settings.judges:
            return ()
        found = self._found(votes)
        made = datetime.now(UTC).date().isoformat()
        models = tuple(sorted({model for one in found for model in one.models if model}))
        digest = hashlib.sha256(read_regular(self._file, max_bytes=MAX_BYTES)).hexdigest()
        calibrations = []
        for judge in found[0].judges:
            cases = [one.judged_by(judge) for one in found]
            calibrations.append(
                Calibration(
                    schema=SCHEMA,
                    judge=judge,
                    prompt=JudgeScorer().question,
                    votes=votes,
                    made=made,
                    models=models,
                    cases=CaseFile(file=self._file.name, sha256=digest),
                    overall=figures(cases),
                    kinds=figures_by_kind(cases),
                    differing=_differing(found, judge),
                    prefilter=self.prefilter,
                )
            )
        return tuple(calibrations)

    def _found(self, votes: int) -> list[Found]:
        settings = self._settings
        choice = model_choice(settings, Catalog(folder=Path(settings.folder)))
        judges = choice.of_role(JUDGE, None)
        with tempfile.TemporaryDirectory(prefix="llmeval-") as name:
            folder = Path(name)
            images = ImageFolder(folder / "images")
            opened = partial(
                open_models, settings, folder, images, started=time.time(), writes=Writes()
            )
            return judge_cases(self.cases, judges, opened, votes=votes)


def _prefilter_figures(cases: Sequence[LabelledCase]) -> PrefilterFigures:
    decided = [
        (case.equivalent, decision)
        for case in cases
        if (decision := decide_plainly(case.candidate, case.target).decision) != "undecided"
    ]
    wrong = sum(label is not (decision == "equal") for label, decision in decided)
    return PrefilterFigures(version=PREFILTER_VERSION, decided=len(decided), wrong=wrong)


def _differing(found: Sequence[Found], judge: str) -> tuple[Differing, ...]:
    return tuple(
        Differing(
            id=one.case.id,
            equivalent=one.case.equivalent,
            verdict=opinion.correct,
            reason=opinion.reason,
        )
        for one in found
        if (opinion := one.by(judge)).correct is not one.case.equivalent
    )
