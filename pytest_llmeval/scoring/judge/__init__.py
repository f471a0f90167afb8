"""The judge without its model: its question, the parsing of its replies, the count of its votes.

Everything here is free of network and event loop, and light to import.
"""

from pytest_llmeval.scoring.judge.judgement import Judgement, Opinion, panel_name, together
from pytest_llmeval.scoring.judge.prefilter import (
    PREFILTER_VERSION,
    PlainDecision,
    decide_plainly,
)
from pytest_llmeval.scoring.judge.prompt import JudgePrompt, built_in_prompt
from pytest_llmeval.scoring.judge.question import CANDIDATE_LIMIT
from pytest_llmeval.scoring.judge.validation import CaseAgreement, JudgedCase, case_agreement
from pytest_llmeval.scoring.judge.verdict_scale import VerdictScale, judge_verdict
from pytest_llmeval.scoring.judge.voting import RETRIES, Ballot, Vote, VoteCount

__all__ = [
    "CANDIDATE_LIMIT",
    "PREFILTER_VERSION",
    "RETRIES",
    "Ballot",
    "CaseAgreement",
    "JudgePrompt",
    "JudgedCase",
    "Judgement",
    "Opinion",
    "PlainDecision",
    "VerdictScale",
    "Vote",
    "VoteCount",
    "built_in_prompt",
    "case_agreement",
    "decide_plainly",
    "judge_verdict",
    "panel_name",
    "together",
]
