"""The addresses of the server, and what answers each."""

from __future__ import annotations

import hashlib
import json
from http import HTTPStatus
from pathlib import Path
from typing import Final
from urllib.parse import quote

from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.records import Json
from pytest_llmeval.safety.printable import described
from pytest_llmeval.view.comparing import comparison_of
from pytest_llmeval.view.listing import Listing
from pytest_llmeval.view.page import label_page, run_state, runs_json, runs_page, trend_json, trend_page
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

    def __call__(self, request: Request) -> Response:
        """Return the answer to a request that may be answered.

        A script gets its errors as JSON, ``{"problem": one sentence}``.
        """
        is_page = request.path[:1] != ("api",) and (
            request.path[:1] != ("runs",) or request.path[2:] in {("",), ("label",)}
        )
        try:
            return self._answer(request)
        except Refused as refused:
            if is_page:
                raise
            return _problem(refused.status, str(refused))
        except (LLMEvalError, OSError) as error:
            if is_page:
                raise
            message = str(error) if isinstance(error, LLMEvalError) else described(error)
            return _problem(HTTPStatus.UNPROCESSABLE_ENTITY, message)

    def _answer(self, request: Request) -> Response:
        match request.method, request.path:
            case "GET" | "HEAD", ("",):
                return runs_page(str(self._folder.path.name), self._listing.runs())
            case "GET" | "HEAD", ("trend",):
                runs = self._listing.runs()
                tasks = tasks_of(runs)
                task = request.query.get("task") or (tasks[0][0] if tasks else "")
                return trend_page(tasks, task, trend(runs, task))
            case "GET", ("api", "runs"):
                return _versioned(request, runs_json(self._listing.runs()))
            case "GET", ("api", "trend"):
                points = trend(self._listing.runs(), request.query.get("task", ""))
                return _versioned(request, trend_json(points))
            case "GET", ("compare",):
                return comparison_of(self._folder, request.query.get("a", ""), request.query.get("b", ""))
            case "GET" | "HEAD", ("runs", name):
                place = f"/runs/{quote(name, safe='')}/"
                return Response(status=HTTPStatus.PERMANENT_REDIRECT, headers={"Location": place})
            case _, ("runs", name, what):
                return self._of_run(request, name, what)
            case _:
                raise Refused(HTTPStatus.NOT_FOUND, "There is no such page.")

    def _of_run(self, request: Request, name: str, what: str) -> Response:
        run, query = self._runs.open(name), request.query
        match request.method, what:
            case "GET" | "HEAD", "":
                return run.page()
            case "GET", "news":
                news = run.news(_number(query, "since"))
                return json_response({**news, "run": run_state(self._listing.run(name))})
            case "GET", "overview":
                return _versioned(request, run.overview())
            case "GET", "evidence":
                return json_response(run.evidence(_number(query, "row")))
            case "GET", "picture":
                return run.picture(query.get("digest", ""))
            case "GET", "labels":
                return _versioned(request, run.labels())
            case "GET" | "HEAD", "label":
                return label_page(name, self._drawn(name))
            case "GET", "blind":
                return json_response(run.blind(_number(query, "row")))
            case "POST", "labels":
                return json_response(run.add_label(request.body))
            case _:
                raise Refused(HTTPStatus.NOT_FOUND, "There is no such page.")

    def _drawn(self, name: str) -> list[Json]:
        """Return the answers of a run to label; `Refused` while it goes on."""
        if self._listing.run(name).state == "running":
            message = "Answers to label are drawn from all of a run, so once it has ended."
            raise Refused(HTTPStatus.CONFLICT, message)
        if not (drawn := self._runs.open(name).drawn()):
            raise Refused(HTTPStatus.NOT_FOUND, "No row of this run has an answer to label.")
        return drawn


def _number(query: object, name: str) -> int:
    text = query.get(name, "") if isinstance(query, dict) else ""
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
