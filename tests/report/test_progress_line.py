"""The line of progress: whole parts only, the most important ones where there is little room."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from pytest_llmeval.engine.batches.gauge import BatchGauge
from pytest_llmeval.records import Usage
from pytest_llmeval.report.progress_line import Progress, progress_line
from pytest_llmeval.results.statistics import Interval

FULL = Progress(
    done=120,
    planned=1500,
    accuracy=0.713,
    interval=Interval(low=0.621, high=0.79),
    errors=2,
    in_flight=64,
    retries=1,
    usage=Usage(input_tokens=1000, output_tokens=500, cost=1.2),
    left=190,
)
WHOLE = (
    "llmeval: 120/1,500 done · accuracy 71.3 % (62.1–79.0) · 2 errors · 64 in flight · 1 retry"
    " · $1.20 · 3:10 left"
)

SHARES = st.floats(0, 1)
PROGRESSES = st.builds(
    Progress,
    done=st.integers(0, 10**6),
    planned=st.integers(0, 10**6),
    accuracy=st.none() | SHARES,
    interval=st.none() | st.builds(Interval, low=SHARES, high=SHARES),
    errors=st.integers(0, 10**6),
    in_flight=st.integers(0, 10**4),
    retries=st.integers(0, 10**4),
    usage=st.builds(
        Usage, input_tokens=st.integers(0, 10**9), cost=st.none() | st.floats(0, 10**5)
    ),
    left=st.none() | st.floats(0, 10**7),
)


def test_it_tells_all_where_there_is_room() -> None:
    assert progress_line(FULL) == WHOLE
    assert progress_line(Progress(done=0, planned=12)) == "llmeval: 0/12 done"
    tokens = Progress(done=1, planned=2, usage=Usage(input_tokens=1234), left=3723)
    assert progress_line(tokens) == "llmeval: 1/2 done · 1,234 tokens · 1:02:03 left"


def test_a_narrow_terminal_loses_the_least_important_parts() -> None:
    shown = {width: progress_line(FULL, width=width) for width in range(1, 120)}
    assert shown[109] == WHOLE
    assert "retry" not in shown[100]
    assert shown[79] == (
        "llmeval: 120/1,500 done · accuracy 71.3 % (62.1–79.0) · 2 errors · $1.20 · 3:10 left"
    ).replace(" (62.1–79.0)", "")
    assert shown[40] == "llmeval: 120/1,500 done · accuracy 71.3 %"[:40] or "done" in shown[40]
    assert shown[30] == "llmeval: 120/1,500 done"
    assert shown[10] == "llmeval: 1"


@given(PROGRESSES, st.integers(1, 150))
def test_it_fits_and_holds_whole_parts_in_the_order_of_the_full_line(
    progress: Progress, width: int
) -> None:
    line, full = progress_line(progress, width=width), progress_line(progress)
    assert cell_len(line) <= width
    parts, all_parts = (re.split(r" · | (?=\()", text) for text in (line, full))
    if len(all_parts[0]) <= width:
        assert parts == [part for part in all_parts if part in parts]
        wider = progress_line(progress, width=width + 1)
        assert all(part in wider for part in parts)


@given(PROGRESSES, st.integers(1, 150))
def test_without_utf_8_it_is_ascii_of_the_same_width(progress: Progress, width: int) -> None:
    line = progress_line(progress, width=width)
    plain = progress_line(progress, width=width, ascii_only=True)
    assert plain.isascii()
    assert len(plain) == cell_len(line)


@given(PROGRESSES, st.integers(1, 150))
def test_colour_adds_nothing_but_red_errors(progress: Progress, width: int) -> None:
    line = progress_line(progress, width=width)
    coloured = progress_line(progress, width=width, color=True)
    assert re.sub(r"\x1b\[\d*m", "", coloured) == line
    assert ("\x1b[31m" in coloured) == bool(re.search(r"\d errors?( ·|$)", line))


def test_batches_that_ended_and_requests_that_wait_are_shown() -> None:
    shown = [
        progress_line(Progress(done=0, planned=9, batches=BatchGauge(sent=s, ended=e, waiting=w)))
        for s, e, w in ((0, 0, 9), (3, 1, 2000), (3, 3, 1))
    ]
    assert shown == [
        "llmeval: 0/9 done · gathering a batch, 9 requests waiting",
        "llmeval: 0/9 done · batches 1/3 ended, 2,000 requests waiting",
        "llmeval: 0/9 done · batches 3/3 ended, 1 request waiting",
    ]
