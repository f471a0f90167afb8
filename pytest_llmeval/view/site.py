"""The addresses of the server, and what answers each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Final
from urllib.parse import quote

from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.records import Json
from pytest_llmeval.safety.printable import described
from pytest_llmeval.view.comparing import comparison_of
from pytest_llmeval.view.listing import Listing
from pytest_llmeval.view.page import (
    label_page,
    run_state,
    runs_json,
    runs_page,
    trend_json,
    trend_page,
)
from pytest_llmeval.view.request import (
    JSON,
    NOT_MODIFIED,
    Refused,
    Request,
    Response,
    json_response,
    unchanged,
)
from pytest_llmeval.view.runs_folder import RunsFolder
from pytest_llmeval.view.trend import tasks_of, trend
from pytest_llmeval.view.viewed_run import ViewedRun
from pytest_llmeval.view.viewed_runs import ViewedRuns

_MARK: Final = 16
"""Hexadecimal digits of the version of an answer."""


class Site:
    """Answers requests about the runs in one folder.

    ::

        /                          the list of runs           /api/runs            the same as JSON
        /trend?task=NAME           the trend of a task        /api/trend?task=NAME
        /compare?a=RUN&b=RUN       two runs
        /runs/RUN/                 a run
        /runs/RUN/news?since=N     its state, and the rows that were written after byte N
        /runs/RUN/overview         its first view, as elements
        /runs/RUN/evidence?row=N   what is known of the row that begins at byte N
        /runs/RUN/picture?digest=  a picture of it
        /runs/RUN/labels           its labels; a POST adds one
        /runs/RUN/label            answers of it to label, one after another, without verdicts
        /runs/RUN/blind?row=N      one of them
    """

    def __init__(self, folder: Path) -> None:
        """Take the folder of runs; UsageError if it holds none."""
        self._folder = RunsFolder(folder)
        self._listing = Listing(self._folder)
        self._runs = ViewedRuns(self._folder)
        self._pages: Mapping[tuple[str, ...], Callable[[Request], Response]] = {
            ("",): lambda _: runs_page(self._folder.path.name, self._listing.runs()),
            ("api", "runs"): lambda one: _versioned(one, runs_json(self._listing.runs())),
            ("trend",): self._trend_page,
            ("api", "trend"): self._trend,
            ("compare",): self._compare,
        }
        self._run_pages: Mapping[str, Callable[[Request, ViewedRun], Response]] = {
            "": lambda _, run: run.page(),
            "news": self._news,
            "overview": self._overview,
            "evidence": lambda one, run: json_response(run.evidence(_number(one, "row"))),
            "picture": lambda one, run: run.picture(one.query.get("digest", "")),
            "labels": self._labels,
            "label": lambda _, run: label_page(run.folder.name, self._drawn(run)),
            "blind": lambda one, run: json_response(run.blind(_number(one, "row"))),
        }

    def __call__(self, request: Request) -> Response:
        """Return the answer to a request that may be answered.

        A script gets its errors as JSON, ``{"problem": one sentence}``.
        """
        path = request.path
        if path[:1] != ("api",) and (path[:1] != ("runs",) or path[2:] in {(), ("",), ("label",)}):
            return self._answer(request)
        try:
            return self._answer(request)
        except Refused as refused:
            return _problem(refused.status, str(refused))
        except (LLMEvalError, OSError) as error:
            message = str(error) if isinstance(error, LLMEvalError) else described(error)
            return _problem(HTTPStatus.UNPROCESSABLE_ENTITY, message)

    def _answer(self, request: Request) -> Response:
        changes = request.method == "POST"
        match request.path:
            case ("runs", name):
                place = f"/runs/{quote(name, safe='')}/"
                return Response(status=HTTPStatus.PERMANENT_REDIRECT, headers={"Location": place})
            case ("runs", name, what) if what in self._run_pages and changes <= (what == "labels"):
                return self._run_pages[what](request, self._runs.open(name))
            case path if path in self._pages and not changes:
                return self._pages[path](request)
            case _:
                raise Refused(HTTPStatus.NOT_FOUND, "There is no such page.")

    def _trend_page(self, request: Request) -> Response:
        runs = self._listing.runs()
        tasks = tasks_of(runs)
        task = request.query.get("task") or (tasks[0][0] if tasks else "")
        return trend_page(tasks, task, trend(runs, task))

    def _trend(self, request: Request) -> Response:
        points = trend(self._listing.runs(), request.query.get("task", ""))
        return _versioned(request, trend_json(points))

    def _compare(self, request: Request) -> Response:
        a, b = (request.query.get(name, "") for name in "ab")
        return comparison_of(self._folder, a, b)

    def _news(self, request: Request, run: ViewedRun) -> Response:
        news = run.news(_number(request, "since"))
        return json_response({**news, "run": run_state(self._listing.run(run.folder.name))})

    def _overview(self, request: Request, run: ViewedRun) -> Response:
        newest = self._listing.run(run.folder.name).state != "running"
        return _versioned(request, run.overview(newest=newest))

    def _labels(self, request: Request, run: ViewedRun) -> Response:
        if request.method == "POST":
            run.add_label(request.body)
        return _versioned(request, run.labels())

    def _drawn(self, run: ViewedRun) -> list[Json]:
        """Return the answers of a run to label; `Refused` while it goes on."""
        if self._listing.run(run.folder.name).state == "running":
            message = "Answers to label are drawn from all of a run, so once it has ended."
            raise Refused(HTTPStatus.CONFLICT, message)
        if not (drawn := run.drawn()):
            raise Refused(HTTPStatus.NOT_FOUND, "No row of this run has an answer to label.")
        return drawn


def _number(request: Request, name: str) -> int:
    text = request.query.get(name, "")
    if not (text.isascii() and text.isdecimal()) or len(text) > _MARK:
        raise Refused(HTTPStatus.BAD_REQUEST, f"{name} is a number of bytes.")
    return int(text)


def _versioned(request: Request, value: Json) -> Response:
    """Return a value, or that it is as the asker has it."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":")).encode()
    tag = hashlib.sha256(text).hexdigest()[:_MARK]
    if unchanged(request, tag):
        return NOT_MODIFIED
    return Response(media_type=JSON, body=text, headers={"ETag": f'"{tag}"'})


def _problem(status: HTTPStatus, message: str) -> Response:
    text = json.dumps({"problem": message}).encode()
    return Response(status=status, media_type=JSON, body=text)
