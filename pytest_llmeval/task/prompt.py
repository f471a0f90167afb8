"""The section ``prompt`` of a task file: stages of chat messages, each a jinja2 template."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias, cast

from pydantic import BeforeValidator, ValidationInfo

from pytest_llmeval.files.yaml import read_text
from pytest_llmeval.task.section import ExtendedText, Source, refusal, shown

ROLES = ("system", "user", "assistant")
"""The roles of messages in a prompt."""

SIMULATED = "user"
"""The one role that may also name a stage, beside others: that of a simulated user."""

MAX_PROMPT_BYTES = 1_000_000
"""Bytes of a prompt's file at most."""

_TWO_STAGES = re.compile(
    r"\s*\[GEN_PROMPT\](.*?)\[/GEN_PROMPT\]\s*\[QUESTION\](.*?)\[/QUESTION\]\s*", re.DOTALL
)
"""The form of lmms-eval's visual chain-of-thought tasks: one text with the prompts of two
stages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message of a stage.

    Attributes:
        role: one of `ROLES`.
        text: the jinja2 template.
        file: the file that holds the text.
        line: the line of that file on which the text begins.
        key: its dotted key in the task file; "" for a file that is the text.
    """

    role: str
    text: str
    file: Path
    line: int
    key: str


Stages: TypeAlias = Mapping[str, tuple[Turn, ...]]
"""The messages of each stage, by its name."""


def _stages(value: Any, info: ValidationInfo) -> Any:  # noqa: ANN401 - a value of the task file
    source = cast("Source", info.context)
    if not isinstance(value, dict):
        return _unnamed_stages(_turns(value, (), source))
    if not value:
        raise refusal((), "is empty")
    allowed = {SIMULATED} if value.keys() - {*ROLES} else set()
    if wrong := next((name for name in value if name in ROLES and name not in allowed), None):
        raise refusal(
            (wrong,), f"is a role, not a stage; write a list of messages (- {wrong}: ...)"
        )
    return {stage: _turns(messages, (stage,), source) for stage, messages in value.items()}


def _unnamed_stages(turns: tuple[Turn, ...]) -> Stages:
    """Return the stage ``generate``, or ``image`` and ``question`` of a text in `_TWO_STAGES`."""
    match = _TWO_STAGES.fullmatch(turns[0].text) if len(turns) == 1 else None
    if match is None:
        return {"generate": turns}
    return {
        stage: (
            Turn(
                role="user",
                text=match[group],
                file=turns[0].file,
                line=turns[0].line + turns[0].text.count("\n", 0, match.start(group)),
                key=turns[0].key,
            ),
        )
        for stage, group in (("image", 1), ("question", 2))
    }


def _turns(value: object, at: tuple[str | int, ...], source: Source) -> tuple[Turn, ...]:
    """Return the messages of one stage, whose value is at the keys `at` below ``prompt``."""
    if isinstance(value, str):
        return (_turn("user", value, at, source),)
    if not isinstance(value, list) or not value:
        raise refusal(at, f"is {shown(value)}; write a list of messages (- user: ...)")
    turns = []
    for index, message in enumerate(value):
        place = (*at, index)
        if not isinstance(message, dict) or len(message) != 1:
            raise refusal(place, f"is {shown(message)}; write one role and its text (user: ...)")
        ((role, text),) = message.items()
        if role not in ROLES:
            raise refusal((*place, role), f"is the role {role!r}", given=role, allowed=ROLES)
        turns.append(_turn(role, text, (*place, role), source))
    return tuple(turns)


def _turn(role: str, value: object, at: tuple[str | int, ...], source: Source) -> Turn:
    path = ("prompt", *at)
    if isinstance(value, str):
        layer, place = source.origin(path)
        line = layer.document.text_line(place) or 1
        key = ".".join(map(str, place))
        return Turn(role=role, text=value, file=layer.file, line=line, key=key)
    if isinstance(value, dict) and list(value) == ["file"] and isinstance(value["file"], str):
        file = _inside(value["file"], (*at, "file"), source)
        return Turn(
            role=role,
            text=read_text(file, max_bytes=MAX_PROMPT_BYTES),
            file=file,
            line=1,
            key="",
        )
    raise refusal(
        at, f"is {shown(value)}; write a text, or {{file: path}} of a file in the task's folder"
    )


def _inside(name: str, at: tuple[str | int, ...], source: Source) -> Path:
    """Return the path of a file, checked to lie in the task's folder."""
    folder = source.folder.resolve()
    start = name.folder if isinstance(name, ExtendedText) else folder
    file = (start / name).resolve()
    if not file.is_relative_to(folder):
        raise refusal(at, f"is {name!r}, which leaves the task's folder")
    if not file.is_file():
        raise refusal(at, f"names {str(file)!r}, which is not a file")
    return file


PromptField = Annotated[Stages, BeforeValidator(_stages)]
"""In YAML one text, a list of messages, or a mapping of stages to either."""
