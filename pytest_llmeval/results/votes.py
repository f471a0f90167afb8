"""The votes among the answers of one sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_llmeval.records import Row
from pytest_llmeval.results.rows import last_scores, parted
from pytest_llmeval.results.task_info import TaskInfo
from pytest_llmeval.scoring.grader import grader_text, without_models
from pytest_llmeval.scoring.votes import SameAnswer, same_answer
from pytest_llmeval.task.declared import MisfitError, make_scorer
from pytest_llmeval.task.spec import Spec


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteCounts:
    """The answers of one sample, counted.

    Attributes:
        groups: of each group of equal answers the number of epochs, and of correct ones among them.
        abstained: the number of epochs without an answer.
    """

    groups: tuple[tuple[int, int], ...]
    abstained: int

    @property
    def epochs(self) -> int:
        """The number of epochs."""
        return self.abstained + sum(votes for votes, _ in self.groups)


def vote_counts(rows: Sequence[Row], same: SameAnswer) -> VoteCounts:
    """Return the votes of one sample's rows.

    An answer joins the first group whose most frequent text is the same, the largest groups first,
    so that the order of epochs makes no difference, also where equality is only within a tolerance.
    """
    by_text = parted((row for row in rows if _voted(row)), lambda row: row.answer or "")
    groups: dict[str, list[Row]] = {}
    for text, part in sorted(by_text.items(), key=lambda item: (-len(item[1]), item[0])):
        first = next((one for one in groups if same(one, text, part[0].target)), text)
        groups.setdefault(first, []).extend(part)
    counts = (
        (len(part), sum(row.outcome == "correct" for row in part)) for part in groups.values()
    )
    return VoteCounts(
        groups=tuple(sorted(counts, reverse=True)),
        abstained=sum(not _voted(row) for row in rows),
    )


def stored_equality(info: TaskInfo, rows: Sequence[Row]) -> SameAnswer | None:
    """Return the equality of answers that decided in a stored run, by its first deciding scorer.

    None if only the run's own session has it: the scorer is a function in a file, which is not
    loaded for a stored run, or would be another grader now than the one that graded the rows.
    """
    deciding = next((score for score in info.scores if score.decides), None)
    if deciding is None:
        return same_answer(None)
    if not deciding.scorer or ":" in deciding.scorer:
        return None
    try:
        scorer = make_scorer(Spec(name=deciding.scorer, options=deciding.options), Path())
    except MisfitError:
        return None
    grader = without_models(grader_text(scorer, declared=deciding.options))
    scores = (last_scores(row).get(deciding.name) for row in rows)
    known = {without_models(score.grader) for score in scores if score is not None}
    return same_answer(scorer) if known <= {grader} else None


def _voted(row: Row) -> bool:
    return bool(row.answer and row.answer.strip())
