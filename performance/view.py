"""`llmeval view` over 500 runs and one of 10,000 rows that goes on: answers, and the browser.

python performance/view.py [--rows 10000] [--runs 500] [--chromium PATH]

Rows are appended, some each tenth of a second, while the pages ask every two seconds. The time of
an answer is from the request to its last byte; a long task is one of more than 50 ms in the page.
"""

from __future__ import annotations

import argparse
import http.client
import json
import shutil
import statistics
import sys
import tempfile
import threading
import time
from contextlib import closing
from http import HTTPStatus
from pathlib import Path

from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.records import (
    Asked,
    Json,
    Message,
    ModelCall,
    Reply,
    Row,
    Score,
    Transcript,
    Usage,
)
from pytest_llmeval.results.run_files import SUMMARY
from pytest_llmeval.results.store import RunFolder
from pytest_llmeval.results.summarise import summarise
from pytest_llmeval.view.server import LocalServer
from pytest_llmeval.view.site import Site

TEXT = "The sum of the forces is zero, so the rope carries the whole weight. " * 40
LONG_TASKS = """
window.longTasks = [];
new PerformanceObserver((list) => list.getEntries().forEach((one) => longTasks.push(one.duration)))
  .observe({ type: "longtask", buffered: true });
"""


def row(number: int) -> Row:
    """Return one of the rows: 5 models, 4 tasks."""
    correct = number % 3 > 0
    return Row(
        test="test_view.py::test",
        task=f"task {number % 4}",
        sample=str(number // 20),
        model=f"provider/model-{number // 4 % 5}",
        epoch=1,
        nodeid=f"test_view.py::test[{number}]",
        outcome="correct" if correct else "incorrect",
        scores=(Score(name="exact", value=float(correct), correct=correct, grader="exact/1"),),
        answer=f"the answer {number}",
        target=f"the target {number // 20}",
        tags=(f"tag {number % 7}",),
        groups={"tag": (f"tag {number % 7}",)},
        stop_reason="stop",
        usage=Usage(input_tokens=800, output_tokens=400, requests=1, cost=0.002),
        seconds=1.5,
        versions={"dataset": "d", "grader:exact": "exact/1"},
    )


def transcript(number: int) -> Transcript:
    """Return what happened for a row: 6,000 characters."""
    asked = Asked(
        stage="generate",
        role="solver",
        model="provider/model",
        parameters={},
        messages=(Message.of("user", f"{number}: {TEXT}"),),
        key=str(number),
    )
    return Transcript(events=(ModelCall(asked=asked, reply=Reply(text=TEXT)),))


def new_run(reports: Path, planned: int) -> RunFolder:
    """Make the folder of a run."""
    info: dict[str, Json] = {"planned": planned, "settings": {}, "tasks": {}}
    return RunFolder.create(reports, info, redactor=Redactor(secrets={}))


def ask(server: LocalServer, address: str) -> tuple[float, bytes]:
    """Return how many seconds an answer took, and its body."""
    access = server.access
    begun = time.perf_counter()
    with closing(http.client.HTTPConnection("127.0.0.1", access.port, timeout=120)) as connection:
        cookie = f"llmeval-view-{access.port}={access.token}"
        connection.request("GET", address, headers={"Cookie": cookie})
        response = connection.getresponse()
        body = response.read()
    if response.status != HTTPStatus.OK:
        sys.exit(f"{address}: {response.status}: {body[:300]!r}")
    return time.perf_counter() - begun, body


def told(name: str, taken: list[float]) -> None:
    """Print median and 99th percentile of seconds, in milliseconds."""
    ordered = sorted(taken)
    last = ordered[min(len(ordered) - 1, round(0.99 * len(ordered)))]
    middle = statistics.median(taken)
    print(f"{name:34} p50 {1e3 * middle:8.1f} ms   p99 {1e3 * last:8.1f} ms   n {len(taken)}")


def measured_server(server: LocalServer, run: str, folder: RunFolder, rows: int) -> None:
    """Print the times of answers, before and while the last tenth of the rows comes."""
    first, page = ask(server, f"{run}/")
    print(f"the run's page, first {1e3 * first:.0f} ms, {len(page) / 1e6:.1f} MB")
    told("the run's page again", [ask(server, f"{run}/")[0] for _ in range(10)])
    places = json.loads(ask(server, f"{run}/news?since=0")[1])["rows"]["places"]
    first, _ = ask(server, f"{run}/evidence?row={places[0][0]}")
    print(f"evidence, first {1e3 * first:.0f} ms")
    wanted = [places[number][0] for number in range(0, len(places), max(1, len(places) // 200))]
    told("evidence", [ask(server, f"{run}/evidence?row={place}")[0] for place in wanted])
    news, figures, lists, since = list[float](), list[float](), list[float](), 0
    since = json.loads(ask(server, f"{run}/news?since=0")[1])["at"]
    for begin in range(rows * 9 // 10, rows, 20):
        for number in range(begin, min(begin + 20, rows)):
            folder.add_row(row(number))
        took, body = ask(server, f"{run}/news?since={since}")
        since = json.loads(body)["at"]
        news.append(took)
        figures.append(ask(server, f"{run}/overview")[0])
        lists.append(ask(server, "/api/runs")[0])
    told("rows that came", news)
    told("figures", figures)
    told("the list", lists)


def measured_browser(server: LocalServer, run: str, folder: RunFolder, chromium: str) -> None:
    """Print the long tasks of the page while rows come for 20 seconds."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - not needed for the rest

    with sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=chromium)
        page = browser.new_page()
        page.add_init_script(LONG_TASKS)
        page.goto(server.access.address)
        base = f"http://127.0.0.1:{server.access.port}"
        page.wait_for_url(f"{base}/")
        begun = time.perf_counter()
        page.goto(f"{base}{run}/")
        page.locator("#table tbody tr").first.wait_for()
        print(f"open in Chromium {time.perf_counter() - begun:.2f} s")
        page.wait_for_timeout(1_000)
        page.evaluate("longTasks.length = 0")
        stop = threading.Event()

        def write() -> None:
            number = 10**6
            while not stop.wait(0.1):
                for _ in range(5):
                    folder.add_row(row(number))
                    number += 1

        writer = threading.Thread(target=write)
        writer.start()
        page.wait_for_timeout(20_000)
        stop.set()
        writer.join()
        tasks = page.evaluate("longTasks")
        print(f"long tasks in 20 s: {len(tasks)}, the longest {max(tasks, default=0):.0f} ms")
        browser.close()


def main() -> None:
    """Make the runs, and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--chromium", default=shutil.which("chromium") or "")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        reports = Path(place)
        few = [row(number) for number in range(60)]
        for _ in range(chosen.runs):
            with closing(new_run(reports, len(few))) as folder:
                for one in few:
                    folder.add_row(one)
                folder.files.json(SUMMARY, {**summarise(few, {}).to_json(), "gate": None})
        with closing(new_run(reports, chosen.rows + 1)) as folder:
            for number in range(chosen.rows * 9 // 10):
                folder.add_row(row(number))
                folder.add_transcript(row(number).key, transcript(number))
            server = LocalServer(Site(reports))
            threading.Thread(target=server.serve, daemon=True).start()
            print(f"the list of {chosen.runs} runs, first {1e3 * ask(server, '/')[0]:.0f} ms")
            told("the list again", [ask(server, "/")[0] for _ in range(10)])
            told("a trend", [ask(server, "/trend?task=task%201")[0] for _ in range(10)])
            run = f"/runs/{folder.path.name}"
            measured_server(server, run, folder, chosen.rows)
            if chosen.chromium:
                measured_browser(server, run, folder, chosen.chromium)


if __name__ == "__main__":
    main()
