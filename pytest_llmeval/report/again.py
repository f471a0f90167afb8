"""The command that runs one sample again, with its model and data."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pytest_llmeval.records import Json, Row

SINGLE: Final = ("epochs", "limit", "seed", "sample_timeout")
"""Settings with one value that the command repeats: they change the node id, data or requests."""

LEFT_OUT: Final = frozenset({
    "shard", "samples", "budget", "batch", "prices", "concurrency", "estimate", "reuse", "keep",
    "resume", "report", "traces", "baseline", "gate", "groups", "progress", "workers",
    "folder",
})  # fmt: skip
"""Settings that it does not: which other samples ran, cost, stored replies and results."""


def again(row: Row, settings: Mapping[str, Any]) -> str:
    """Return the command, as a line for a POSIX shell.

    All models of the run are named, as the node id has the model's name only where there are
    several. Settings are read as ``run.json`` has them; those of earlier versions may lack some.

    Example::

        pytest 'test_sums.py::test_sums[7-e2]' --llmeval-model openai/m --llmeval-epochs 3
    """
    words = ["pytest", row.nodeid, *_options(row, settings)]
    return shlex.join(words)


def _options(row: Row, settings: Mapping[str, Any]) -> Iterator[str]:
    for spec in settings.get("models") or ():
        yield from ("--llmeval-model", spec)
    for spec in settings.get("judges") or ():
        yield from ("--llmeval-judge", spec)
    for role, specs in (settings.get("roles") or {}).items():
        for spec in specs:
            yield from ("--llmeval-model", f"{role}={spec}")
    for name in SINGLE:
        if (value := settings.get(name)) not in (None, _USUAL.get(name)):
            yield from (f"--llmeval-{name.replace('_', '-')}", str(value))
    task = row.task.partition("[")[0]
    for key, value in (settings.get("overrides") or {}).get(task, {}).items():
        yield from ("--llmeval-set", f"{task}.{key}={value}")
    for name, value in (settings.get("domain") or {}).items():
        yield from (f"--llmeval-{name}", value)


_USUAL: Final[Mapping[str, Json]] = {"epochs": 1}
"""Values that need not be typed."""
