"""Expression edit distance (EED) between LaTeX formulas: scoring, its sandbox, its explanation.

Scoring in this process needs sympy, which takes half a second to import; the sandbox and the result
need no sympy here.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from pytest_llmeval.scoring.eed.metric.distance import ScoreFunction, Weights, published_score
from pytest_llmeval.scoring.eed.metric.edits import Edit
from pytest_llmeval.scoring.eed.result import (
    CONVENTIONS,
    EED_CORRECTED,
    EED_PUBLISHED,
    Convention,
    EedResult,
    Mode,
)
from pytest_llmeval.scoring.eed.sandbox.limits import Limits
from pytest_llmeval.scoring.eed.sandbox.many import eed_score_many
from pytest_llmeval.scoring.eed.sandbox.sandbox import Sandbox

if TYPE_CHECKING:
    from pytest_llmeval.scoring.eed.explanation import explain
    from pytest_llmeval.scoring.eed.scoring import eed_score, latex_equal

__all__ = [
    "CONVENTIONS",
    "EED_CORRECTED",
    "EED_PUBLISHED",
    "Convention",
    "Edit",
    "EedResult",
    "Limits",
    "Mode",
    "Sandbox",
    "ScoreFunction",
    "Weights",
    "eed_score",
    "eed_score_many",
    "explain",
    "latex_equal",
    "published_score",
]

_NEEDING_SYMPY = {
    "eed_score": "scoring",
    "latex_equal": "scoring",
    "explain": "explanation",
}


def __getattr__(name: str) -> object:
    """Import a name that needs sympy when it is first used."""
    if name not in _NEEDING_SYMPY:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"{__name__}.{_NEEDING_SYMPY[name]}"), name)
