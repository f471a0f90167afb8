"""Writing a recording."""

from __future__ import annotations

import json
import os
from contextlib import closing
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from pytest_llmeval.engine.replies.pictures import keep_picture
from pytest_llmeval.engine.replies.placed_lines import PlacedLines
from pytest_llmeval.engine.replies.recording import read_recording
from pytest_llmeval.engine.replies.stored_reply import StoredReply
from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.records import Image

_ESCAPED: Final = "backslashreplace"
"""Writes half a surrogate pair, which models do produce, as the escape that JSON has for it."""


class Recorder:
    """Writes a recording: each reply at once, and the whole file in stable order at the end.

    Replies are in the file alone; memory has their keys.
    """

    def __init__(self, file: Path) -> None:
        """Record into `file`, keeping what it holds; pictures go into a folder beside it.

        Raises:
            UsageError: the file cannot be written, or is no recording.
        """
        self._redactor = Redactor.of_keys(os.environ)
        self._file, self._images = file, file.with_name(f"{file.stem}-images")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._lines = self._begun()
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
        self._lines.add((line.key, line.role), _dump(line))

    def close(self) -> None:
        """Replace the file by its lines in the order of their keys and roles, each once."""
        new = self._new
        with closing(self._lines), new.open("wb") as stream:
            stream.writelines(self._lines.ordered())
        new.replace(self._file)

    @property
    def _new(self) -> Path:
        return self._file.with_name(f".{self._file.name}.new")

    def _begun(self) -> PlacedLines[tuple[str, str]]:
        """Write the lines that the file holds anew, because the last one may lack its end."""
        new = self._new
        new.unlink(missing_ok=True)
        lines = PlacedLines[tuple[str, str]](new)
        try:
            for line in read_recording(self._file) if self._file.is_file() else ():
                lines.add((line.key, line.role), _dump(self._with_copies(line)))
            lines.move(self._file)
        except BaseException:
            lines.close()
            new.unlink(missing_ok=True)
            raise
        return lines

    def _with_copies(self, line: StoredReply) -> StoredReply:
        """Return the line with its pictures copied beside the recording, paths relative to it."""

        def copied(image: Image) -> Image:
            kept = keep_picture(image, self._images)
            return replace(image, path=f"{self._images.name}/{kept.name}")

        return line.with_images(tuple(map(copied, line.images)))


def _dump(line: StoredReply) -> bytes:
    text = json.dumps(line.to_json(), ensure_ascii=False, sort_keys=True)
    return f"{text}\n".encode(errors=_ESCAPED)
