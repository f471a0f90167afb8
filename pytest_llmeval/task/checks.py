"""The scorer `checks`: several checks of one answer, which each sample lists itself."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, get_type_hints

from msgspec.structs import replace

from pytest_llmeval.records import Json, Sample, Score, Target, TargetForm
from pytest_llmeval.scoring.binary import no_answer
from pytest_llmeval.scoring.decision import together
from pytest_llmeval.scoring.metadata_list import metadata_list
from pytest_llmeval.scoring.scorer import PreparingScorer, Scorer
from pytest_llmeval.scoring.targets import ALL_FORMS, check_form, check_target, score_of
from pytest_llmeval.task.declared import MisfitError, make_scorer
from pytest_llmeval.task.options import NO_OPTION, OptionError, plain
from pytest_llmeval.task.registry import SCORERS
from pytest_llmeval.task.section import shown
from pytest_llmeval.task.spec import Spec

PASSED: Final = "passed"
CHECKS: Final = "checks"
"""Keys of the score's details: how many checks the answer passed, and how many there were."""

TARGET: Final = "target"
NOT: Final = "not"
"""Keys of a check that are no options of its scorer: what it compares with, and whether the answer
passes by being wrong."""


_NO_CHECK: Final = "it is no check of an answer alone"


@dataclass(frozen=True, slots=True)
class OwnKind:
    """A kind of check of the task's own: a reference to a function, and where paths start."""

    reference: str
    folder: Path


class OwnKinds:
    """Makes the option ``kinds`` of `Checks`."""

    def make(self, value: Json, folder: Path) -> Mapping[str, OwnKind]:
        """Return the kinds by name; OptionError if one cannot be loaded."""
        if not isinstance(value, dict):
            problem = f"is {value!r}, not a mapping of names to functions (./checks.py:words)"
            raise OptionError(problem)
        found = {}
        for name, reference in value.items():
            if not isinstance(reference, str):
                problem = f"is {reference!r}; write ./file.py:function or module:function"
                raise OptionError(problem, name)
            try:
                SCORERS.load(reference, folder)
            except Exception as error:
                raise OptionError(str(error), name) from error
            found[str(name)] = OwnKind(str(reference), folder)
        return found


@dataclass(frozen=True, slots=True)
class Check:
    """One check of a sample.

    Attributes:
        told: how messages call it: its number from 1, its name and its options.
        scorer: what decides about it.
        sample: the sample, with the target of this check.
        negated: whether the answer passes if the scorer finds it incorrect.
    """

    told: str
    scorer: Scorer
    sample: Sample
    negated: bool

    def passed(self, answer: str) -> tuple[bool | None, str]:
        """Return whether an answer passes, and why it does or does not; None: undecided."""
        score = score_of(self.scorer, answer, self.sample, None)
        correct = score.correct
        if correct is not None and self.negated:
            correct = not correct
        return correct, score.explanation


@dataclass(frozen=True, kw_only=True)
class Checks:
    """Scores the share of checks that an answer passes; correct if it passes all of them.

    The metadata of a sample list its checks, in the form of scorers: ``{includes: {target:
    Paris}}``, with a target of their own unless they compare with the sample's, and ``not: true``
    for an answer that must not be so. They may name scorers of the package that ask no models, and
    the functions that the task declares: data cannot name code by themselves.

    Args:
        name: name of the score.
        column: name of the metadata that hold the list of checks.
        kinds: by name, references to functions of one's own.
    """

    name: str = "checks"
    column: str = "checks"
    kinds: Annotated[Mapping[str, OwnKind], OwnKinds()] = field(default_factory=dict)

    grader = "checks/1"
    scale = 1.0
    targets: frozenset[TargetForm] = field(default=ALL_FORMS, init=False, repr=False)

    @property
    def grader_options(self) -> dict[str, Json]:
        """The options that decide."""
        kinds: dict[str, Json] = {name: kind.reference for name, kind in self.kinds.items()}
        return {"column": self.column, **({"kinds": kinds} if kinds else {})}

    def check(self, target: Target) -> None:
        """Accept every target: each check says what it needs."""

    def check_sample(self, sample: Sample) -> None:
        """Raise ValueError if a sample has no checks, or one cannot be made."""
        if not list(self._checks(sample)):
            problem = "is empty; name at least one check"
            raise self._refusal(problem)

    def score(
        self,
        answer: str | None,
        sample: Sample,
        prepared: Json,  # noqa: ARG002 - nothing is prepared
    ) -> Score:
        """Return the share of passed checks; an undecided one leaves it open."""
        checks = list(self._checks(sample))
        if answer is None:
            return replace(no_answer(self), details={PASSED: 0, CHECKS: len(checks)})
        found = [(check.told, *check.passed(answer)) for check in checks]
        passed = sum(correct is True for _, correct, _ in found)
        correct = together((correct for _, correct, _ in found), any_decides=False)
        open_or_failed = [
            f"{told}: {'failed' if correct is False else 'undecided'}{why and f': {why}'}"
            for told, correct, why in found
            if not correct
        ]
        explanation = f"{passed} of {len(checks)} checks passed"
        return Score(
            name=self.name,
            value=None if correct is None else passed / len(checks),
            correct=correct,
            explanation="\n".join([explanation, *open_or_failed]),
            grader=self.grader,
            details={PASSED: passed, CHECKS: len(checks)},
        )

    def _checks(self, sample: Sample) -> Iterator[Check]:
        listed = metadata_list(sample, self.column, "checks")
        for number, entry in enumerate(listed):
            yield self._made(entry, number, sample)

    def _made(self, entry: Json, number: int, sample: Sample) -> Check:
        name, options = _named(entry)
        if name is None:
            problem = f"is {entry!r:.60}; write a name, or {{name: {{option: value}}}}"
            raise self._refusal(problem, number)
        told = _told(number, name, options)
        target, negated = options.pop(TARGET, sample.target), options.pop(NOT, False)
        checked = replace(sample, target=tuple(target) if isinstance(target, list) else target)
        try:
            scorer = self._scorer(name, options)
            _check_target(scorer, name, checked.target)
        except MisfitError as error:
            path = ".".join(map(str, (name, *error.place[2:])))
            problem = f"{path}: {error.problem}"
            if error.problem.startswith(NO_OPTION):
                problem += f"; every check may have {TARGET} and {NOT} too"
            raise self._refusal(problem, number) from None
        except ValueError as error:
            problem = f"{name}: {error}"
            raise self._refusal(problem, number) from None
        return Check(told=told, scorer=scorer, sample=checked, negated=negated is True)

    def _scorer(self, name: str, options: dict[str, Json]) -> Scorer:
        own = self.kinds.get(name)
        if own is None and (":" in name or name not in SCORERS.own):
            known = ", ".join((*self.kinds, *filter(_is_check, SCORERS.own)))
            msg = f"the task does not declare this kind of check (known: {known})"
            raise ValueError(msg)
        if own is None and not _is_check(name):
            raise ValueError(_NO_CHECK)
        spec = Spec(name=name if own is None else own.reference, options=options)
        scorer = make_scorer(spec, Path() if own is None else own.folder)
        if isinstance(scorer, PreparingScorer | Checks):
            raise ValueError(_NO_CHECK)  # noqa: TRY004 - of a dataset, not of a caller
        return scorer

    def _refusal(self, problem: str, number: int | None = None) -> ValueError:
        where = f"metadata.{self.column}" + ("" if number is None else f"[{number}]")
        return ValueError(f"{where} {problem}")


def _is_check(name: str) -> bool:
    """Whether a scorer of the package decides by an answer alone, without preparing anything."""
    found = SCORERS.load(name, Path())
    made = found if inspect.isclass(found) else get_type_hints(found).get("return")
    return made is not Checks and not hasattr(made, "prepare")


def _told(number: int, name: str, options: Mapping[str, Json]) -> str:
    """Return how messages call a check: ``2 words (at_least: 10)``."""
    listed = ", ".join(f"{key}: {shown(value)}" for key, value in options.items())
    return f"{number + 1} {name}" + (f" ({listed})" if listed else "")


def _check_target(scorer: Scorer, name: str, target: Target) -> None:
    """Raise ValueError, with the fix, if a scorer cannot score answers against `target`."""
    if target is None:
        try:
            check_form(scorer, target)
        except ValueError:
            fix = f"{{{name}: {{{TARGET}: TEXT}}}}"
            msg = f"there is no {TARGET}; write it into the check: {fix}"
            raise ValueError(msg) from None
    check_target(scorer, target)


def _named(entry: Json) -> tuple[str | None, dict[str, Json]]:
    """Return name and options of a check as it is listed; None for another form."""
    if isinstance(entry, str):
        return entry, {}
    if isinstance(entry, dict) and len(entry) == 1:
        ((name, options),) = entry.items()
        if options is None or isinstance(options, dict):
            return name, {key: plain(value) for key, value in (options or {}).items()}
    return None, {}
