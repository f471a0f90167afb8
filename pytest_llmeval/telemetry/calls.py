"""The spans of a transcript: each attempt at a request, and each use of a tool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pytest_llmeval.errors import FailedAttempt
from pytest_llmeval.records import Asked, Event, FailedCall, ModelCall, Reply, ToolUse
from pytest_llmeval.telemetry import names
from pytest_llmeval.telemetry.contents import call_contents
from pytest_llmeval.telemetry.span import Span, Value

_INT64: Final = range(-(2**63), 2**63)


def event_spans(event: Event, *, contents: bool) -> Iterator[Span]:
    """Yield the spans of one event; none for a remark.

    A request that was repeated has a span for each attempt; all but the last one failed. A stored
    reply took no time, and neither did a request that was refused before it was sent.

    Args:
        event: of a transcript.
        contents: whether messages, arguments and results are attributes too.
    """
    match event:
        case ModelCall(asked=asked, failures=failures):
            yield from (_failed(asked, one) for one in failures)
            yield _answered(event, contents=contents)
        case FailedCall(asked=asked, failures=failures):
            yield from (_failed(asked, one, event.error) for one in failures)
            if not failures:
                unsent = FailedAttempt(event.cause or "provider", event.at, 0.0)
                yield _failed(asked, unsent, event.error)
        case ToolUse():
            yield _tool(event, contents=contents)


def _answered(call: ModelCall, *, contents: bool) -> Span:
    stored = call.cached or call.asked.model.startswith("replay/")
    return Span(
        name=_name(call.asked),
        start=call.at if stored else call.at - call.reply.latency,
        end=call.at,
        attributes={
            **_of_request(call.asked),
            **_of_reply(call.reply),
            "llmeval.stored": stored,
            "llmeval.attempts": call.attempts,
            **(call_contents(call) if contents else {}),
        },
        sent=True,
    )


def _failed(asked: Asked, attempt: FailedAttempt, message: str | None = None) -> Span:
    return Span(
        name=_name(asked),
        start=attempt.started,
        end=attempt.started + attempt.seconds,
        attributes={**_of_request(asked), names.ERROR_TYPE: attempt.cause},
        sent=True,
        error=message or attempt.cause,
    )


def _tool(use: ToolUse, *, contents: bool) -> Span:
    attributes: dict[str, Value] = {
        names.OPERATION: names.EXECUTE_TOOL,
        names.TOOL: use.tool,
        names.TOOL_TYPE: "function",
        "llmeval.stage": use.stage,
        "llmeval.tool.count": use.count,
    }
    if use.error is not None:
        attributes[names.ERROR_TYPE] = "tool"
    if contents:
        attributes |= {names.TOOL_ARGUMENTS: use.input, names.TOOL_RESULT: use.output}
    return Span(
        name=f"{names.EXECUTE_TOOL} {use.tool}",
        start=use.at - use.seconds,
        end=use.at,
        attributes=attributes,
        error=use.error if contents or use.error is None else "the use failed",
    )


def _name(asked: Asked) -> str:
    return f"{names.OPERATIONS[asked.operation]} {asked.model.partition('/')[2]}"


def _of_request(asked: Asked) -> dict[str, Value]:
    kind, _, model = asked.model.partition("/")
    return {
        names.OPERATION: names.OPERATIONS[asked.operation],
        names.PROVIDER: names.PROVIDERS.get(kind, kind),
        names.REQUEST_MODEL: model,
        **_of_parameters(asked.parameters),
        "llmeval.role": asked.role,
        "llmeval.stage": asked.stage,
        **({"llmeval.scorer": asked.scorer} if asked.scorer else {}),
    }


def _of_parameters(parameters: Mapping[str, object]) -> dict[str, Value]:
    """Return numbers that fit into 64 bits: with others no receiver gets a batch."""
    return {
        names.PARAMETERS[name]: value
        for name, value in parameters.items()
        if name in names.PARAMETERS
        and (isinstance(value, float) or (isinstance(value, int) and value in _INT64))
    }


def _of_reply(reply: Reply) -> dict[str, Value]:
    usage = reply.usage
    return {
        names.FINISH_REASONS: (names.STOP_REASONS.get(reply.stop_reason, reply.stop_reason),),
        names.INPUT_TOKENS: usage.input_tokens,
        names.OUTPUT_TOKENS: usage.output_tokens,
        names.CACHED_TOKENS: usage.cached_tokens,
        names.CACHE_WRITE_TOKENS: usage.cache_write_tokens,
        names.REASONING_TOKENS: usage.reasoning_tokens,
        **({names.RESPONSE_MODEL: reply.model} if reply.model else {}),
        **({} if usage.cost is None else {"llmeval.cost": usage.cost}),
    }
