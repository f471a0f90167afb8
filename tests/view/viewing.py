"""Folders of runs and a real server over them (tests/ is on the path)."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.records import Row, Score, Transcript, Usage
from pytest_llmeval.results.run_files import SUMMARY
from pytest_llmeval.results.store import RunFolder
from pytest_llmeval.results.summarise import summarise
from pytest_llmeval.view.access import Access
from pytest_llmeval.view.server import LocalServer
from pytest_llmeval.view.site import Site

STARTED = datetime(2026, 11, 23, 7, 0, tzinfo=UTC)
UNREDACTED = Redactor(secrets={})


def row(number: int, outcome: Any = "correct", **fields: Any) -> Row:
    """Return the row of a sample, called by its number, with an answer of its own."""
    scored = outcome in {"correct", "incorrect"}
    value = float(outcome == "correct") if scored else None
    given: dict[str, Any] = {
        "test": "test_sums.py::test_sum",
        "task": "sums",
        "sample": str(number),
        "model": "openai/small",
        "epoch": 1,
        "nodeid": f"test_sums.py::test_sum[{number}]",
        "outcome": outcome,
        "scores": (
            Score(name="exact", value=value, correct=outcome == "correct" if scored else None),
        ),
        "answer": f"answer {number}",
        "target": f"target {number}",
        "stop_reason": "stop",
        "usage": Usage(input_tokens=10, output_tokens=5, requests=1, cost=0.001),
        "versions": {"dataset": "d1", "grader:exact": "exact/1"},
    }
    return Row(**{**given, **fields})


@contextmanager
def going_on(reports: Path, planned: int, *, day: int = 0) -> Iterator[RunFolder]:
    """Open the folder of a run that goes on, as its session does."""
    with closing(
        RunFolder.create(
            reports,
            {"planned": planned, "settings": {}, "tasks": {}},
            redactor=UNREDACTED,
            started=STARTED + timedelta(days=day),
        )
    ) as folder:
        yield folder


def ended(
    reports: Path,
    rows: Iterable[Row],
    *,
    day: int = 0,
    transcripts: Iterable[tuple[Row, Transcript]] = (),
) -> Path:
    """Write a run that ended, and return its folder."""
    kept = tuple(rows)
    with going_on(reports, len(kept), day=day) as folder:
        for one in kept:
            folder.add_row(one)
        for one, transcript in transcripts:
            folder.add_transcript(one.key, transcript)
        conclude(folder, kept)
    return folder.path


def conclude(folder: RunFolder, rows: Iterable[Row]) -> None:
    """Write what a session writes at its end."""
    folder.files.json(SUMMARY, {**summarise(tuple(rows), {}).to_json(), "gate": None})


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the server sent."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def text(self) -> str:
        return self.body.decode()


@dataclass(frozen=True, kw_only=True)
class Viewer:
    """Somebody who asks a server; `cookie` None: without its token.

    `browsers` are closed before the server is: their pages ask it for news.
    """

    access: Access
    cookie: str | None
    browsers: ExitStack = field(default_factory=ExitStack)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.access.port}"

    def ask(
        self, address: str, method: str = "GET", body: bytes | None = None, **headers: str
    ) -> Answer:
        """Send a request; names of headers with ``_`` for ``-``."""
        given = {"Host": self.host, **({"Cookie": self.cookie} if self.cookie else {})}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.access.port, timeout=30)
        with closing(connection):
            connection.request(method, address, body=body, headers=given)
            response = connection.getresponse()
            return Answer(
                status=response.status,
                headers={name.lower(): value for name, value in response.getheaders()},
                body=response.read(),
            )

    def post(self, address: str, value: Any, **headers: str) -> Answer:
        """Send JSON from a page of the server."""
        given = {"Origin": f"http://{self.host}", "Content_Type": "application/json", **headers}
        return self.ask(address, "POST", json.dumps(value).encode(), **given)


@contextmanager
def viewed(reports: Path) -> Iterator[Viewer]:
    """Serve a folder of runs to somebody who has the token."""
    server = LocalServer(Site(reports))
    thread = threading.Thread(target=server.serve)
    thread.start()
    viewer = Viewer(
        access=server.access,
        cookie=f"llmeval-view-{server.access.port}={server.access.token}",
    )
    try:
        with viewer.browsers:
            yield viewer
    finally:
        server.close()
        thread.join()
