"""Draws what `performance/engine_growth.py` measured: seconds and CPU seconds by number of samples.

``python docs/images/draw_growth.py docs/images/engine_growth.json docs/images/engine_growth.svg``

Both axes are logarithmic. The dashed line is what waiting for the replies alone takes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

LINES = {
    "ours": ("pytest-llmeval", "#1f6feb"),
    "inspect": ("Inspect", "#bc4c00"),
    "plain": ("plain pytest, empty tests", "#8a8f98"),
}
"""The name and the colour of each."""


def main(cells: str, picture: str) -> None:
    """Draw the cells in the JSON file `cells` into the file `picture`."""
    measured = json.loads(Path(cells).read_text(encoding="utf-8"))
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "growth", "font.size": 9})
    figure = Figure(figsize=(9.5, 3.8), layout="constrained")
    wall, cpu = figure.subplots(1, 2)
    draw(wall, measured, "wall", "seconds from start to exit")
    draw(cpu, measured, "cpu", "CPU seconds")
    ideal = {one["samples"]: one["ideal"] for one in measured if one["ideal"]}
    sizes = sorted(ideal)
    wall.plot(sizes, [ideal[n] for n in sizes], "--", color="#57606a", label="waiting alone")
    handles, labels = wall.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(picture, format="svg", metadata={"Date": None})


def draw(axes: Any, cells: list[dict[str, Any]], field: str, title: str) -> None:  # noqa: ANN401 - matplotlib has no types
    """Draw one figure of each into a panel."""
    for who, (name, color) in LINES.items():
        found = {one["samples"]: one[field] for one in cells if one["who"] == who}
        sizes = sorted(found)
        values = [found[size] for size in sizes]
        axes.plot(sizes, values, marker="o", markersize=3.5, color=color, label=name)
    axes.set(xscale="log", yscale="log", xlabel="samples", title=title)
    axes.grid(visible=True, alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    main(*sys.argv[1:])
