"""Draws layers.svg: the layers of the package, as the linter's contract in pyproject.toml has them.

python docs/images/draw_layers.py
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).parents[2]
PICTURE = Path(__file__).with_name("layers.svg")

WIDTH, ROW, GAP, MARGIN = 860, 46, 10, 16
"""Pixels: the picture's width, a layer's height, the space between layers and around all."""


def layers() -> list[list[str]]:
    """Return the packages of each layer, the topmost first."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = config["tool"]["importlinter"]["contracts"]
    (contract,) = (one for one in contracts if one["type"] == "layers")
    return [
        [name.strip().removeprefix("pytest_llmeval.") for name in layer.split("|")]
        for layer in contract["layers"]
    ]


def purpose(package: str) -> str:
    """Return the first line of a package's or module's docstring."""
    folder = ROOT / "pytest_llmeval"
    file = folder / package / "__init__.py"
    file = file if file.is_file() else folder / f"{package}.py"
    return file.read_text("utf-8").split('"""')[1].splitlines()[0].rstrip(".")


def drawn() -> str:
    """Return the picture as SVG."""
    rows = layers()
    height = MARGIN * 2 + len(rows) * (ROW + GAP) - GAP
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            'font-family="sans-serif">'
        ),
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
    ]
    for index, row in enumerate(rows):
        y = MARGIN + index * (ROW + GAP)
        width = (WIDTH - MARGIN * 2 - GAP * (len(row) - 1)) / len(row)
        for place, package in enumerate(row):
            x = MARGIN + place * (width + GAP)
            parts += _box(x, y, width, package)
    return "\n".join([*parts, "</svg>", ""])


def _box(x: float, y: float, width: float, package: str) -> list[str]:
    room = int(width / 6.2)
    text = purpose(package)
    text = text if len(text) <= room else f"{text[: room - 1].rstrip()}…"
    return [
        (
            f'<rect x="{x:g}" y="{y}" width="{width:g}" height="{ROW}" rx="6" '
            'fill="#eef3fb" stroke="#5b7db1"/>'
        ),
        (
            f'<text x="{x + 10:g}" y="{y + 19}" font-size="14" font-weight="bold" fill="#1d2b45">'
            f"{escape(package)}</text>"
        ),
        f'<text x="{x + 10:g}" y="{y + 36}" font-size="11" fill="#44546f">{escape(text)}</text>',
    ]


if __name__ == "__main__":
    PICTURE.write_text(drawn(), "utf-8")
