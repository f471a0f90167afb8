"""Recordings: JSON Lines files of stored replies, in which a reply is found by what was asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from pytest_llmeval.engine.replies.folder import is_older
from pytest_llmeval.engine.replies.stored_reply import StoredReply
from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Request, Role
from pytest_llmeval.roles import SOLVER
from pytest_llmeval.safety.regular_files import open_regular, regular_lines

SUFFIX: Final = ".jsonl"
"""How the name of a recording ends."""

BEGINNING: Final = b'{"content": '
"""How each line of a recording begins."""


class Recording:
    """The replies of a recording, in memory, by what was asked (`StoredReply.key`), and by role.

    Attributes:
        lines: the replies to each request, by the role that was asked.
    """

    def __init__(self, file: Path, *, max_age: float | None = None) -> None:
        """Read a recording; of one model's replies to a request in one role the last counts.

        Args:
            file: the file.
            max_age: age of the replies that are found, at most (s); None for any.

        Raises:
            UsageError: the file cannot be read, or holds several models' replies to one request in
                one role.
        """
        self._max_age = max_age
        self.lines: dict[str, dict[Role, StoredReply]] = {}
        self._models: dict[Role, set[str]] = {}
        for line in read_recording(file):
            of_roles = self.lines.setdefault(line.key, {})
            known = of_roles.get(line.role, line)
            if known.model != line.model:
                msg = f"{file}: two replies to the same request, by {known.model} and {line.model}"
                raise UsageError(msg)
            of_roles[line.role] = line
            self._models.setdefault(line.role, set()).add(line.model)

    def find(self, request: Request) -> StoredReply | None:
        """Return the reply to what a request asks in its role, of whichever model it is.

        A named judge, or model of another role than the one under test, takes its own replies only:
        who judged stands with the score.
        """
        line = self._of_role(request)
        if line is None or is_older(line, self._max_age):
            return None
        of_another = line.model != f"{request.provider}/{request.model}{request.route}"
        if request.role != SOLVER and request.provider != "replay" and of_another:
            return None
        return line

    def _of_role(self, request: Request) -> StoredReply | None:
        """Return the line of the request's role, or of a model that was asked in it elsewhere.

        A model that was asked one thing in two roles was called once, and has one line. Where no
        line has the role, as in older recordings, it is one of the models under test.
        """
        of_roles = self.lines.get(request.content_key, {})
        if (line := of_roles.get(request.role)) is not None:
            return line
        models = self._models.get(request.role) or self._models.get(SOLVER, set())
        return next((line for line in of_roles.values() if line.model in models), None)

    def close(self) -> None:
        """Do nothing: no file is open."""


def read_recording(file: Path) -> Iterator[StoredReply]:
    """Yield the lines of a recording, their pictures at absolute paths.

    A last line without its end is what a killed run leaves; it is skipped.

    Raises:
        UsageError: the file cannot be read, or a line is no stored reply.
    """
    try:
        with open_regular(file) as stream:
            for number, line in enumerate(regular_lines(stream, file), 1):
                try:
                    stored = StoredReply.from_json(json.loads(line))
                except (ValueError, RecursionError) as error:
                    if not line.endswith(b"\n") and BEGINNING.startswith(line[: len(BEGINNING)]):
                        return
                    problem = f"{type(error).__name__}: {error}"
                    msg = f"{file}:{number}: not a line of a recording ({problem})"
                    raise UsageError(msg) from error
                yield stored.with_images(
                    tuple(
                        replace(image, path=str(file.parent / image.path))
                        for image in stored.images
                    )
                )
    except OSError as error:
        msg = f"{file}: the recording cannot be read: {error.strerror or error}"
        raise UsageError(msg) from error
