"""A forest plot as a file for a paper: SVG, PDF or PNG; the same plot gives the same bytes.

Each task has its lines, each line its name, its point with the 95 % interval, and the numbers. All
widths are measured, so that names of any length stay inside: what does not fit ends in an ellipsis.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from pytest_llmeval.errors import UsageError
from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.figures.forest import Forest, ForestGroup, ForestLine
from pytest_llmeval.report.metric_text import metric_interval, metric_value
from pytest_llmeval.results.figures import Mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMS: Final = ("svg", "pdf", "png")

_NO_DATE: Final = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
"""By form, what keeps the time of writing out of a file."""

_SIZE: Final = 8.0
"""Size of the font, in points."""

_LINE: Final = 0.185
_MARGIN: Final = 0.08
_GAP: Final = 0.12
_AXIS: Final = 0.25
"""Height of a line, margin, gap between columns, and height of the axis' labels, in inches."""

_ROOMY: Final = 1.3
"""Width of a plot, in inches, from which on its axis has five labels instead of three."""

_POINT: Final = 4.5
"""Size of a marker, in points."""

_FINE: Final = 720
"""Dots per inch at which texts are measured."""

_HEAD: Final = 14
"""Characters of a metric's name above its column."""

_NAMES, _FEWEST, _PLOT = 0.4, 0.28, 0.2
"""Shares of the width: that names may take, that they get at least, and that the plot gets."""

_RUNS: Final = (
    ("#0072B2", "o"),
    ("#D55E00", "s"),
    ("#009E73", "D"),
    ("#000000", "^"),
    ("#CC79A7", "v"),
    ("#56B4E9", "P"),
)
"""Colour (of Okabe and Ito, whom the colour-blind can tell apart) and marker (in grey) of a run."""

_SETTINGS: Final[Any] = {
    # Names in the SVG that do not change; texts as texts, and fonts that publishers accept.
    "svg.hashsalt": "pytest-llmeval",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    # Wider than most, so that a viewer without it, who takes another, has room.
    "font.family": ["DejaVu Sans"],
    "font.size": _SIZE,
    "text.parse_math": False,
    "savefig.dpi": 200,
}


def drawn(forest: Forest, form: str, *, width: float = 7.0) -> bytes:
    """Return a forest plot as a file.

    Args:
        forest: what is shown.
        form: one of `FORMS`.
        width: of the figure, in inches; its height follows the lines.

    Raises:
        UsageError: matplotlib is not installed.
    """
    try:
        import matplotlib as mpl  # noqa: PLC0415 - an extra, and heavy
    except ImportError:
        msg = (
            "a figure needs matplotlib; "
            "install it with: pip install 'pytest-llmeval-suite[figures]'"
        )
        raise UsageError(msg) from None
    out = io.BytesIO()
    with mpl.rc_context(), warnings.catch_warnings():
        # Not the user's settings: the same run is the same figure everywhere.
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        # Signs that the font lacks are boxes; SVG keeps them as text.
        warnings.filterwarnings("ignore", "Glyph", UserWarning)
        forest_figure(forest, width).savefig(out, format=form, metadata=_NO_DATE[form])
    return out.getvalue()


def forest_figure(forest: Forest, width: float) -> Figure:
    """Return the figure, `width` inches wide, to be saved under the settings of `drawn`."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    ruler = Ruler()
    lines: list[ForestGroup | ForestLine] = []
    for group in forest.groups:
        lines += [group, *group.lines]
    names = [_name(one) for one in lines]
    columns = _columns(forest, lines)
    wanted = max(ruler.width(name, bold=True) for name in names)
    while True:
        widths = [max(ruler.width(text) for text in column) for column in columns]
        room = (1 - _PLOT) * width - 2 * _MARGIN - _GAP - sum(widths) - len(widths) * _GAP
        if room >= min(wanted, _FEWEST * width) or len(columns) == 1:
            break
        # The interval is drawn; then n goes.
        del columns[1]
    for_names = min(wanted, room, _NAMES * width)
    inner = width - 2 * _MARGIN
    below = [part for note in forest.notes for part in ruler.wrapped(note, inner)]
    legend = forest.runs if len(forest.runs) > 1 else ()
    foot = _AXIS + _LINE * (len(legend) + len(below))
    height = 2 * _MARGIN + (1 + len(lines)) * _LINE + foot
    figure = Figure(figsize=(width, height))
    page = _Page(figure, width, height)
    left = _MARGIN + for_names + _GAP
    right = width - _MARGIN - sum(widths) - len(widths) * _GAP
    axes = page.axes(left, right, _MARGIN + foot, len(lines))
    _scaled(axes, forest)
    for place, (one, name) in enumerate(zip(lines, names, strict=True)):
        bold = isinstance(one, ForestGroup)
        # A title has its line for itself, up to the numbers.
        own = right - _MARGIN if bold else for_names
        page.text(_MARGIN, 1 + place, ruler.fitted(name, own, bold=bold), bold=bold)
        if isinstance(one, ForestLine):
            _mark(axes, place, one)
    at = right
    for texts, of_column in zip(columns, widths, strict=True):
        at += _GAP + of_column
        for place, text in enumerate(texts):
            page.text(at, place, text, align="right")
    under = 1 + len(lines) + _AXIS / _LINE
    for place, run in enumerate(legend):
        page.marker(_MARGIN + _GAP / 2, under + place, place)
        page.text(_MARGIN + 1.5 * _GAP, under + place, ruler.fitted(run, inner - 1.5 * _GAP))
    for place, note in enumerate(below):
        page.text(_MARGIN, under + len(legend) + place, note)
    return figure


class Ruler:
    """Measures texts in the font of the figure, in inches."""

    def __init__(self) -> None:
        """Make a renderer of a resolution at which no rounding shows."""
        from matplotlib.backends.backend_agg import RendererAgg  # noqa: PLC0415 - see `drawn`
        from matplotlib.font_manager import FontProperties  # noqa: PLC0415

        # Its methods have no types.
        renderer: Any = RendererAgg
        self._renderer = renderer(1, 1, _FINE)
        self._fonts = [FontProperties(size=_SIZE, weight=one) for one in ("normal", "bold")]

    def width(self, text: str, *, bold: bool = False) -> float:
        """Return the width of a text."""
        font = self._fonts[bold]
        found = self._renderer.get_text_width_height_descent(text, font, ismath=False)
        return float(found[0]) / _FINE

    def fitted(self, text: str, room: float, *, bold: bool = False) -> str:
        """Return a text, cut with an ellipsis if it is wider than `room`."""
        if self.width(text, bold=bold) <= room:
            return text
        fits, too_long = 0, len(text)
        while too_long - fits > 1:
            middle = (fits + too_long) // 2
            if self.width(f"{text[:middle]}…", bold=bold) <= room:
                fits = middle
            else:
                too_long = middle
        return f"{text[:fits].rstrip()}…"

    def wrapped(self, text: str, room: float) -> list[str]:
        """Return a text in lines no wider than `room`."""
        lines = [""]
        for word in text.split():
            longer = f"{lines[-1]} {word}".strip()
            if self.width(longer) <= room:
                lines[-1] = longer
            else:
                lines.append(self.fitted(word, room))
        return [line for line in lines if line]


class _Page:
    """A figure on which texts stand in lines, which are counted from the top."""

    def __init__(self, figure: Figure, width: float, height: float) -> None:
        self._figure, self._width, self._height = figure, width, height

    def text(
        self, x: float, line: float, text: str, *, bold: bool = False, align: str = "left"
    ) -> None:
        """Write a text from or up to `x` inches."""
        self._figure.text(
            x / self._width,
            self._y(line),
            text,
            ha=align,
            va="center",
            fontweight="bold" if bold else "normal",
            parse_math=False,
        )

    def marker(self, x: float, line: float, run: int) -> None:
        """Draw the marker of a run."""
        from matplotlib.lines import Line2D  # noqa: PLC0415 - see `drawn`

        color, sign = _RUNS[run % len(_RUNS)]
        self._figure.add_artist(
            Line2D([x / self._width], [self._y(line)], color=color, marker=sign, markersize=_POINT)
        )

    def axes(self, left: float, right: float, bottom: float, lines: int) -> Axes:
        """Return axes over `lines` lines below the first one, in whose data they count from 0."""
        place = (
            left / self._width,
            bottom / self._height,
            (right - left) / self._width,
            lines * _LINE / self._height,
        )
        axes = self._figure.add_axes(place)
        axes.set_ylim(lines - 0.5, -0.5)
        return axes

    def _y(self, line: float) -> float:
        return 1 - (_MARGIN + (line + 0.5) * _LINE) / self._height


def _scaled(axes: Axes, forest: Forest) -> None:
    """Draw the axis from 0 to the end of the scale."""
    axes.set_xlim(0, forest.scale)
    parts = 4 if axes.bbox.width / axes.figure.dpi > _ROOMY else 2
    ticks = [forest.scale * part / parts for part in range(parts + 1)]
    labels = [f"{(100 if forest.percent else 1) * tick:g}" for tick in ticks]
    axes.set_xticks(ticks, labels=labels)
    axes.set_yticks([])
    axes.tick_params(axis="x", length=2, pad=2)
    axes.grid(axis="x", linewidth=0.4, color="#BBBBBB")
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _mark(axes: Axes, place: int, line: ForestLine) -> None:
    """Draw point and interval of a line, as far as they are defined."""
    mean, (color, marker) = line.mean, _RUNS[line.run % len(_RUNS)]
    if mean.value is None:
        return
    if mean.low is not None and mean.high is not None:
        axes.plot([mean.low, mean.high], [place, place], color=color, linewidth=1.2)
    # A value at an end of the scale is not cut in half.
    axes.plot([mean.value], [place], marker, color=color, markersize=_POINT, clip_on=False)


def _name(one: ForestGroup | ForestLine) -> str:
    return one.title if isinstance(one, ForestGroup) else f"  {one.name}"


def _columns(forest: Forest, lines: Sequence[ForestGroup | ForestLine]) -> list[list[str]]:
    """Return the columns of numbers, each with its head."""
    means = [one.mean if isinstance(one, ForestLine) else None for one in lines]
    head = f"{forest.metric}{', %' if forest.percent else ''}"
    return [
        [clean(head, _HEAD), *("" if one is None else _value(one) for one in means)],
        ["95 %", *("" if one is None else metric_interval(one) for one in means)],
        ["n", *("" if one is None else f"{one.n:,}" for one in means)],
    ]


def _value(mean: Mean) -> str:
    return metric_value(mean.value, mean).removesuffix(" %")
