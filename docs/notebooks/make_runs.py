"""Writes `runs.ipynb` from the cells below, and runs it on the recorded replies of an example.

    python docs/notebooks/make_runs.py      # after a change of the cells, or of what they print

The example is run first, into a folder of its own, which the notebook knows as LLMEVAL_REPORT.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode, v4

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
NOTEBOOK = HERE / "runs.ipynb"
EXAMPLE = ROOT / "examples" / "prompt_matrix"

CELLS = (
    """\
# A run as data

`load_run` returns a stored run: its rows, its transcripts, its figures. Here it is the run of
[examples/prompt_matrix](../../examples/prompt_matrix), on recorded replies:

```console
pytest examples/prompt_matrix --llmeval-report reports
```""",
    """\
import pytest_llmeval as e

run = e.load_run("latest")
len(run.rows), sorted({row.task for row in run.rows})""",
    "One line a row, with types: categories, nullable integers, yes and no.",
    """\
frame = run.dataframe()
frame[["task", "sample", "outcome", "correct", "score:includes", "answer"]].head(4)""",
    "The figures are those of `summary.json`; intervals stand there.",
    """\
frame.groupby("task", observed=True)["correct"].agg(["mean", "count"])""",
    """\
for entry in run.summary.entries:
    mean = entry.figures.accuracy
    print(f"{entry.task}: {mean.value:.2f} [{mean.low:.2f}, {mean.high:.2f}], n = {mean.n}")""",
    "Rows are read one at a time, and each has its transcript: what was asked, and the reply.",
    """\
wrong = [row for row in run.rows if row.outcome == "incorrect"]
for row in wrong[:2]:
    [call] = run.transcripts[row.key].calls
    print(row.task, row.sample, "|", call.asked.messages[-1].text, "|", call.reply.text)""",
    "A figure for a paper (`llmeval plot latest --to figure.pdf` writes it as a file):",
    """\
from IPython.display import SVG

from pytest_llmeval.report.figures.forest import forest_of
from pytest_llmeval.report.figures.forest_plot import drawn

SVG(drawn(forest_of({run.name: run.summary}), "svg").decode())""",
)
"""Text and code in turn: code begins with a lower case letter."""


def notebook() -> NotebookNode:
    """Return the notebook without outputs."""
    cells = [_cell(number, text) for number, text in enumerate(CELLS)]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def _cell(number: int, text: str) -> NotebookNode:
    make = v4.new_code_cell if text[0].islower() else v4.new_markdown_cell
    return make(text, id=f"cell-{number}")


def executed(reports: Path) -> NotebookNode:
    """Return the notebook with its outputs on the latest run of a folder of runs."""
    made = notebook()
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "LLMEVAL_REPORT": str(reports), "PYTHONPATH": paths}
    client = NotebookClient(made, timeout=120, resources={"metadata": {"path": str(HERE)}})
    client.execute(env=environment)
    for cell in made.cells:
        cell.metadata.pop("execution", None)
    return made


def run_example(reports: Path, python: str = sys.executable) -> None:
    """Run the example; some samples fail, as they should."""
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(EXAMPLE)]
    done = subprocess.run(  # noqa: S603 - our own example
        [*command, "-p", "no:xdist", f"--llmeval-report={reports}"],
        cwd=ROOT,
        check=False,
        stdout=subprocess.DEVNULL,
    )
    if done.returncode not in {0, 1}:
        sys.exit(done.returncode)


def main() -> None:
    """Run example and notebook, and write it with its outputs."""
    with tempfile.TemporaryDirectory() as name:
        run_example(Path(name))
        nbformat.write(executed(Path(name)), NOTEBOOK)


if __name__ == "__main__":
    main()
