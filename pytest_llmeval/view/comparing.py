"""The page of two chosen runs."""

from __future__ import annotations

from http import HTTPStatus

from pytest_llmeval.report.html import render_comparison
from pytest_llmeval.report.side import Side
from pytest_llmeval.results.compare import compare
from pytest_llmeval.results.stored_run import read_run
from pytest_llmeval.results.stored_tasks import stored_tasks
from pytest_llmeval.view.request import Refused, Response
from pytest_llmeval.view.runs_folder import RunsFolder


def comparison_of(folder: RunsFolder, a: str, b: str) -> Response:
    """Return the comparison of the runs called `a` and `b`.

    Raises:
        Refused: there is no such run, or the two have nothing in common.
        UsageError: one of them cannot be read.
    """
    runs = [read_run(folder.run(name)) for name in (a, b)]
    found = compare(runs[0].rows, runs[1].rows)
    if not found.pairs:
        message = (
            f"{a} and {b} have no part in common: same task, test function, and model "
            "(or one model each)."
        )
        raise Refused(HTTPStatus.NOT_FOUND, message)
    sides = [Side.of_run(run, stored_tasks(run)) for run in runs]
    page = "".join(render_comparison(found, *sides))
    return Response(body=page.encode("utf-8", "backslashreplace"))
