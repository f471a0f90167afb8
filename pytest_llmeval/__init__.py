"""pytest-llmeval: LLM benchmarks as pytest tests.

The public names, each imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_llmeval.engine.ports import Provider, ProviderSetup
    from pytest_llmeval.errors import LLMEvalError, ProviderError, UsageError
    from pytest_llmeval.records import (
        Completion,
        Message,
        Reply,
        Request,
        Sample,
        Score,
        Usage,
        Verdict,
    )
    from pytest_llmeval.scoring.assertions import (
        assert_eed_at_least,
        assert_judge_equivalent,
        assert_sldp_equal,
        record_score,
    )
    from pytest_llmeval.scoring.eed import EedResult, eed_score, eed_score_many
    from pytest_llmeval.scoring.judge import judge_verdict
    from pytest_llmeval.scoring.sldp import parse_sldp, sldp_diff, sldp_equals

_HOMES = {
    "scoring.assertions": (
        "assert_eed_at_least",
        "assert_judge_equivalent",
        "assert_sldp_equal",
        "record_score",
    ),
    "scoring.eed": ("EedResult", "eed_score", "eed_score_many"),
    "engine.ports": ("Provider", "ProviderSetup"),
    "errors": ("LLMEvalError", "ProviderError", "UsageError"),
    "scoring.judge": ("judge_verdict",),
    "records": ("Completion", "Message", "Reply", "Request", "Sample", "Score", "Usage", "Verdict"),
    "scoring.sldp": ("parse_sldp", "sldp_diff", "sldp_equals"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Completion",
    "EedResult",
    "LLMEvalError",
    "Message",
    "Provider",
    "ProviderError",
    "ProviderSetup",
    "Reply",
    "Request",
    "Sample",
    "Score",
    "Usage",
    "UsageError",
    "Verdict",
    "assert_eed_at_least",
    "assert_judge_equivalent",
    "assert_sldp_equal",
    "eed_score",
    "eed_score_many",
    "judge_verdict",
    "parse_sldp",
    "record_score",
    "sldp_diff",
    "sldp_equals",
]


def __getattr__(name: str) -> object:
    """Import a public name's module when the name is first used: sympy alone takes half a second."""
    if name not in _HOME:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
