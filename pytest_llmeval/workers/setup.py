"""What a worker is started with, and what it says of itself: JSON between broker and supervisor."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class _Message:
    def to_bytes(self) -> bytes:
        """Return the JSON form."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return what `to_bytes` wrote."""
        return cls(**json.loads(data))


@dataclass(frozen=True, slots=True)
class Setup(_Message):
    """What a worker is started with.

    Attributes:
        folder: the working folder, as in the main process.
        here: the project's folder in the main process.
        there: the project's folder on the worker's machine; "" for the folder in which the
            supervisor was started.
        path: folders of Python modules outside the installation, as in the main process.
        environment: variables that the worker gets.
        without: names of variables that it does not get: those of models' keys.
    """

    folder: str
    here: str
    there: str
    path: list[str]
    environment: Mapping[str, str]
    without: list[str]


@dataclass(frozen=True, slots=True)
class Hello(_Message):
    """Who a worker is.

    Attributes:
        host: name of its machine.
        pid: process id of its supervisor.
        python: version of Python, such as ``3.11.7``.
        package: version of this package, with a digest of its files (`code_version`).
    """

    host: str
    pid: int
    python: str
    package: str


@dataclass(frozen=True, slots=True)
class Exit(_Message):
    """How a worker ended.

    Attributes:
        status: exit status; the negative number of a signal that ended it.
        said: the end of its standard error.
    """

    status: int
    said: str
