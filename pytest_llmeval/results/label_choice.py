"""The choice of answers that human readers are to label: a random part, and an uncertain one."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from pytest_llmeval.records import Row
from pytest_llmeval.results.answer_labels import Drawn
from pytest_llmeval.results.rows import parted
from pytest_llmeval.results.targets import answer_digest
from pytest_llmeval.results.uncertainty import ORDER, Uncertainty

COUNT: Final = 60
"""Answers of each task and model, unless it is said."""

RANDOM_SHARE: Final = 2 / 3
"""Of these, the share that is drawn at random, and so may correct the accuracy."""

Part: TypeAlias = Literal["random", "uncertain"]


@dataclass(slots=True, kw_only=True)
class ChosenAnswer:
    """One answer to label.

    Attributes:
        row: a row with the answer; others of the task and sample may have it too.
        part: why it was chosen.
        reason: what is uncertain, of an answer of the uncertain part.
        drawn: the rows with this answer that were drawn at random.
    """

    row: Row
    part: Part
    reason: str = ""
    drawn: list[Drawn] = field(default_factory=list)


def choose(rows: Sequence[Row], *, count: int = COUNT, seed: int = 0) -> list[ChosenAnswer]:
    """Return `count` answers of each task, test and model, each answer to a sample once.

    Two thirds are drawn at random from all rows with an answer, each with the same chance; the
    others are those scored with least certainty, and fewer if there are not so many. The order is
    random too, so that whoever labels the first of them has labelled a random part.
    """
    chosen: dict[tuple[str, str, str], ChosenAnswer] = {}
    answered = sorted(filter(_is_solved, rows), key=lambda row: row.key)
    for key, part in parted(answered, lambda row: (row.task, row.test, row.model)).items():
        generator = random.Random(f"{seed} {key}")  # noqa: S311 - a sample, no secret
        wanted = min(math.ceil(count * RANDOM_SHARE), len(part))
        for row in generator.sample(part, wanted):
            known = chosen.setdefault(_unit(row), ChosenAnswer(row=row, part="random"))
            known.part, known.reason = "random", ""
            known.drawn.append(Drawn.of(row))
        uncertainty = Uncertainty(part)
        doubtful = [(reason, row) for row in part if (reason := uncertainty.reason(row))]
        doubtful.sort(key=lambda one: ORDER.index(one[0]))
        left = count - wanted
        for reason, row in doubtful:
            if left and _unit(row) not in chosen:
                chosen[_unit(row)] = ChosenAnswer(row=row, part="uncertain", reason=reason)
                left -= 1
    listed = list(chosen.values())
    random.Random(seed).shuffle(listed)  # noqa: S311 - as above
    return listed


def _is_solved(row: Row) -> bool:
    """Whether a row has a completion.

    Those that nobody could score are drawn too: another judge may decide them, and the part that it
    decides is then still a random one.
    """
    return row.outcome in {"correct", "incorrect", "unscored"} or row.stop_reason != ""


def _unit(row: Row) -> tuple[str, str, str]:
    """Return what a label belongs to."""
    return row.task, row.sample, answer_digest(row.answer)
