"""Writing a recording."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from pytest_llmeval.engine.replies.pictures import keep_picture
from pytest_llmeval.engine.replies.recording import read_recording
from pytest_llmeval.engine.replies.stored_reply import StoredReply
from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.records import Image

_ESCAPED: Final = "backslashreplace"
"""Writes half a surrogate pair, which models do produce, as the escape that JSON has for it."""


class Recorder:
    """Writes a recording: each reply at once, and the whole file in stable order at the end."""

    def __init__(self, file: Path) -> None:
        """Record into `file`, keeping what it holds; pictures go into a folder beside it.

        Raises:
            UsageError: the file cannot be written, or is no recording.
        """
        self._redactor = Redactor.of_keys(os.environ)
        self._file, self._images = file, file.with_name(f"{file.stem}-images")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            known = map(self._with_copies, read_recording(file)) if file.is_file() else ()
            self._lines = {(line.key, line.role): line for line in known}
            # Written anew, because the last line may lack its end.
            self._replace()
            self._stream = file.open("a", encoding="utf-8", errors=_ESCAPED)
        except OSError as error:
            msg = f"{file}: replies cannot be recorded here: {error.strerror or error}"
            raise UsageError(msg) from error

    def keep(self, stored: StoredReply, *, live: bool) -> None:  # noqa: ARG002 - the port
        """Record a reply, live or not; a second one to a request in the same role replaces it."""
        self.add(stored)

    def add(self, stored: StoredReply) -> None:
        """Record a reply without keys and its endpoint, which may be a path of this machine."""
        line = self._with_copies(
            replace(stored, reply=replace(stored.reply, created=0.0), endpoint="")
        )
        data = line.to_json()
        if self._redactor.may_change(json.dumps(data)):
            line = StoredReply.from_json(self._redactor.json(data))
        self._lines[line.key, line.role] = line
        self._stream.write(_dump(line))
        self._stream.flush()

    def close(self) -> None:
        """Replace the file by its lines in the order of their keys and roles, each once."""
        self._stream.close()
        self._replace()

    def _replace(self) -> None:
        new = self._file.with_name(f".{self._file.name}.new")
        with new.open("w", encoding="utf-8", errors=_ESCAPED) as stream:
            stream.writelines(_dump(self._lines[key]) for key in sorted(self._lines))
        new.replace(self._file)

    def _with_copies(self, line: StoredReply) -> StoredReply:
        """Return the line with its pictures copied beside the recording, paths relative to it."""

        def copied(image: Image) -> Image:
            kept = keep_picture(image, self._images)
            return replace(image, path=f"{self._images.name}/{kept.name}")

        return line.with_images(tuple(map(copied, line.images)))


def _dump(line: StoredReply) -> str:
    return json.dumps(line.to_json(), ensure_ascii=False, sort_keys=True) + "\n"
