"""The pages beside those of a run: the list of runs, the trend of a task, and why there is none."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from http import HTTPStatus

from markupsafe import Markup

from pytest_llmeval.records import Json
from pytest_llmeval.report.clean import clean as cleaned
from pytest_llmeval.report.pack import json_text
from pytest_llmeval.report.page import render
from pytest_llmeval.view.listing import Listed
from pytest_llmeval.view.request import Response
from pytest_llmeval.view.run_line import LineEntry
from pytest_llmeval.view.trend import TrendPoint

# Names of tasks and models, the same in run after run.
clean = lru_cache(maxsize=10_000)(cleaned)

_MINUTE, _HOUR = 60, 3_600

_DIGITS = 6
"""Digits after the point of a number that a page gets."""


def runs_page(folder: str, runs: Iterable[Listed]) -> Response:
    """Return the list of the runs in a folder."""
    return _page("runs.html.jinja", folder=folder, data=_data(runs_json(runs)))


def trend_page(
    tasks: Iterable[tuple[str, str]], task: str, points: Iterable[TrendPoint]
) -> Response:
    """Return the trend of the task called `task`, one of `tasks` (name and title)."""
    listed: list[Json] = [[name, clean(title)] for name, title in tasks]
    data: Json = {"tasks": listed, "task": task, "points": trend_json(points)}
    return _page("trend.html.jinja", data=_data(data))


def label_page(run: str, drawn: list[Json]) -> Response:
    """Return the page on which answers of a run are labelled."""
    return _page("label.html.jinja", run=run, data=_data(drawn))


def error_page(status: HTTPStatus, message: str) -> Response:
    """Return a page that says in one sentence why there is no other."""
    body = render("refused.html.jinja", title=status.phrase, message=message)
    return Response(status=status, body=body.encode("utf-8", "backslashreplace"))


def runs_json(runs: Iterable[Listed]) -> Json:
    """Return runs as the list draws them."""
    return [_run(one) for one in runs]


def trend_json(points: Iterable[TrendPoint]) -> Json:
    """Return points as the page of a trend draws them."""
    return [
        {
            "run": point.run.name,
            "started": point.run.line.started,
            "state": point.run.state,
            **_entry(point.entry),
            "changed": [clean(name) for name in point.changed],
        }
        for point in points
    ]


def run_state(one: Listed) -> dict[str, Json]:
    """Return how far a run is."""
    return {
        "state": one.state,
        "done": one.line.done,
        "planned": one.line.planned,
        "age": _coarse(one.age),
        "left": None if one.left is None else round(one.left),
    }


def _run(one: Listed) -> Json:
    line = one.line
    return {
        "name": one.name,
        "started": line.started,
        "models": [clean(model) for model in line.models],
        "entries": [_entry(entry) for entry in line.entries],
        "gate": line.gate,
        "cost": line.cost,
        "unpriced": line.unpriced,
        "recorded": line.recorded,
        "again": clean(line.again),
        "problem": clean(line.problem, 300),
        **run_state(one),
    }


def _entry(entry: LineEntry) -> dict[str, Json]:
    counts = entry.counts
    return {
        "task": entry.task,
        "title": clean(entry.title),
        "test": clean(entry.test.rpartition("::")[2]),
        "model": clean(entry.model),
        "value": _rounded(entry.value),
        "low": _rounded(entry.low),
        "high": _rounded(entry.high),
        "scored": counts.scored,
        "planned": counts.planned,
    }


def _coarse(seconds: float) -> int:
    """Return an age by which an answer differs only if it would be told otherwise."""
    step = 5 if seconds < _MINUTE else _MINUTE if seconds < _HOUR else _HOUR
    return int(seconds // step * step)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)


def _data(value: Json) -> Markup:
    return Markup(json_text(value))  # noqa: S704 - json_text escapes it


def _page(template: str, **context: str | Markup) -> Response:
    return Response(body=render(template, **context).encode("utf-8", "backslashreplace"))
