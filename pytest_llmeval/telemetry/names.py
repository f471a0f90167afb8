"""Names of attributes, by OpenTelemetry's semantic conventions for generative AI.

Its own package of constants is private to it, and these modules need no SDK. What the conventions
have no name for stands under ``llmeval.``.

Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

OPERATION: Final = "gen_ai.operation.name"
PROVIDER: Final = "gen_ai.provider.name"
REQUEST_MODEL: Final = "gen_ai.request.model"
RESPONSE_MODEL: Final = "gen_ai.response.model"
FINISH_REASONS: Final = "gen_ai.response.finish_reasons"
INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
CACHED_TOKENS: Final = "gen_ai.usage.cache_read.input_tokens"
CACHE_WRITE_TOKENS: Final = "gen_ai.usage.cache_creation.input_tokens"
REASONING_TOKENS: Final = "gen_ai.usage.reasoning.output_tokens"
INPUT_MESSAGES: Final = "gen_ai.input.messages"
OUTPUT_MESSAGES: Final = "gen_ai.output.messages"
TOOL: Final = "gen_ai.tool.name"
TOOL_TYPE: Final = "gen_ai.tool.type"
TOOL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"
TOOL_RESULT: Final = "gen_ai.tool.call.result"
EVALUATION_NAME: Final = "gen_ai.evaluation.name"
EVALUATION_VALUE: Final = "gen_ai.evaluation.score.value"
EVALUATION_LABEL: Final = "gen_ai.evaluation.score.label"
EVALUATION_EXPLANATION: Final = "gen_ai.evaluation.explanation"
ERROR_TYPE: Final = "error.type"

EVALUATION: Final = "gen_ai.evaluation.result"
"""The event of one score."""

PARAMETERS: Final[Mapping[str, str]] = {
    "temperature": "gen_ai.request.temperature",
    "top_p": "gen_ai.request.top_p",
    "top_k": "gen_ai.request.top_k",
    "max_tokens": "gen_ai.request.max_tokens",
    "max_completion_tokens": "gen_ai.request.max_tokens",
    "max_output_tokens": "gen_ai.request.max_tokens",
    "seed": "gen_ai.request.seed",
    "frequency_penalty": "gen_ai.request.frequency_penalty",
    "presence_penalty": "gen_ai.request.presence_penalty",
}
"""Parameters of requests."""

PROVIDERS: Final[Mapping[str, str]] = {
    "azure": "azure.ai.openai",
    "google": "gcp.gemini",
    "bedrock": "aws.bedrock",
}
"""Providers whose names here are others; the rest are called as in a model's spec."""

OPERATIONS: Final[Mapping[str, str]] = {"chat": "chat", "image": "generate_content"}
EXECUTE_TOOL: Final = "execute_tool"

STOP_REASONS: Final[Mapping[str, str]] = {"filter": "content_filter", "tool_calls": "tool_call"}
"""Stop reasons that have another name there."""
