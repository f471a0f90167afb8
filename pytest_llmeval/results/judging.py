"""How judged answers were decided, and how far judges and votes agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import cast

from pytest_llmeval.records import Json, Row
from pytest_llmeval.records.score import DECIDED_BY, OPINIONS
from pytest_llmeval.results.figures import Agreement, JudgeFailure, Judging
from pytest_llmeval.results.task_info import Validated
from pytest_llmeval.scoring.grader import options_of
from pytest_llmeval.scoring.judge.agreement import cohen_kappa, fleiss_kappa

NOBODY = "nobody"
"""The count of judged answers that were left unscored."""

_Opinion = Mapping[str, Json]


def judging(rows: Sequence[Row], validations: Sequence[Validated]) -> Judging | None:
    """Return how the judged answers among `rows` were decided; None when there is none.

    The validation is the one among `validations` that was made with the same judge, or the same
    judges together, and the question that was asked here.
    """
    judged = [score.details for row in rows for score in row.scores if DECIDED_BY in score.details]
    if not judged:
        return None
    asked = [
        (str(details["judge"]), opinions) for details in judged if (opinions := _opinions(details))
    ]
    names = tuple(sorted({name for name, _ in asked}))
    graders = _graders(rows)
    return Judging(
        deciders=dict(
            sorted(Counter(str(details[DECIDED_BY] or NOBODY) for details in judged).items())
        ),
        judges=names,
        agreement=_between_judges([opinions for _, opinions in asked]),
        vote_agreement=_between_votes([opinion for _, opinions in asked for opinion in opinions]),
        validation=next(
            (
                one
                for one in validations
                if (one.judge,) == names and all(map(partial(is_of, one), graders))
            ),
            None,
        ),
        failures=tuple(_failures([opinion for _, opinions in asked for opinion in opinions])),
    )


def _graders(rows: Sequence[Row]) -> set[str]:
    """Return the graders whose validation counts: those that decide, if any judge does."""
    asked = [score for row in rows for score in row.scores if OPINIONS in score.details]
    return {score.grader for score in asked if score.decides} or {one.grader for one in asked}


def is_of(validation: Validated, grader: str) -> bool:
    """Whether a grader asks the question of a validation, under the same options.

    So does one that is not known, as of a judge function of the user's.
    """
    asks = f"{grader} ".startswith(f"{validation.question} ")
    return not grader or (asks and options_of(grader) == validation.options)


def _opinions(details: Mapping[str, Json]) -> list[_Opinion]:
    return cast("list[_Opinion]", details.get(OPINIONS, []))


def _failures(opinions: Sequence[_Opinion]) -> Iterator[JudgeFailure]:
    """Yield the judges of which an opinion is an error, in alphabetical order."""
    failed: dict[str, list[str]] = {}
    for opinion in opinions:
        if failure := opinion.get("failure"):
            failed.setdefault(str(opinion["judge"]), []).append(str(failure))
    asked = Counter(str(opinion["judge"]) for opinion in opinions)
    for judge, errors in sorted(failed.items()):
        # The other ones say of a lost judge that it is lost.
        reason = min(errors, key=len)
        yield JudgeFailure(judge=judge, n=len(errors), asked=asked[judge], reason=reason)


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
