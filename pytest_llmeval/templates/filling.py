"""Filling of templates with values: in place where that is harmless, else in the limited child."""

from __future__ import annotations

import difflib
import hashlib
import json
import re
import traceback
from collections.abc import Mapping, Sequence
from typing import Final

from jinja2 import TemplateSyntaxError, UndefinedError

from pytest_llmeval.records import Json
from pytest_llmeval.templates.child import RowFailure, TemplateLimitError, run_limited
from pytest_llmeval.templates.language import (
    AS_TEXT,
    LISTS,
    METADATA,
    PICTURE,
    compile_template,
    plain_names,
)

_DECLARED: Final = {
    "examples": "fewshot: {path: train.jsonl, count: 5}",
    "choices": "choices: {column: choices}",
}
"""Lists, with the sections of a task file that make them."""

_HIDDEN: Final = frozenset({PICTURE, *(name + AS_TEXT for name in LISTS)})
"""Variables that stand for something else in a template, and are not told."""


class FillingError(Exception):
    """A template cannot be filled.

    Attributes:
        problem: what is wrong, and the fix.
        line: line of the template, from 1.
    """

    def __init__(self, problem: str, line: int = 1) -> None:
        """Store problem and line."""
        super().__init__(problem)
        self.problem, self.line = problem, line


def check_syntax(text: str) -> None:
    """Raise FillingError for a text that is not valid jinja2."""
    try:
        plain_names(text)
    except TemplateSyntaxError as error:
        problem = f"is not valid jinja2: {error.message}"
        raise FillingError(problem, error.lineno) from None


def filled(text: str, values: Mapping[str, Json]) -> str:
    """Return a template with its names replaced by values.

    Raises:
        FillingError: a name has no value, the template fails, or takes too much time or memory.
    """
    try:
        if plain_names(text) is not None:
            return compile_template(text).render(values)
        (found,) = run_limited("template", text, [values])
    except UndefinedError as error:
        found = RowFailure("UndefinedError", str(error.message), _line_of(error))
    except TemplateLimitError as limit:
        raise FillingError(str(limit)) from None
    if isinstance(found, str):
        return found
    raise _failure(found, values)


def failures(text: str, rows: Sequence[Mapping[str, Json]]) -> list[FillingError | None]:
    """Return for each row of values why the template cannot be filled with it; None if it can.

    The rows are sent to the child together.

    Raises:
        FillingError: the rows together take too long.
    """
    try:
        found = run_limited("template", text, rows)
    except TemplateLimitError as limit:
        raise FillingError(str(limit)) from None
    return [
        None if isinstance(one, str) else _failure(one, row)
        for one, row in zip(found, rows, strict=True)
    ]


def mark_of(values: Mapping[str, Json]) -> str:
    """Return a placeholder for what is put into a template after it was filled with `values`.

    It is a hash of the values, so none of these can contain it, and it is the same in every run. It
    consists of digits, which filters such as ``upper`` do not change.
    """
    digest = hashlib.sha256(json.dumps(values, sort_keys=True, default=str).encode()).digest()
    return f"{int.from_bytes(digest):078d}"


def _failure(failure: object, values: Mapping[str, Json]) -> FillingError:
    assert isinstance(failure, RowFailure)  # noqa: S101 - templates have no truth value
    if failure.kind == "UndefinedError":
        problem = _undefined(failure.message, values)
    else:
        problem = f"cannot be filled: {failure.kind}: {failure.message}"
    return FillingError(problem, failure.line)


def _undefined(message: str, values: Mapping[str, Json]) -> str:
    """Return the problem with a name that the template uses and that has no value: with the fix."""
    name = (re.findall("'([^']*)'", message) or [""])[-1]
    metadata = values.get("metadata")
    if "dict object" in message and isinstance(metadata, dict) and name not in metadata:
        has = ", ".join(metadata) or "nothing"
        fix = (
            f"add {{{name}: COLUMN}} to dataset.fields.metadata, or, where rows may lack it "
            f"(COLUMN?), ask first: {{% if {METADATA}.{name} is defined %}}"
        )
        return f"metadata has no {name!r} (it has: {has}); {fix}"
    if (named := name.removesuffix(AS_TEXT)) in LISTS:
        message, name = message.replace(name, named), named
    known = [known for known in values if known not in _HIDDEN]
    if name in _DECLARED:
        hint = f"; the task file declares them: {_DECLARED[name]}"
    elif name == "target":
        hint = "; prompts cannot use the target"
    elif name in metadata if isinstance(metadata, dict) else False:
        hint = f"; write metadata.{name}"
    else:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"{message}{hint} (known here: {', '.join(known)})"


def _line_of(error: Exception) -> int:
    """Return the line of the template on which it failed; jinja2 puts it into the traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = (frame.lineno for frame in reversed(frames) if frame.filename == "<template>")
    return next((line for line in lines if line is not None), 1)
