"""Draws a run's results table.

``python docs/images/draw_table.py reports/latest docs/images/table.svg``
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

from pytest_llmeval.report.table import render_summary
from pytest_llmeval.results.stored_run import read_summary

WIDTH = 128

# Rich's own template names a font server; a picture in a README needs none.
TEMPLATE = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" /></clipPath>
{lines}
</defs>
<rect fill="#16181d" width="{width}" height="{height}" rx="8" />
<g transform="translate(9, 9)" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def main(run: str, picture: str) -> None:
    """Draw the table of the run in folder `run` into the file `picture`."""
    table = render_summary(read_summary(Path(run)), width=WIDTH, color=True)
    console = Console(record=True, width=WIDTH, file=io.StringIO(), legacy_windows=False)
    console.print(Text.from_ansi(table))
    Path(picture).write_text(
        console.export_svg(code_format=TEMPLATE, unique_id="table"), encoding="utf-8"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
