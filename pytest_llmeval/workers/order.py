"""What main process and broker write to each other: lines of JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

from pytest_llmeval.workers.setup import Setup
from pytest_llmeval.workers.spec import WorkersSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What the broker is to do.

    Attributes:
        spec: the workers; of Ray with the address to use.
        setup: what each worker is started with.
        python: version of the main process's Python.
        package: version of its code (`code_version`).
        socket: path of the socket at which the broker waits for relays.
    """

    spec: WorkersSpec
    setup: Setup
    python: str
    package: str
    socket: str

    def to_line(self) -> bytes:
        """Return the JSON form, with a newline."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> Self:
        """Return what `to_line` wrote."""
        data: dict[str, Any] = json.loads(line)
        spec: dict[str, Any] = data["spec"]
        read = WorkersSpec(**{**spec, "command": tuple(spec["command"])})
        return cls(**{**data, "spec": read, "setup": Setup(**data["setup"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What the broker reports.

    Attributes:
        kind: ``ready``: all workers have started. ``failed``: they cannot be. ``lost``: the way to
            a worker, its supervisor or its machine is lost. ``crashed``: a worker's process ended
            by itself. ``missing``: no worker could be started for a slot.
        why: the reason; not of ``ready``.
        slot: the worker's place, from 0.
        replaced: whether another worker stands ready in the slot.
        hosts: of ``ready``, the machine of each slot.
    """

    kind: Literal["ready", "failed", "lost", "crashed", "missing"]
    why: str = ""
    slot: int = -1
    replaced: bool = False
    hosts: tuple[str, ...] = ()

    def to_line(self) -> bytes:
        """Return the JSON form, with a newline."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> Self:
        """Return what `to_line` wrote."""
        data: dict[str, Any] = json.loads(line)
        return cls(**{**data, "hosts": tuple(data["hosts"])})
