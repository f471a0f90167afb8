"""A forest plot: the accuracy of each task and model with its 95 % interval.

    python docs/notebooks/forest_plot.py RUN figure.svg     # or .pdf, .png

Needs matplotlib (``pip install 'pytest-llmeval-suite[figures]'``). The same run gives the same
file.
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from pytest_llmeval import Run, load_run

STYLE = {"svg.hashsalt": "pytest-llmeval", "svg.fonttype": "none", "text.parse_math": False}
"""Names in the SVG that do not change, texts as texts, and dollar signs as they are."""

NO_DATE = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
"""By form, what keeps the time of writing out of a file."""


def forest_plot(run: Run) -> Figure:
    """Return a figure with a line for each task, test and model of a run, the first at the top."""
    entries = [one for one in run.summary.entries if one.figures.accuracy.value is not None]
    names = [f"{one.task} · {one.model}" for one in entries]
    means = [one.figures.accuracy for one in entries]
    figure = Figure(figsize=(7, 1.2 + 0.32 * len(entries)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for place, mean in enumerate(means):
        value = mean.value or 0.0
        low, high = mean.low, mean.high
        if low is not None and high is not None:
            axes.plot([low, high], [place, place], color="C0", linewidth=1.5)
        axes.plot([value], [place], "o", color="C0", markersize=5)
    axes.set_yticks(range(len(names)), labels=names)
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel("accuracy, with 95 % interval")
    axes.grid(axis="x", linewidth=0.4)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def drawn(run: Run, form: str) -> bytes:
    """Return the plot of a run as a file of a form, such as ``svg``, ``pdf`` or ``png``."""
    out = io.BytesIO()
    with mpl.rc_context(STYLE):
        forest_plot(run).savefig(out, format=form, metadata=NO_DATE.get(form))
    return out.getvalue()


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw the run that is named on the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("run", nargs="?", default="latest", help="a run's folder, or latest")
    parser.add_argument("file", nargs="?", type=Path, default=Path("accuracy.svg"))
    chosen = parser.parse_args(arguments)
    chosen.file.write_bytes(drawn(load_run(chosen.run), chosen.file.suffix.removeprefix(".")))


if __name__ == "__main__":
    main()
