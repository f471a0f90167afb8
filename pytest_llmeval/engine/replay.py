"""Recordings: a JSON Lines file of requests and replies, written by one run and answered from by others."""

from __future__ import annotations

import difflib
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from pytest_llmeval.errors import ProviderError, UsageError
from pytest_llmeval.records import Image, Json, Reply, Request


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
    """Yield the lines of a recording; UsageError names the file and line that are not one."""
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                data = json.loads(line)
                reply = Reply.from_json(data["reply"])
                images = tuple(replace(image, path=str(file.parent / image.path)) for image in reply.images)
                yield Recorded(
                    key=data["key"],
                    model=data["model"],
                    content=data["content"],
                    reply=replace(reply, images=images),
                )
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                msg = f"{file}:{number}: not a line of a recording ({type(error).__name__}: {error})"
                raise UsageError(msg) from error


class ReplayProvider:
    """Answers from a recording and nothing else; a request that it does not hold is an error."""

    def __init__(self, file: Path) -> None:
        """Read the recording at `file`. UsageError when it holds several models' replies to one request."""
        self._file = file
        self._lines: dict[str, Recorded] = {}
        for line in read_recording(file):
            if line.key in self._lines:
                msg = f"{file}: two replies to the same request, by {self._lines[line.key].model} and {line.model}"
                raise UsageError(msg)
            self._lines[line.key] = line

    async def send(self, request: Request) -> Reply:
        """Return the recorded reply; ProviderError tells the nearest recorded request and where it differs."""
        line = self._lines.get(request.content_key)
        if line is None:
            msg = f"{self._file}: no recorded reply to this request; {self._nearest(request)}"
            raise ProviderError(msg, cause="replay")
        return line.reply

    async def close(self) -> None:
        """Nothing is held open."""

    def _nearest(self, request: Request) -> str:
        wanted = cast("dict[str, Json]", json.loads(json.dumps(request.content)))
        if not self._lines:
            return "the recording is empty"
        text = _words(wanted)
        nearest = max(self._lines.values(), key=lambda line: _similarity(text, _words(line.content)))
        fields = [name for name in wanted if wanted[name] != nearest.content.get(name)]
        told = "; ".join(f"{name}: asked {_short(wanted[name], nearest.content.get(name))}" for name in fields)
        return f"the nearest one differs in {told}"


class Recorder:
    """Writes a recording: each reply at once, and the whole file in stable order at the end."""

    def __init__(self, file: Path) -> None:
        """Record into `file`, keeping what it already holds; pictures go into a folder beside it."""
        self._file, self._images = file, file.with_name(f"{file.stem}-images")
        self._lines = {line.key: line for line in read_recording(file)} if file.is_file() else {}
        file.parent.mkdir(parents=True, exist_ok=True)
        self._stream = file.open("a", encoding="utf-8")

    def record(self, request: Request, reply: Reply, *, model: str) -> None:
        """Add one reply of `model`; a second reply to the same request replaces the first."""
        kept = replace(reply, images=tuple(self._keep(image) for image in reply.images), created=0.0)
        line = Recorded(key=request.content_key, model=model, content=request.content, reply=kept)
        self._lines[line.key] = line
        self._stream.write(_dump(line))
        self._stream.flush()

    def close(self) -> None:
        """Replace the file by its lines in the order of their keys, each once."""
        self._stream.close()
        sorted_file = self._file.with_name(f".{self._file.name}.new")
        lines = (self._relative(self._lines[key]) for key in sorted(self._lines))
        sorted_file.write_text("".join(map(_dump, lines)), encoding="utf-8")
        sorted_file.replace(self._file)

    def _keep(self, image: Image) -> Image:
        """Return the image as copied beside the recording, its path relative to it."""
        kept = self._images / f"{image.digest}{Path(image.path).suffix}"
        if not kept.exists():
            self._images.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(image.path, kept)
        return replace(image, path=f"{self._images.name}/{kept.name}")

    def _relative(self, line: Recorded) -> Recorded:
        images = tuple(
            replace(image, path=f"{self._images.name}/{Path(image.path).name}") for image in line.reply.images
        )
        return replace(line, reply=replace(line.reply, images=images))


def _dump(line: Recorded) -> str:
    return json.dumps(line.to_json(), ensure_ascii=False, sort_keys=True) + "\n"


def _words(content: dict[str, Json]) -> list[str]:
    return json.dumps(content, sort_keys=True, ensure_ascii=False).split()


def _similarity(wanted: list[str], other: list[str]) -> float:
    """Return the share of common words: `quick_ratio` ignores order, which is enough to find the neighbour."""
    return difflib.SequenceMatcher(a=wanted, b=other, autojunk=False).quick_ratio()


def _short(wanted: Json, recorded: Json) -> str:
    """Tell two values apart around the first character in which they differ."""
    one, two = json.dumps(wanted, ensure_ascii=False), json.dumps(recorded, ensure_ascii=False)
    start = next((i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    window = slice(max(0, start - 20), start + 60)
    return f"…{one[window]}…, recorded …{two[window]}…"
