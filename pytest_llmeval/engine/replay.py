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
"""Misses that tell the nearest recorded request: finding it reads the whole recording, and nobody
reads more."""

MAX_DIFFERENCES = 3
"""Differences that a miss tells."""

_WINDOW = 80
"""Characters that are told of each side of a difference."""

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
        return {
            "key": self.key,
            "model": self.model,
            "content": self.content,
            "reply": self.reply.to_json(),
        }


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
                msg = (
                    f"{file}:{number}: not a line of a recording ({type(error).__name__}: {error})"
                )
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
            told = (
                self._nearest(request)
                if self._misses <= MAX_TOLD
                else "the misses before it tell more"
            )
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
        nearest = max(
            self._lines.values(), key=lambda line: _similarity(words, _words(line.content))
        )
        differences = list(_differences(wanted, nearest.content))
        told = "; ".join(differences[:MAX_DIFFERENCES])
        more = len(differences) - MAX_DIFFERENCES
        return f"the nearest one differs in {told}" + (f"; and {more} more" if more > 0 else "")


class StoredOnly:
    """Answers nothing: what a run has stored never comes here, and all else is an error."""

    def __init__(self, run: str) -> None:
        """Speak of `run` as the one whose replies are stored."""
        self._run = run

    async def send(self, request: Request) -> Reply:
        """Raise ProviderError."""
        msg = (
            f"run {self._run} has no reply to this request (key {request.key[:12]}): it was no part of that run or "
            "failed there, its prompt or parameters have changed since, or its recording lay elsewhere"
        )
        raise ProviderError(msg, cause="replay")

    async def close(self) -> None:
        """Nothing is held open."""


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
        line = Recorded(
            key=content_key(content),
            model=model,
            content=content,
            reply=replace(reply, created=0.0),
        )
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
        return replace(
            line, reply=replace(line.reply, images=tuple(map(self._keep, line.reply.images)))
        )

    def _keep(self, image: Image) -> Image:
        return replace(image, path=f"{self._images.name}/{keep_picture(image, self._images).name}")


def _is_torn(line: bytes) -> bool:
    """Tell whether the line begins as `_dump` writes it, and lacks its end."""
    return not line.endswith(b"\n") and _BEGINNING.startswith(line[: len(_BEGINNING)])


def _read_line(line: bytes, folder: Path) -> Recorded:
    data = json.loads(line)
    reply = Reply.from_json(data["reply"])
    images = tuple(replace(image, path=str(folder / image.path)) for image in reply.images)
    return Recorded(
        key=data["key"],
        model=data["model"],
        content=data["content"],
        reply=replace(reply, images=images),
    )


def _dump(line: Recorded) -> str:
    return json.dumps(line.to_json(), ensure_ascii=False, sort_keys=True) + "\n"


def _words(content: dict[str, Json]) -> set[str]:
    return set(json.dumps(content, sort_keys=True, ensure_ascii=False).split())


def _similarity(wanted: set[str], other: set[str]) -> float:
    """Return the share of common words: blind to order, which is enough to find the neighbour."""
    return len(wanted & other) / len(wanted | other)


def _differences(wanted: Json, recorded: Json, place: str = "") -> Iterator[str]:
    """Yield where two values differ, each difference with the path to it and both sides of it."""
    if isinstance(wanted, dict) and isinstance(recorded, dict):
        for name in sorted(wanted.keys() | recorded.keys()):
            path = f"{place}.{name}" if place else name
            if name not in wanted or name not in recorded:
                yield f"{path}: asked {_whole(wanted, name)}, recorded {_whole(recorded, name)}"
            else:
                yield from _differences(wanted[name], recorded[name], path)
    elif isinstance(wanted, list) and isinstance(recorded, list) and len(wanted) == len(recorded):
        for index, (one, other) in enumerate(zip(wanted, recorded, strict=True)):
            yield from _differences(one, other, f"{place}[{index}]")
    elif wanted != recorded:
        yield f"{place}: asked {_short(wanted, recorded)}"


def _whole(parent: dict[str, Json], name: str) -> str:
    return json.dumps(parent[name], ensure_ascii=False)[:_WINDOW] if name in parent else "without"


def _short(wanted: Json, recorded: Json) -> str:
    """Tell two values apart: whole if they are short, else around the first character in which they differ."""
    one, two = (
        json.dumps(value, sort_keys=True, ensure_ascii=False) for value in (wanted, recorded)
    )
    if max(len(one), len(two)) <= _WINDOW:
        return f"{one}, recorded {two}"
    start = next(
        (i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b),
        min(len(one), len(two)),
    )
    window = slice(max(0, start - _WINDOW // 4), start + _WINDOW * 3 // 4)
    return f"…{one[window]}…, recorded …{two[window]}… (from character {start} on)"
