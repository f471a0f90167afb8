"""How judged answers were decided, and how far judges and votes agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import cast

from pytest_llmeval.records import Json, Row
from pytest_llmeval.records.score import DECIDED_BY, OPINIONS
from pytest_llmeval.results.figures import Agreement, Judging
from pytest_llmeval.results.task_info import Calibrated
from pytest_llmeval.scoring.judge.agreement import cohen_kappa, fleiss_kappa

NOBODY = "nobody"
"""The count of judged answers that were left unscored."""

_Opinion = Mapping[str, Json]


def judging(rows: Sequence[Row], calibrations: Sequence[Calibrated]) -> Judging | None:
    """Return how the judged answers among `rows` were decided; None when there is none.

    The calibration is the one among `calibrations` that was made with the same judge, or the same
    judges together.
    """
    judged = [score.details for row in rows for score in row.scores if DECIDED_BY in score.details]
    if not judged:
        return None
    asked = [
        (str(details["judge"]), opinions) for details in judged if (opinions := _opinions(details))
    ]
    names = tuple(sorted({name for name, _ in asked}))
    return Judging(
        deciders=dict(
            sorted(Counter(str(details[DECIDED_BY] or NOBODY) for details in judged).items())
        ),
        judges=names,
        agreement=_between_judges([opinions for _, opinions in asked]),
        vote_agreement=_between_votes([opinion for _, opinions in asked for opinion in opinions]),
        calibration=next((one for one in calibrations if (one.judge,) == names), None),
    )


def _opinions(details: Mapping[str, Json]) -> list[_Opinion]:
    return cast("list[_Opinion]", details.get(OPINIONS, []))


def _between_judges(asked: Sequence[list[_Opinion]]) -> Agreement | None:
    """Return the agreement of several judges over the answers that all of them decided."""
    verdicts = [[_correct(opinion) for opinion in opinions] for opinions in asked]
    complete = [cast("list[bool]", found) for found in verdicts if None not in found]
    raters = {len(found) for found in complete}
    if len(raters) != 1 or raters == {1}:
        return None
    if raters == {2}:
        return Agreement(kappa=cohen_kappa([(one, two) for one, two in complete]), n=len(complete))
    return Agreement(kappa=fleiss_kappa([_counts(found) for found in complete]), n=len(complete))


def _correct(opinion: _Opinion) -> bool | None:
    # Runs of older versions say `equivalent`.
    return cast("bool | None", opinion.get("correct", opinion.get("equivalent")))


def _between_votes(opinions: Sequence[_Opinion]) -> Agreement | None:
    """Return the agreement of each judge's votes with each other, over those that every ballot has.

    Voting ends early once a side has won, and goes on where votes differ. Counting all votes would
    therefore weigh the doubtful answers most; so only the votes count that are cast before a side
    can have won.
    """
    rated = [_always_cast(opinion) for opinion in opinions]
    complete = [
        cast("list[bool]", votes) for votes in rated if len(votes) > 1 and None not in votes
    ]
    if len({len(votes) for votes in complete}) != 1:
        return None
    return Agreement(kappa=fleiss_kappa([_counts(votes) for votes in complete]), n=len(complete))


def _always_cast(opinion: _Opinion) -> list[bool | None]:
    votes = cast("list[bool | None]", opinion["votes"])
    return votes[: cast("int", opinion["wanted"]) // 2 + 1]


def _counts(found: Sequence[bool]) -> tuple[int, int]:
    return found.count(True), found.count(False)
