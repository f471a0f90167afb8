"""The decision on one answer, its JSON form, and the majority of several judges."""

from __future__ import annotations

import json
import subprocess
import sys

from pytest_llmeval.records import Verdict
from pytest_llmeval.records.plain import plain_json
from pytest_llmeval.scoring.judge import (
    Judgement,
    Opinion,
    VerdictScale,
    VoteCount,
    panel_name,
    together,
)

YES = Opinion(judge="a", correct=True, reason="same", votes=(True, None, True), wanted=3)
NO = Opinion(judge="b", correct=False, reason="other")
NONE = Opinion(judge="c", correct=None, reason="unusable")
JUDGEMENT = Judgement(
    verdict=Verdict(correct=True, reason="same"),
    explanation="same",
    tally=VoteCount(correct=2, incorrect=0, lost=1, replies=6).to_json(),
    judge="a",
    decided_by="judge",
    opinions=(YES,),
)


def test_a_judgement_survives_json() -> None:
    assert Judgement.from_json(json.loads(json.dumps(JUDGEMENT.to_json()))) == JUDGEMENT


def test_the_details_are_plain_json() -> None:
    opinion = {
        "judge": "a",
        "correct": True,
        "reason": "same",
        "votes": [True, None, True],
        "wanted": 3,
        "failure": "",
        "value": None,
        "label": None,
    }
    assert plain_json(JUDGEMENT.details, "details") == {
        "decided_by": "judge",
        "judge": "a",
        "tally": {"correct": 2, "incorrect": 0, "lost": 1, "replies": 6},
        "opinions": [opinion],
    }


def test_an_unknown_decider_counts_as_a_judge_where_there_is_a_verdict() -> None:
    verdict = Verdict(correct=False, reason="")
    assert Judgement(verdict=verdict, explanation="").details["decided_by"] == "judge"
    assert Judgement(verdict=None, explanation="").details["decided_by"] is None


def majority(opinions: list[Opinion]) -> tuple[Verdict | None, str]:
    verdicts = [
        None if one.correct is None else Verdict(correct=one.correct, reason=one.reason)
        for one in opinions
    ]
    return together(VerdictScale(), opinions, verdicts)


def test_more_than_half_of_the_judges_decide() -> None:
    assert majority([YES, NO, YES]) == (
        Verdict(correct=True, reason="2 of 3 judges: same"),
        "2 of 3 judges: same",
    )
    assert majority([NO]) == (Verdict(correct=False, reason="other"), "other")
    assert majority([NONE]) == (None, "unusable")
    assert majority([YES, NO, NONE]) == (
        None,
        "the judges decide nothing: a correct, b incorrect, c no verdict (unusable)",
    )
    assert panel_name(["a", "b"]) == "a + b"


def test_importing_the_judge_loads_no_sympy() -> None:
    code = "import sys, pytest_llmeval.scoring.judge; sys.exit('sympy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
