"""The judge without its model: what to ask, how to read the reply, how votes add up, how far to trust them."""

from pytest_llmeval.judge.calibration import (
    Calibration,
    JudgedCase,
    calibrate,
    calibrate_by_kind,
    cohen_kappa,
    fleiss_kappa,
)
from pytest_llmeval.judge.prefilter import PREFILTER_VERSION, Equivalence, PlainDecision, decide_plainly
from pytest_llmeval.judge.prompt import JUDGE_PARAMETERS, JUDGE_PROMPT_VERSION, judge_messages
from pytest_llmeval.judge.question import CANDIDATE_LIMIT
from pytest_llmeval.judge.taxonomy import TAXONOMY_PARAMETERS, TAXONOMY_PROMPT_VERSION, taxonomy_messages
from pytest_llmeval.judge.verdict import error_label, judge_verdict
from pytest_llmeval.judge.voting import RETRIES, Ballot, Tally, Vote

__all__ = [
    "CANDIDATE_LIMIT",
    "JUDGE_PARAMETERS",
    "JUDGE_PROMPT_VERSION",
    "PREFILTER_VERSION",
    "RETRIES",
    "TAXONOMY_PARAMETERS",
    "TAXONOMY_PROMPT_VERSION",
    "Ballot",
    "Calibration",
    "Equivalence",
    "JudgedCase",
    "PlainDecision",
    "Tally",
    "Vote",
    "calibrate",
    "calibrate_by_kind",
    "cohen_kappa",
    "decide_plainly",
    "error_label",
    "fleiss_kappa",
    "judge_messages",
    "judge_verdict",
    "taxonomy_messages",
]
