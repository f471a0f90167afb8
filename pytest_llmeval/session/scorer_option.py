"""The option ``--scorer`` of commands."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_llmeval.errors import TaskError, UsageError
from pytest_llmeval.files.yaml import parse_yaml
from pytest_llmeval.task.registry import SCORERS
from pytest_llmeval.task.spec import Spec


def read_scorer(text: str) -> Spec:
    """Return the scorer that a text names: ``eed``, or with options ``eed={mode: published}``.

    Raises:
        UsageError: the name is unknown, or the options are no mapping in YAML.
    """
    name, _, options = text.partition("=")
    if not SCORERS.knows(name):
        msg = f"--scorer {text}: {SCORERS.unknown(name)}"
        raise UsageError(msg)
    try:
        value = parse_yaml(options, "--scorer").value
    except TaskError as error:
        msg = f"--scorer {text}: {error.problem}"
        raise UsageError(msg) from None
    if not isinstance(value, dict | None):
        msg = f"--scorer {text}: options are a mapping, as in eed={{mode: published}}"
        raise UsageError(msg)
    return Spec(name=name, options=value or {})


def read_scorers(texts: Sequence[str]) -> tuple[Spec, ...]:
    """Return the scorers that texts name; UsageError as `read_scorer`."""
    return tuple(map(read_scorer, texts))
