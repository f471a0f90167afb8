"""Two runs whose samples were graded by different graders: what of a change is the graders'."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Final, Literal, TypeAlias

from pytest_llmeval.records import Row
from pytest_llmeval.results.gate import JUDGE
from pytest_llmeval.results.graders import graders_of
from pytest_llmeval.results.targets import UNKNOWN_ANSWER, answer_digest
from pytest_llmeval.results.task_info import metric_name
from pytest_llmeval.scoring.grader import rules_of

Answers: TypeAlias = Literal["same", "other", "unknown"]
"""How a sample's answers in two runs relate; unknown where a run does not store them."""

UNGRADED: Final = "none"
"""Stands for the grader of a score that a run does not have, or that names none."""

UNTOUCHED: Final = frozenset(
    {
        "planned", "not_run", "error", "cut", "recorded", "cached", "reruns", "stand_in",
        "tokens", "cost", "seconds", "seconds_median", "seconds_p95", "compared",
    }
)  # fmt: skip
"""Figures that no grader decides, nor any engine of a tool."""

OUTCOMES: Final = frozenset({"accuracy", "correct", "incorrect", "scored", "unscored", "coverage"})
"""Figures that the deciding scores alone decide, besides pass@k and pass^k."""

Pairs: TypeAlias = Sequence[tuple[Sequence[Row], Sequence[Row]]]
"""For each sample its scored rows in run a and in run b."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """Samples with other graders and the `answers` of one kind: how their accuracy moved.

    Attributes:
        answers: how the answers relate.
        n: number of the samples.
        gained: those that are correct more often in b.
        lost: those that are correct less often in b.
        step: their part of the difference in accuracy over all compared samples, -1..1.
    """

    answers: Answers
    n: int
    gained: int
    lost: int
    step: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Regrading:
    """How the graders of two runs differ over their compared samples.

    Attributes:
        graders: by the name of a score, its graders in a and in b.
        scores: names of all scores in the two runs.
        decides: whether one of the scores decides outcomes, so that accuracy is touched.
        moved: the samples with another deciding grader, by how their answers relate.
    """

    graders: Mapping[str, tuple[str, str]]
    scores: frozenset[str]
    decides: bool
    moved: tuple[Moved, ...] = ()

    def touches(self, metric: str) -> bool:
        """Return whether other graders may have moved a metric, so that it is not compared.

        Figures of the judges' validations are about graders, and are compared.
        """
        name = metric_name(metric)
        if name in UNTOUCHED or name.startswith(f"{JUDGE}."):
            return False
        if name in {metric_name(score) for score in self.scores}:
            return name in {metric_name(score) for score in self.graders}
        return self.decides or not (name in OUTCOMES or name.startswith(("pass@", "pass^")))

    @property
    def unknown(self) -> bool:
        """Whether one of the runs is so old that it names rules without options or judges."""
        return any(_is_partial(a, b) or _is_partial(b, a) for a, b in self.graders.values())


def regrading_of(pairs: Pairs) -> Regrading | None:
    """Return how graders differ between two runs; None where each sample has the same ones."""
    differing = [_differing(a, b) for a, b in pairs]
    names = sorted({name for found in differing for name in found})
    if not names:
        return None
    deciding = {name for pair in pairs for name in names if _decides(name, pair)}
    moved = [
        pair for pair, found in zip(pairs, differing, strict=True) if not deciding.isdisjoint(found)
    ]
    return Regrading(
        graders={name: _texts(name, pairs) for name in names},
        scores=frozenset(name for pair in pairs for name in _names(pair)),
        decides=bool(deciding),
        moved=tuple(_moves(moved, len(pairs))),
    )


def uncompared(found: Regrading | None, metric: str) -> str | None:
    """Return why a metric is not compared; None if graders are the same, or do not touch it."""
    if found is None or not found.touches(metric):
        return None
    graders = ", ".join(f"{name}: {a} then, {b} now" for name, (a, b) in found.graders.items())
    fix = "score one run's answers by the other's grader (llmeval rescore RUN), or make the "
    unknown = "; the older run does not say by which options or judges" if found.unknown else ""
    return f"graders differ ({graders}{unknown}): {fix}baseline anew (llmeval baseline set RUN)"


def _differing(a: Sequence[Row], b: Sequence[Row]) -> set[str]:
    """Return the scores of one sample whose graders differ.

    A score beside the outcome that only one of the runs has is compared with nothing.
    """
    first = graders_of(a[0])
    if all(graders_of(row) == first for row in (*a[1:], *b)):  # nearly always, and quick
        return set()
    of_a, of_b = _graders(a), _graders(b)
    return {
        name
        for name in of_a.keys() | of_b.keys()
        if (name in of_a and name in of_b) or _decides(name, (a, b))
        if of_a.get(name, {""}) != of_b.get(name, {""})
    }


def _graders(rows: Sequence[Row]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in rows:
        for name, text in graders_of(row).items():
            found.setdefault(name, set()).add(text)
    return found


def _names(pair: tuple[Sequence[Row], Sequence[Row]]) -> set[str]:
    return {name for rows in pair for row in rows for name in graders_of(row)}


def _decides(name: str, pair: tuple[Sequence[Row], Sequence[Row]]) -> bool:
    """Whether a score decides in either run."""
    scores = (score for rows in pair for row in rows for score in row.scores)
    return any(score.decides for score in scores if score.name == name)


def _texts(name: str, pairs: Pairs) -> tuple[str, str]:
    """Return all graders of a score, in a and in b."""
    sides = ([row for pair in pairs for row in pair[side]] for side in (0, 1))
    a, b = (sorted(_graders(side).get(name, {""})) for side in sides)
    return " and ".join(text or UNGRADED for text in a), " and ".join(
        text or UNGRADED for text in b
    )


def _moves(pairs: Pairs, n: int) -> Iterator[Moved]:
    kinds: tuple[Answers, ...] = ("same", "other", "unknown")
    for kind in kinds:
        steps = [_correct(b) - _correct(a) for a, b in pairs if _answers(a, b) == kind]
        if steps:
            yield Moved(
                answers=kind,
                n=len(steps),
                gained=sum(step > 0 for step in steps),
                lost=sum(step < 0 for step in steps),
                step=fsum(steps) / n,
            )


def _answers(a: Sequence[Row], b: Sequence[Row]) -> Answers:
    of_a, of_b = ({row.epoch: answer_digest(row.answer) for row in rows} for rows in (a, b))
    if UNKNOWN_ANSWER in {*of_a.values(), *of_b.values()}:
        return "unknown"
    return "same" if of_a == of_b else "other"


def _correct(rows: Sequence[Row]) -> float:
    return sum(row.outcome == "correct" for row in rows) / len(rows)


def _is_partial(text: str, other: str) -> bool:
    """Whether a grader's text is the rules' name alone, and `other` has the same with options."""
    return " " not in text and text != other and rules_of(other).split()[:1] == [text]
