"""Targets and answers by digest: a baseline is committed, and must not spread either."""

from __future__ import annotations

import hashlib
import json
from typing import Final

from pytest_llmeval.records import Target, target_form

_MARK: Final = "sha256:"
_DIGITS: Final = 16
"""64 bits: two targets of one sample do not get the same digest by accident."""

NO_ANSWER: Final = f"{_MARK}none"
"""In place of the digest of an answer, where the completion has none."""

UNKNOWN_ANSWER: Final = f"{_MARK}unknown"
"""In place of the digest of an answer that a baseline does not have."""


def answer_digest(answer: str | None) -> str:
    """Return an answer's digest as a baseline keeps it; a digest is returned as it is."""
    return NO_ANSWER if answer is None else target_digest(answer)


def target_digest(target: Target) -> str:
    """Return a target's digest as a baseline keeps it; a digest is returned as it is."""
    if not isinstance(target, str):
        return _digest(f"{target_form(target)} {json.dumps(target, sort_keys=True)}")
    return target if is_digest(target) else _digest(target)


def is_digest(target: Target) -> bool:
    """Whether a target is a digest, as in a baseline's file."""
    return isinstance(target, str) and target.startswith(_MARK)


def _digest(text: str) -> str:
    return _MARK + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
