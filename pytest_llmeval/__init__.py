"""pytest-llmeval: LLM benchmarks as pytest tests.

The public names, each imported when it is first used: sympy alone takes half a second.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_llmeval.engine.context import (
        AskingSolver,
        PromptCheckingSolver,
        ReadySolver,
        RunContext,
        SampleCheckingSolver,
        Solver,
        SolverContext,
        StagedSolver,
        ToolOfferingSolver,
    )
    from pytest_llmeval.engine.ports import (
        ImageStore,
        OpenProvider,
        Provider,
        ProviderSetup,
        StartingProvider,
    )
    from pytest_llmeval.engine.tool import (
        AskingTool,
        CallError,
        ReadyTool,
        Tool,
        ToolWithCheck,
        ToolWithFindings,
        ToolWithVariables,
    )
    from pytest_llmeval.errors import (
        LLMEvalError,
        ProviderError,
        ScorerError,
        TaskError,
        ToolError,
        UsageError,
    )
    from pytest_llmeval.records import (
        Completion,
        Display,
        Image,
        ImagePart,
        Json,
        Message,
        Reply,
        Request,
        Row,
        RowKey,
        Sample,
        Score,
        TextPart,
        ToolCall,
        ToolUse,
        Transcript,
        Usage,
        Verdict,
    )
    from pytest_llmeval.results.run import Run
    from pytest_llmeval.scoring.assertions import (
        Judge,
        assert_correct,
        assert_eed_at_least,
        assert_judge_equivalent,
        assert_judged,
        assert_pddl_equal,
        assert_sldp_equal,
        record_score,
    )
    from pytest_llmeval.scoring.decision import UnscoredError
    from pytest_llmeval.scoring.eed import EedResult, eed_score, eed_score_many
    from pytest_llmeval.scoring.judge import Judgement, Opinion, judge_verdict
    from pytest_llmeval.scoring.pddl import canonical_pddl, parse_pddl, pddl_diff, pddl_equals
    from pytest_llmeval.scoring.scorer import (
        AskingScorer,
        ComparingScorer,
        PreparingScorer,
        RunCheckingScorer,
        SampleCheckingScorer,
        Scorer,
        ScorerContext,
        SeveralScores,
        ToolExpectingScorer,
    )
    from pytest_llmeval.scoring.sldp import parse_sldp, sldp_diff, sldp_equals
    from pytest_llmeval.session.named_run import load_run

_HOMES = {
    "engine.context": (
        "AskingSolver",
        "PromptCheckingSolver",
        "ReadySolver",
        "RunContext",
        "SampleCheckingSolver",
        "Solver",
        "SolverContext",
        "StagedSolver",
        "ToolOfferingSolver",
    ),
    "engine.tool": (
        "AskingTool",
        "CallError",
        "ReadyTool",
        "Tool",
        "ToolWithCheck",
        "ToolWithFindings",
        "ToolWithVariables",
    ),
    "engine.ports": (
        "ImageStore",
        "OpenProvider",
        "Provider",
        "ProviderSetup",
        "StartingProvider",
    ),
    "errors": (
        "LLMEvalError",
        "ProviderError",
        "ScorerError",
        "TaskError",
        "ToolError",
        "UsageError",
    ),
    "records": (
        "Completion",
        "Display",
        "Image",
        "ImagePart",
        "Json",
        "Message",
        "Reply",
        "Request",
        "Row",
        "RowKey",
        "Sample",
        "Score",
        "TextPart",
        "ToolCall",
        "ToolUse",
        "Transcript",
        "Usage",
        "Verdict",
    ),
    "results.run": ("Run",),
    "scoring.assertions": (
        "Judge",
        "assert_correct",
        "assert_eed_at_least",
        "assert_judge_equivalent",
        "assert_judged",
        "assert_pddl_equal",
        "assert_sldp_equal",
        "record_score",
    ),
    "scoring.decision": ("UnscoredError",),
    "scoring.eed": ("EedResult", "eed_score", "eed_score_many"),
    "scoring.judge": ("Judgement", "Opinion", "judge_verdict"),
    "scoring.pddl": ("canonical_pddl", "parse_pddl", "pddl_diff", "pddl_equals"),
    "scoring.scorer": (
        "AskingScorer",
        "ComparingScorer",
        "PreparingScorer",
        "RunCheckingScorer",
        "SampleCheckingScorer",
        "Scorer",
        "ScorerContext",
        "SeveralScores",
        "ToolExpectingScorer",
    ),
    "scoring.sldp": ("parse_sldp", "sldp_diff", "sldp_equals"),
    "session.named_run": ("load_run",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AskingScorer",
    "AskingSolver",
    "AskingTool",
    "CallError",
    "ComparingScorer",
    "Completion",
    "Display",
    "EedResult",
    "Image",
    "ImagePart",
    "ImageStore",
    "Json",
    "Judge",
    "Judgement",
    "LLMEvalError",
    "Message",
    "OpenProvider",
    "Opinion",
    "PreparingScorer",
    "PromptCheckingSolver",
    "Provider",
    "ProviderError",
    "ProviderSetup",
    "ReadySolver",
    "ReadyTool",
    "Reply",
    "Request",
    "Row",
    "RowKey",
    "Run",
    "RunCheckingScorer",
    "RunContext",
    "Sample",
    "SampleCheckingScorer",
    "SampleCheckingSolver",
    "Score",
    "Scorer",
    "ScorerContext",
    "ScorerError",
    "SeveralScores",
    "Solver",
    "SolverContext",
    "StagedSolver",
    "StartingProvider",
    "TaskError",
    "TextPart",
    "Tool",
    "ToolCall",
    "ToolError",
    "ToolExpectingScorer",
    "ToolOfferingSolver",
    "ToolUse",
    "ToolWithCheck",
    "ToolWithFindings",
    "ToolWithVariables",
    "Transcript",
    "UnscoredError",
    "Usage",
    "UsageError",
    "Verdict",
    "assert_correct",
    "assert_eed_at_least",
    "assert_judge_equivalent",
    "assert_judged",
    "assert_pddl_equal",
    "assert_sldp_equal",
    "canonical_pddl",
    "eed_score",
    "eed_score_many",
    "judge_verdict",
    "load_run",
    "parse_pddl",
    "parse_sldp",
    "pddl_diff",
    "pddl_equals",
    "record_score",
    "sldp_diff",
    "sldp_equals",
]


def __getattr__(name: str) -> object:
    """Import a public name's module when the name is first used."""
    if name not in _HOME:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
