"""The judge without its model: what to ask, how to read the reply, how votes add up, how far to trust them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_llmeval.scoring.judge.calibration import (
        Calibration,
        JudgedCase,
        calibrate,
        calibrate_by_kind,
    )
    from pytest_llmeval.scoring.judge.prefilter import (
        PREFILTER_VERSION,
        Equivalence,
        PlainDecision,
        decide_plainly,
    )
    from pytest_llmeval.scoring.judge.prompt import (
        JUDGE_PARAMETERS,
        JUDGE_PROMPT_VERSION,
        judge_messages,
    )
    from pytest_llmeval.scoring.judge.question import CANDIDATE_LIMIT
    from pytest_llmeval.scoring.judge.verdict import json_object, judge_verdict, kept_reason
    from pytest_llmeval.scoring.judge.voting import RETRIES, Ballot, Tally, Vote

__all__ = [
    "CANDIDATE_LIMIT",
    "JUDGE_PARAMETERS",
    "JUDGE_PROMPT_VERSION",
    "PREFILTER_VERSION",
    "RETRIES",
    "Ballot",
    "Calibration",
    "Equivalence",
    "JudgedCase",
    "PlainDecision",
    "Tally",
    "Vote",
    "calibrate",
    "calibrate_by_kind",
    "decide_plainly",
    "json_object",
    "judge_messages",
    "judge_verdict",
    "kept_reason",
]

# A foreign pytest session loads `judgement` alone, so every name is imported when it is first used.
_HOMES = {
    "CANDIDATE_LIMIT": "question",
    "JUDGE_PARAMETERS": "prompt",
    "JUDGE_PROMPT_VERSION": "prompt",
    "PREFILTER_VERSION": "prefilter",
    "RETRIES": "voting",
    "Ballot": "voting",
    "Calibration": "calibration",
    "Equivalence": "prefilter",
    "JudgedCase": "calibration",
    "PlainDecision": "prefilter",
    "Tally": "voting",
    "Vote": "voting",
    "calibrate": "calibration",
    "calibrate_by_kind": "calibration",
    "decide_plainly": "prefilter",
    "json_object": "verdict",
    "judge_messages": "prompt",
    "judge_verdict": "verdict",
    "kept_reason": "verdict",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used."""
    if name not in _HOMES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
