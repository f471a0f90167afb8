"""Which columns a narrow page shows: by rank, in one table, and the others by name."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from pytest_llmeval.report.fit import GAP, fit
from pytest_llmeval.report.sheet import ALWAYS, Block, Cell, Column, Label, Sheet
from pytest_llmeval.report.table import render_sheets

WIDTHS = st.integers(40, 250)
WORDS = st.text("abcdefgh 漢é", min_size=1, max_size=30).map(lambda text: f"x{text.strip()}x")


@st.composite
def blocks(draw: st.DrawFn) -> Block:
    """Draw a table of 1 to 5 rows and up to 14 columns, of which up to two hold names."""
    rows = draw(st.integers(1, 5))

    def column(place: int, rank: int, *, words: bool = False) -> Column:
        texts = st.lists(WORDS, min_size=rows, max_size=rows)
        cells = tuple(Cell(text=text if words else text[:12]) for text in draw(texts))
        return Column(head=f"head {place}", cells=cells, rank=rank, words=words)

    names = [column(100 + n, ALWAYS, words=True) for n in range(draw(st.integers(0, 1)))]
    ranks = draw(st.lists(st.integers(1, 10), max_size=14))
    columns = [column(place, rank) for place, rank in enumerate(ranks)]
    labels = draw(st.lists(WORDS, min_size=rows, max_size=rows))
    units = tuple((one,) for one in (*names, *columns))
    return Block(head="task", labels=tuple(Label(text=one) for one in labels), units=units)


@given(blocks(), WIDTHS)
def test_columns_leave_by_rank_and_names_stay(block: Block, width: int) -> None:
    found = fit(block, width)
    columns = [column for unit in block.units for column in unit]
    assert sum(found.widths) + GAP * (len(found.widths) - 1) <= width
    assert found.columns[0].head == "task"
    shown, gone = found.columns[1:], [one for one in columns if one.head in found.left_out]
    assert [one.head for one in columns if one in shown] == [one.head for one in shown]
    assert len(shown) + len(gone) == len(columns)
    assert all(not one.words for one in gone)
    highest = max((one.rank for one in shown), default=0)
    assert all(one.rank >= highest for one in gone)


@given(blocks())
def test_a_page_that_is_wide_enough_shows_all(block: Block) -> None:
    assert fit(block, 1_000).left_out == ()


@given(blocks(), WIDTHS, st.sampled_from(["utf-8", "latin-1", "ascii"]))
def test_one_table_in_any_width_and_encoding(block: Block, width: int, encoding: str) -> None:
    sheet = Sheet(title="a title · of 2 × 3", blocks=(block,), notes=("a note …",))
    text = render_sheets((sheet,), width=width, color=False, encoding=encoding)
    text.encode(encoding)
    assert max(map(cell_len, text.splitlines())) <= width
    assert sum("task" in line for line in text.splitlines()) == 1
    told = " ".join(text.split())
    gone = fit(block, width).left_out if encoding == "utf-8" else ()
    if gone:
        assert f"not shown in {width} columns: {', '.join(gone)}" in told


def test_an_interval_is_named_by_what_it_is_of() -> None:
    def column(head: str, rank: int) -> Column:
        return Column(head=head, cells=(Cell(text="x" * 12),), rank=rank)

    block = Block(
        labels=(Label(text="task"),),
        units=(
            (column("accuracy", ALWAYS), column("95 %", 9)),
            (column("EED", 5), column("95 %", 9)),
        ),
    )
    assert fit(block, 40).left_out == ("95 % of accuracy", "95 % of EED")
    # Of a value that is not shown, nobody looks for the interval.
    assert fit(block, 30).left_out == ("95 % of accuracy", "EED")
