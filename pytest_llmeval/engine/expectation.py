"""The expected usage of a request, by rough figures that replies correct."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pytest_llmeval.engine.statistics import CallStatistics
from pytest_llmeval.records import Json, Request, Usage

CHARACTERS_PER_TOKEN: Final = 4
TOKENS_PER_IMAGE: Final = 1000
FIRST_OUTPUT_TOKENS: Final = 1000
"""Output that is expected before the first reply; afterwards it is the mean of the replies."""

CEILINGS: Final = ("max_completion_tokens", "max_output_tokens", "max_tokens")
"""The parameters that limit a reply's tokens."""


def expected_usage(request: Request, seen: CallStatistics) -> Usage:
    """Return the tokens that a request will probably take, given the replies so far."""
    characters = sum(len(message.text) for message in request.messages)
    images = sum(len(message.images) for message in request.messages)
    output = seen.usage.output_tokens // seen.replies if seen.replies else FIRST_OUTPUT_TOKENS
    ceiling = ceiling_of(request.parameters)
    return Usage(
        input_tokens=characters // CHARACTERS_PER_TOKEN + images * TOKENS_PER_IMAGE,
        output_tokens=output if ceiling is None else min(output, ceiling),
    )


def ceiling_of(parameters: Mapping[str, Json]) -> int | None:
    """Return how many tokens a reply may have by a request's parameters; None for no limit."""
    limits = (parameters.get(name) for name in CEILINGS)
    return next((limit for limit in limits if isinstance(limit, int)), None)
