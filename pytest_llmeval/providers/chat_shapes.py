"""Chats as tasks write them, in OpenAI's shapes, read for APIs that have other ones.

Tasks name tools, tool choice and the form of answers as OpenAI's chat API does, whichever model
they ask. The functions here read those shapes; what is of another shape is for the caller, because
it may be the API's own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pytest_llmeval.records import Json, Message, TextPart, ToolCall


class Function(NamedTuple):
    """A tool: a function that the model may ask to be called.

    Attributes:
        name: the function's name.
        description: what it does; "" if that is not told.
        schema: JSON schema of its arguments, an object's.
        strict: whether arguments must keep to the schema.
    """

    name: str
    description: str
    schema: Mapping[str, Json]
    strict: bool = False


class AnswerSchema(NamedTuple):
    """The JSON schema that an answer must keep to.

    Attributes:
        name: its name; "" if it has none.
        schema: the schema.
        strict: whether the answer must keep to it.
    """

    name: str
    schema: Mapping[str, Json]
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """Messages in a row of one speaker; results of tools are the user's."""

    role: Literal["user", "assistant"]
    messages: tuple[Message, ...]


def function_of(tool: Json) -> Function | None:
    """Return the function in ``{"type": "function", "function": {...}}``, None in other shapes."""
    inner = tool.get("function") if isinstance(tool, dict) else None
    if not isinstance(inner, dict) or not isinstance(name := inner.get("name"), str):
        return None
    schema, told = inner.get("parameters"), inner.get("description")
    return Function(
        name=name,
        description=told if isinstance(told, str) else "",
        schema=schema if isinstance(schema, dict) else {"type": "object", "properties": {}},
        strict=inner.get("strict") is True,
    )


def chosen_function(choice: Json) -> str | None:
    """Return the name in a tool choice ``{"type": "function", "function": {"name": ...}}``."""
    inner = choice.get("function") if isinstance(choice, dict) else None
    name = inner.get("name") if isinstance(inner, dict) else None
    return name if isinstance(name, str) else None


def answer_schema(response_format: Json) -> AnswerSchema | None:
    """Return the schema in ``{"type": "json_schema", "json_schema": {...}}``, None elsewhere."""
    inner = response_format.get("json_schema") if isinstance(response_format, dict) else None
    if not isinstance(inner, dict) or not isinstance(schema := inner.get("schema"), dict):
        return None
    name = inner.get("name")
    return AnswerSchema(
        name if isinstance(name, str) else "", schema, strict=inner.get("strict") is True
    )


def wanted_schema(response_format: Json) -> AnswerSchema | None:
    """Return the schema that an answer must keep to; None if it may have any form.

    A form in one word is that of OpenAI's image API, which requests of all operations may carry.

    Raises:
        ValueError: the form is another one, such as ``json_object``.
    """
    plain = response_format is None or isinstance(response_format, str)
    if plain or response_format == {"type": "text"}:
        return None
    if (answer := answer_schema(response_format)) is None:
        msg = (
            "response_format has no counterpart in this API; expected "
            '{"type": "json_schema", "json_schema": {"schema": ...}}'
        )
        raise ValueError(msg)
    return answer


def unknown_choice(choice: Json) -> ValueError:
    """Return the error of a tool choice that an API does not have."""
    return ValueError(f"tool_choice is {choice!r}; expected auto, none, required or one function")


def texts_of_system(messages: Sequence[Message]) -> Iterator[str]:
    """Yield the texts of the system's messages, in order, for APIs that take them apart.

    Raises:
        ValueError: one of them holds a picture.
    """
    for message in messages:
        if message.role != "system":
            continue
        if message.images:
            msg = "a system message holds a picture; this API takes them in a user's message only"
            raise ValueError(msg)
        yield from (part.text for part in message.parts if isinstance(part, TextPart))


def arguments_of(call: ToolCall) -> dict[str, Json]:
    """Return a call's arguments as an object, for APIs that take no text.

    A model may have written text that is no JSON object; it is the argument ``arguments`` then.
    """
    try:
        read: Json = json.loads(call.arguments or "{}", parse_constant=str)
    except (ValueError, RecursionError):
        read = call.arguments
    return read if isinstance(read, dict) else {"arguments": call.arguments}


def turns(messages: Sequence[Message]) -> Iterator[Turn]:
    """Yield the conversation as turns of user and assistant by turns, without the system's part.

    A message that is neither the assistant's nor the system's is the user's, a tool's result too.
    """
    role: Literal["user", "assistant"] = "user"
    run: list[Message] = []
    for message in messages:
        if message.role == "system":
            continue
        speaker: Literal["user", "assistant"] = (
            "assistant" if message.role == "assistant" else "user"
        )
        if run and speaker != role:
            yield Turn(role, tuple(run))
            run = []
        role = speaker
        run.append(message)
    if run:
        yield Turn(role, tuple(run))
