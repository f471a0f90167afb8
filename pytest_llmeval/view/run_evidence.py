"""Evidence and pictures of a run's rows, read when a page asks for them."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Final

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Image, Json, Row, RowKey, Transcript
from pytest_llmeval.records.message import media_type_of
from pytest_llmeval.report.evidence import Evidence
from pytest_llmeval.report.pictures import picture_bytes
from pytest_llmeval.results.growing_lines import GrowingLines, decoded, line_at
from pytest_llmeval.results.keyed_lines import KeyLine
from pytest_llmeval.results.questions import Question
from pytest_llmeval.results.run_files import ROWS, TRANSCRIPTS
from pytest_llmeval.results.task_info import TaskInfo
from pytest_llmeval.view.request import Refused, Response

_TEXT: Final = 400_000
"""Characters of one text that a page gets."""


class RunEvidence:
    """Reads one row and its transcript at a time; in memory are the places of transcripts only.

    A picture is given if evidence has named it by its digest, and a file has that digest: an
    address alone opens no file.
    """

    def __init__(self, folder: Path) -> None:
        """Take the run's folder."""
        self._folder = folder
        self._lock = threading.Lock()
        self._forget()

    def row_at(self, place: int) -> Row:
        """Return the row whose line begins at byte `place`; UsageError if none does."""
        if (row := decoded(line_at(self._folder / ROWS, place), Row)) is None:
            msg = f"{ROWS}: no row begins at byte {place:,}"
            raise UsageError(msg)
        return row

    def of(self, row: Row, info: TaskInfo, settings: Mapping[str, Json]) -> dict[str, Json]:
        """Return the evidence of a row; `info` is that of its task, `settings` of the run."""
        named: dict[str, Image] = {}

        def include(image: Image) -> str:
            named[image.digest] = image
            return image.digest

        evidence = Evidence(info=info, settings=settings, picture=include, limit=_TEXT)
        found = evidence.of(row, self._transcript(row.key))
        self.name(named.values())
        return {**found, "pictures": {digest: self._entry(one) for digest, one in named.items()}}

    def name(self, images: Iterable[Image]) -> None:
        """Let pictures be asked for."""
        self._images |= {image.digest: image for image in images}

    def picture(self, digest: str) -> Response:
        """Return a picture; `Refused` if none is known by the digest, or its file has changed."""
        image = self._images.get(digest)
        data = None if image is None else picture_bytes([self._folder], image)
        if data is None:
            raise Refused(HTTPStatus.NOT_FOUND, "This picture is not to be found any more.")
        headers = {"Cache-Control": "private, max-age=86400, immutable"}
        return Response(media_type=str(media_type_of(data)), body=data, headers=headers)

    def _entry(self, image: Image) -> Json:
        if picture_bytes([self._folder], image) is None:
            return {"missing": f"the picture is not to be found any more ({image.path})"}
        return {"at": image.digest}

    def _transcript(self, key: RowKey) -> Transcript | None:
        with self._lock:
            try:
                added = self._lines.added()
            except UsageError:  # another file in its place
                self._forget()
                added = self._lines.added()
            self._places |= {one.record.key: one.place for one in added}
            place = self._places.get(key)
        if place is None:
            return None
        return decoded(line_at(self._folder / TRANSCRIPTS, place), Transcript)

    def _forget(self) -> None:
        self._lines = GrowingLines(self._folder / TRANSCRIPTS, KeyLine)
        self._places: dict[RowKey, int] = {}
        self._images: dict[str, Image] = {}


def blind(evidence: dict[str, Json], question: Question | None) -> dict[str, Json]:
    """Return the part of a row's evidence that a labeller sees: question, answer and target.

    Of a question that the run did not keep, the prompt stands alone.
    """
    events, messages = evidence["events"], evidence["messages"]
    asked = next(
        (
            event["messages"]
            for event in (events if isinstance(events, list) else ())
            if isinstance(event, dict) and event.get("role") == "solver" and event.get("messages")
        ),
        [],
    )
    numbers = asked if isinstance(asked, list) else []
    prompt = [messages[int(str(one))] for one in numbers] if isinstance(messages, list) else []
    kept = ("answer", "target", "pictures")
    parts: list[Json] = []
    if question is not None:
        images: list[Json] = [{"image": image.digest} for image in question.images]
        parts = [question.text, *images]
    return {"question": parts, "prompt": prompt, **{name: evidence[name] for name in kept}}
