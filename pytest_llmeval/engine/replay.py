"""Recordings: a JSON Lines file of requests and replies, written by one run and answered from by others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from pytest_llmeval.engine.pictures import keep_picture
from pytest_llmeval.errors import ProviderError, UsageError
from pytest_llmeval.records import Image, Json, Reply, Request
from pytest_llmeval.records.request import content_key

MAX_TOLD = 10
"""Misses that tell the nearest recorded request: finding it reads the whole recording, and nobody reads more."""

_ESCAPED = "backslashreplace"
"""How UTF-8 files get over half a surrogate pair, which models do produce: as JSON's own escape."""

_BEGINNING = b'{"content": '
"""How every line of a recording begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One line of a recording: what was asked, of which model, and its reply."""

    key: str
    model: str
    content: dict[str, Json]
    reply: Reply

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {"key": self.key, "model": self.model, "content": self.content, "reply": self.reply.to_json()}


def read_recording(file: Path) -> Iterator[Recorded]:
    """Yield the lines of a recording; UsageError names the file and line that are not one.

    A last line without its end is what a killed recording leaves; it is passed over.
    """
    try:
        stream = file.open("rb")
    except OSError as error:
        msg = f"{file}: the recording cannot be read: {error.strerror or error}"
        raise UsageError(msg) from error
    with stream:
        for number, line in enumerate(stream, 1):
            try:
                yield _read_line(line, file.parent)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                if _is_torn(line):
                    return
                msg = f"{file}:{number}: not a line of a recording ({type(error).__name__}: {error})"
                raise UsageError(msg) from error


class ReplayProvider:
    """Answers from a recording and nothing else; a request that it does not hold is an error."""

    def __init__(self, file: Path) -> None:
        """Read the recording at `file`; of one model's replies to a request the last counts.

        UsageError when it holds several models' replies to one request.
        """
        self._file = file
        self._lines: dict[str, Recorded] = {}
        self._misses = 0
        for line in read_recording(file):
            known = self._lines.get(line.key, line)
            if known.model != line.model:
                msg = f"{file}: two replies to the same request, by {known.model} and {line.model}"
                raise UsageError(msg)
            self._lines[line.key] = line

    async def send(self, request: Request) -> Reply:
        """Return the recorded reply; ProviderError tells the nearest recorded request and where it differs."""
        line = self._lines.get(request.content_key)
        if line is None:
            self._misses += 1
            told = self._nearest(request) if self._misses <= MAX_TOLD else "the misses before it tell more"
            msg = f"{self._file}: no recorded reply to this request; {told}"
            raise ProviderError(msg, cause="replay")
        return line.reply

    async def close(self) -> None:
        """Nothing is held open."""

    def _nearest(self, request: Request) -> str:
        if not self._lines:
            return "the recording is empty"
        wanted = cast("dict[str, Json]", json.loads(json.dumps(request.content)))
        words = _words(wanted)
        nearest = max(self._lines.values(), key=lambda line: _similarity(words, _words(line.content)))
        fields = [name for name in wanted if wanted[name] != nearest.content.get(name)]
        told = "; ".join(f"{name}: asked {_short(wanted[name], nearest.content.get(name))}" for name in fields)
        return f"the nearest one differs in {told}"


class Recorder:
    """Writes a recording: each reply at once, and the whole file in stable order at the end."""

    def __init__(self, file: Path) -> None:
        """Record into `file`, keeping what it already holds; pictures go into a folder beside it.

        UsageError when the file cannot be written, or is no recording.
        """
        self._file, self._images = file, file.with_name(f"{file.stem}-images")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            known = map(self._with_pictures, read_recording(file)) if file.is_file() else ()
            self._lines = {line.key: line for line in known}
            # Written anew, because the last line may lack its end.
            self._replace()
            self._stream = file.open("a", encoding="utf-8", errors=_ESCAPED)
        except OSError as error:
            msg = f"{file}: replies cannot be recorded here: {error.strerror or error}"
            raise UsageError(msg) from error

    def record(self, request: Request, reply: Reply, *, model: str) -> None:
        """Add one reply of `model`; a second reply to the same request replaces the first."""
        self.add(model, request.content, reply)

    def add(self, model: str, content: dict[str, Json], reply: Reply) -> None:
        """Add one reply of `model` to a request with this `content`."""
        line = Recorded(key=content_key(content), model=model, content=content, reply=replace(reply, created=0.0))
        line = self._with_pictures(line)
        self._lines[line.key] = line
        self._stream.write(_dump(line))
        self._stream.flush()

    def close(self) -> None:
        """Replace the file by its lines in the order of their keys, each once."""
        self._stream.close()
        self._replace()

    def _replace(self) -> None:
        new = self._file.with_name(f".{self._file.name}.new")
        with new.open("w", encoding="utf-8", errors=_ESCAPED) as stream:
            stream.writelines(_dump(self._lines[key]) for key in sorted(self._lines))
        new.replace(self._file)

    def _with_pictures(self, line: Recorded) -> Recorded:
        """Return the line with its pictures copied beside the recording, their paths relative to it."""
        return replace(line, reply=replace(line.reply, images=tuple(map(self._keep, line.reply.images))))

    def _keep(self, image: Image) -> Image:
        return replace(image, path=f"{self._images.name}/{keep_picture(image, self._images).name}")


def _is_torn(line: bytes) -> bool:
    """Tell whether the line begins as `_dump` writes it, and lacks its end."""
    return not line.endswith(b"\n") and _BEGINNING.startswith(line[: len(_BEGINNING)])


def _read_line(line: bytes, folder: Path) -> Recorded:
    data = json.loads(line)
    reply = Reply.from_json(data["reply"])
    images = tuple(replace(image, path=str(folder / image.path)) for image in reply.images)
    return Recorded(key=data["key"], model=data["model"], content=data["content"], reply=replace(reply, images=images))


def _dump(line: Recorded) -> str:
    return json.dumps(line.to_json(), ensure_ascii=False, sort_keys=True) + "\n"


def _words(content: dict[str, Json]) -> set[str]:
    return set(json.dumps(content, sort_keys=True, ensure_ascii=False).split())


def _similarity(wanted: set[str], other: set[str]) -> float:
    """Return the share of common words: blind to order, which is enough to find the neighbour."""
    return len(wanted & other) / len(wanted | other)


def _short(wanted: Json, recorded: Json) -> str:
    """Tell two values apart around the first character in which they differ."""
    one, two = (json.dumps(value, sort_keys=True, ensure_ascii=False) for value in (wanted, recorded))
    start = next((i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    window = slice(max(0, start - 20), start + 60)
    return f"…{one[window]}…, recorded …{two[window]}…"
