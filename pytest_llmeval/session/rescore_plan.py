"""What of a stored run is scored again: its answers, by which scorers, with which replies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Final, cast

from pytest_llmeval.engine.plan import Plan, PlannedTest
from pytest_llmeval.engine.replies import REPLIES
from pytest_llmeval.engine.specs import RECORDED
from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Completion, Json, Row, RowKey, StopReason
from pytest_llmeval.results.rows import is_solved
from pytest_llmeval.results.stored_run import StoredRun
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.session.stored_runs import as_asked
from pytest_llmeval.task.address import parse_address
from pytest_llmeval.task.catalog import Catalog
from pytest_llmeval.task.declared import MisfitError, make_scorer
from pytest_llmeval.task.question import question_digest
from pytest_llmeval.task.spec import Spec

_SCORING_KEYS: Final = frozenset({"scorer", "decides"})
"""The keys of a task that scorers given by hand take the place of."""


@dataclass(frozen=True)
class RescorePlan:
    """The stored answers of a run, and how they are scored again.

    Attributes:
        run: the run.
        wanted: the settings of the command.
        scorers: the scorers; () for those that each task declares. The first decides.
    """

    run: StoredRun
    wanted: Settings
    scorers: tuple[Spec, ...]

    @cached_property
    def settings(self) -> Settings:
        """The settings of the new run: what was asked as in the old one, replies taken from it."""
        unset = replace(self.wanted, models=(), samples=(), overrides={}, resume=None)
        asked = as_asked(unset, self.run.path)
        place = str(self.run.path) if (self.run.path / REPLIES).is_file() else None
        if self.asks:
            # No solver runs, so its model need not be there.
            return replace(asked, models=(), reuse=self.wanted.reuse or place)
        return replace(
            asked,
            reuse=place and f"{place},only=on",
            keep=None,
            budget=None,
            folder=str(self._folder if self._folder.is_dir() else Path.cwd()),
        )

    @property
    def asks(self) -> bool:
        """Whether models are asked; otherwise only the replies that the run stored are used."""
        return bool(self.wanted.judges or self.wanted.roles)

    @cached_property
    def catalog(self) -> Catalog:
        """The tasks of the run, with its overrides, and with the scorers that are wanted.

        Raises:
            UsageError: a scorer that is wanted does not fit.
        """
        overrides = {task: dict(keys) for task, keys in self.settings.overrides.items()}
        for task, file in self.files.items() if self.scorers else ():
            self._check_scorers(file.parent)
            kept = {
                key: text
                for key, text in overrides.get(task, {}).items()
                if key.rstrip("+").partition(".")[0] not in _SCORING_KEYS
            }
            listed = [{spec.name: dict(spec.options)} for spec in self.scorers]
            text = json.dumps(listed, ensure_ascii=False)
            overrides[task] = {**kept, "scorer": text, "decides": "first"}
        return Catalog(folder=self._folder, overrides=overrides)

    @cached_property
    def files(self) -> dict[str, Path]:
        """The task files of the run's rows, by the name of the task.

        Raises:
            UsageError: run.json does not name one.
        """
        sessions = [self.run.info, *cast("list[dict[str, Json]]", self.run.info.get("resumed", []))]
        known = {
            str(task["name"]): self._here(Path(file))
            for session in sessions
            for file, task in cast("dict[str, dict[str, Json]]", session.get("tasks", {})).items()
        }
        names = sorted({row.task for row in self.run.rows})
        if missing := [name for name in names if name not in known]:
            msg = f"{self.run.path}: run.json does not say which file the task {missing[0]!r} is in"
            raise UsageError(msg)
        return {name: known[name] for name in names}

    @cached_property
    def rows(self) -> dict[str, Row]:
        """The rows to score, by the node ids of `tests`."""
        found = (row for row in self.run.rows if is_solved(row) and row.key not in self.stale)
        return {str(number): row for number, row in enumerate(found)}

    @cached_property
    def stale(self) -> Mapping[RowKey, str]:
        """Why rows with an answer cannot be scored: the sample that was asked is there no more.

        A row has the target and the answer, but neither the question nor the metadata that a scorer
        may want, and its answer is none to another question.
        """
        found = {}
        for row in filter(is_solved, self.run.rows):
            file = self.files[row.task]
            sample = self.catalog.load(file).by_id.get(row.sample)
            if sample is None:
                found[row.key] = f"not scored again: not in the dataset of {file.name} any more"
            elif _is_other(row.question, question_digest(sample)):
                found[row.key] = f"not scored again: {file.name} asks something else by now"
        return found

    @cached_property
    def added(self) -> int:
        """Number of samples of the tasks' datasets that the run has no row of."""
        known = {(row.task, row.sample) for row in self.run.rows}
        return sum(
            (task, sample) not in known
            for task, file in self.files.items()
            for sample in self.catalog.load(file).by_id
        )

    @cached_property
    def tests(self) -> Plan:
        """A test for each row to score.

        Raises:
            TaskError: a task or its dataset is wrong.
            UsageError: a task has no scorer.
        """
        tests = []
        for nodeid, row in self.rows.items():
            file = self.files[row.task]
            loaded = self.catalog.load(file)
            if not loaded.scorers:
                msg = f"task {row.task!r} declares no scorer; name one, such as --scorer exact"
                raise UsageError(msg)
            model = "" if row.model == RECORDED else row.model
            tests.append(
                PlannedTest(nodeid, row.test, str(file), row.task, row.sample, model, row.epoch)
            )
        digests = {name: self.catalog.load(file).digest for name, file in self.files.items()}
        tasks = tuple((str(file), name, digests[name]) for name, file in self.files.items())
        return Plan(tests=tuple(tests), tasks=tasks)

    @cached_property
    def completions(self) -> Mapping[RowKey, Completion]:
        """The stored answers as completions, whose text is the answer alone."""
        return {
            row.key: Completion(
                text=row.answer or "",
                answer=row.answer,
                stop_reason=cast("StopReason", row.stop_reason),
                details=row.details,
            )
            for row in self.rows.values()
        }

    @property
    def _folder(self) -> Path:
        """Where the run's command was typed."""
        settings = cast("dict[str, Json]", self.run.info.get("settings", {}))
        return Path(str(settings.get("folder", ".")))

    def _here(self, file: Path) -> Path:
        """Return a task file; of a run from elsewhere, the one at the same place in this folder."""
        own, _ = parse_address(file)
        if own.is_file() or not file.is_relative_to(self._folder):
            return file
        return Path.cwd() / file.relative_to(self._folder)

    def _check_scorers(self, folder: Path) -> None:
        for spec in self.scorers:
            try:
                make_scorer(spec, folder)
            except MisfitError as error:
                msg = f"--scorer {spec.name}: {error.problem}"
                raise UsageError(msg) from None


def _is_other(then: str, now: str) -> bool:
    """Whether two digests are of different questions; "" is an unknown one."""
    return then != now and "" not in {then, now}
