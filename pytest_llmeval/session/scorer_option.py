"""The option ``--scorer`` of commands."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic_core import PydanticCustomError

from pytest_llmeval.errors import TaskError, UsageError
from pytest_llmeval.files.yaml import parse_yaml
from pytest_llmeval.records import Json
from pytest_llmeval.task.registry import SCORERS
from pytest_llmeval.task.spec import Spec, spec_of


def read_scorer(text: str) -> Spec:
    """Return the scorer that a text names.

    It is ``eed``, or with options ``eed={mode: published}``, or as a task has it: ``{eed: {mode:
    published}}``.

    Raises:
        UsageError: the name is unknown, or the options are no mapping in YAML.
    """
    if text.lstrip().startswith("{"):
        return _as_in_a_task(text)
    name, _, options = text.partition("=")
    if not SCORERS.knows(name):
        msg = f"--scorer {text}: {SCORERS.unknown(name)}"
        raise UsageError(msg)
    value = _value(options, text)
    if not isinstance(value, dict | None):
        msg = f"--scorer {text}: options are a mapping, as in eed={{mode: published}}"
        raise UsageError(msg)
    return Spec(name=name, options=value or {})


def _as_in_a_task(text: str) -> Spec:
    try:
        return spec_of(_value(text, text), SCORERS)
    except PydanticCustomError as error:
        msg = f"--scorer {text}: {error.message()}"
        raise UsageError(msg) from None


def _value(yaml: str, text: str) -> Json:
    try:
        return parse_yaml(yaml, "--scorer").value
    except TaskError as error:
        msg = f"--scorer {text}: {error.problem}"
        raise UsageError(msg) from None


def read_scorers(texts: Sequence[str]) -> tuple[Spec, ...]:
    """Return the scorers that texts name; UsageError as `read_scorer`."""
    return tuple(map(read_scorer, texts))
