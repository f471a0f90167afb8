"""Expression edit distance between LaTeX formulas (PHYBench): scoring, its sandbox and its explanation."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_llmeval.scoring.eed.distance import ScoreFunction, Weights, published_score
    from pytest_llmeval.scoring.eed.edits import Edit
    from pytest_llmeval.scoring.eed.explanation import explain
    from pytest_llmeval.scoring.eed.limits import Limits
    from pytest_llmeval.scoring.eed.many import eed_score_many
    from pytest_llmeval.scoring.eed.result import EED_CORRECTED, EED_PUBLISHED, EedResult, Mode
    from pytest_llmeval.scoring.eed.sandbox import Sandbox
    from pytest_llmeval.scoring.eed.scoring import eed_score, expressions_equivalent

__all__ = [
    "EED_CORRECTED",
    "EED_PUBLISHED",
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
    "expressions_equivalent",
    "published_score",
]

# Importing sympy takes half a second, so every name is imported when it is first used.
_HOMES = {
    "EED_CORRECTED": "result",
    "EED_PUBLISHED": "result",
    "Edit": "edits",
    "EedResult": "result",
    "Limits": "limits",
    "Mode": "result",
    "Sandbox": "sandbox",
    "ScoreFunction": "distance",
    "Weights": "distance",
    "eed_score": "scoring",
    "eed_score_many": "many",
    "explain": "explanation",
    "expressions_equivalent": "scoring",
    "published_score": "distance",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used."""
    if name not in _HOMES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
