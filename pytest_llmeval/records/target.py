"""The reference answer of a sample, in its four forms."""

from __future__ import annotations

import json
from typing import Literal, TypeAlias

from pytest_llmeval.records.record import Json

Target: TypeAlias = str | tuple[str, ...] | dict[str, Json] | None
"""A text; several texts, any of which is right; a JSON object; or None where there is none."""

TargetForm: TypeAlias = Literal["text", "list", "mapping", "none"]
"""The form of a target."""


def target_form(target: Target) -> TargetForm:
    """Return which of its forms a target has."""
    if target is None:
        return "none"
    if isinstance(target, str):
        return "text"
    return "mapping" if isinstance(target, dict) else "list"


def target_text(target: Target) -> str:
    """Return a target as one text, for people, judges and CSV.

    Several texts are joined by ``or``, an object is JSON, and no target is the empty text.
    """
    if target is None or isinstance(target, str):
        return target or ""
    if isinstance(target, dict):
        return json.dumps(target, ensure_ascii=False)
    return (" or " if all(len(text.splitlines()) <= 1 for text in target) else "\nor\n").join(
        target
    )


def target_texts(target: Target) -> tuple[str, ...]:
    """Return the texts that an answer is compared with, one after the other; at least one."""
    return target if isinstance(target, tuple) else (target_text(target),)
