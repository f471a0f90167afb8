"""Draws what `performance/scale.py` measured: time and memory a sample, by the number of samples.

``python docs/images/draw_scale.py docs/images/scale.json docs/images/scale.svg``

What a session of one sample takes is subtracted, so that a flat line is a cost that every further
sample has alike. The number of samples is on a logarithmic axis.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

LINES = {
    "plain run": "#8a8f98",
    "run": "#1f6feb",
    "store": "#8250df",
    "report": "#1a7f37",
    "compare": "#bf3989",
    "collect": "#bc4c00",
    "plain collect": "#c9ced6",
}
"""The colour of each phase."""

NAMES = {
    "plain run": "plain pytest",
    "run": "run, with its report",
    "store": "resumed, all replies stored",
    "report": "llmeval report",
    "compare": "llmeval compare",
    "collect": "collect",
    "plain collect": "plain pytest, collect",
}


def main(cells: str, picture: str) -> None:
    """Draw the cells in the JSON file `cells` into the file `picture`."""
    measured = json.loads(Path(cells).read_text(encoding="utf-8"))
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "scale", "font.size": 9})
    figure = Figure(figsize=(9.5, 3.8), layout="constrained")
    time, memory = figure.subplots(1, 2)
    draw(time, measured, "cpu", 1_000, "CPU milliseconds a sample")
    draw(memory, measured, "peak_mb", 1_000, "kB a sample, at the peak")
    handles, labels = time.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(picture, format="svg", metadata={"Date": None})


def draw(axes: Any, cells: list[dict[str, Any]], field: str, factor: float, title: str) -> None:  # noqa: ANN401 - matplotlib has no types
    """Draw one figure of each phase, a sample, into a panel."""
    for phase, color in LINES.items():
        of_phase = {one["samples"]: one for one in cells if one["phase"] == phase}
        if 1 not in of_phase:
            continue
        first = of_phase.pop(1)[field]
        sizes = sorted(of_phase)
        each = [(of_phase[size][field] - first) * factor / (size - 1) for size in sizes]
        axes.plot(sizes, each, marker="o", markersize=3.5, color=color, label=NAMES[phase])
    axes.set(xscale="log", xlabel="samples", title=title)
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.grid(visible=True, alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    main(*sys.argv[1:])
