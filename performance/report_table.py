"""Size of a report of many rows, and how long its table takes in Chromium.

    python performance/report_table.py                     # 3,334 samples, three models
    python performance/report_table.py --samples 10000 --models 1

Writes a run of made rows with prompts and replies, makes its report, and prints its size, the
seconds of making it, and in Chromium: milliseconds until the table is drawn, of a sort, and of a
search through all evidence.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from msgspec.structs import replace
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from report.html_run import call, graph, write_report, write_run

from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.records import Message, Row, Transcript
from pytest_llmeval.results.questions import Question
from pytest_llmeval.results.store import RunFolder

PROMPT = "You answer questions about a place that a robot has mapped. " * 40
REPLY = "The rooms are counted. " * 60
QUESTION = "How many rooms of building {} have a window that looks at the harbour?"

CLICK = """
() => {
  const button = [...document.querySelectorAll('#table thead button')].at(-1);
  const begun = performance.now();
  button.click();
  return Math.round(performance.now() - begun);
}
"""


def rows(samples: int, models: int) -> Iterator[tuple[Row, Transcript]]:
    """Yield a row of each sample and model, with its transcript."""
    for sample in range(samples):
        for model in range(models):
            asked = call(Message.of("user", f"{PROMPT}{sample}"), f"{REPLY}{sample}")
            one = replace(graph(f"H{sample}")[0], model=f"vendor/model-{model}")
            yield one, Transcript(events=(asked,))


def written(samples: int, models: int) -> Path:
    """Write the run and return its folder."""
    path = write_run(Path(tempfile.mkdtemp()), rows(samples, models))
    asked = (
        Question(task="graph", sample=f"H{n}", question="", text=QUESTION.format(n))
        for n in range(samples)
    )
    with closing(RunFolder(path, Redactor(secrets={}))) as folder:
        folder.add_questions(asked)
    return path


def show(report: Path) -> None:
    """Open the report in Chromium and print how long things take."""
    with sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=shutil.which("chromium"))
        page = browser.new_page()
        page.goto(report.as_uri())
        page.locator("#found").get_by_text("sample").wait_for()
        print(f"table drawn after {page.evaluate('Math.round(performance.now())')} ms")
        print(f"sorted in {page.evaluate(CLICK)} ms")
        begun = time.perf_counter()
        page.get_by_label("Search").fill("counted. 777")
        page.wait_for_timeout(300)
        page.wait_for_function("() => !document.querySelector('#searching').textContent")
        print(f"all evidence searched in {time.perf_counter() - begun:.1f} s")
        print(page.locator("#found").inner_text())
        browser.close()


def main() -> None:
    """Write, make and open a report, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=3_334)
    parser.add_argument("--models", type=int, default=3)
    chosen = parser.parse_args()
    run = written(chosen.samples, chosen.models)
    begun = time.perf_counter()
    report = write_report(run)
    made = time.perf_counter() - begun
    print(f"{report.stat().st_size / 1e6:.2f} MB, made in {made:.1f} s")
    show(report)


if __name__ == "__main__":
    main()
