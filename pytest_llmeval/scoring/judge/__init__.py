"""The judge without its model: its question, the parsing of its replies, the count of its votes.

Everything here is free of network and event loop, and light to import.
"""

from pytest_llmeval.scoring.judge.judgement import Judgement, Opinion, majority, panel_name
from pytest_llmeval.scoring.judge.prefilter import (
    PREFILTER_VERSION,
    PlainDecision,
    decide_plainly,
)
from pytest_llmeval.scoring.judge.prompt import (
    JUDGE_PARAMETERS,
    JUDGE_PROMPT_DIGEST,
    JUDGE_PROMPT_VERSION,
    judge_messages,
)
from pytest_llmeval.scoring.judge.question import CANDIDATE_LIMIT
from pytest_llmeval.scoring.judge.validation import CaseAgreement, JudgedCase, case_agreement
from pytest_llmeval.scoring.judge.verdict import judge_verdict
from pytest_llmeval.scoring.judge.voting import RETRIES, Ballot, Vote, VoteCount

__all__ = [
    "CANDIDATE_LIMIT",
    "JUDGE_PARAMETERS",
    "JUDGE_PROMPT_DIGEST",
    "JUDGE_PROMPT_VERSION",
    "PREFILTER_VERSION",
    "RETRIES",
    "Ballot",
    "CaseAgreement",
    "JudgedCase",
    "Judgement",
    "Opinion",
    "PlainDecision",
    "Vote",
    "VoteCount",
    "case_agreement",
    "decide_plainly",
    "judge_messages",
    "judge_verdict",
    "majority",
    "panel_name",
]
