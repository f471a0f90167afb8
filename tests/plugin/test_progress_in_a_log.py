"""Progress where there is no terminal: a plain line now and then, each a line of its own."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.report.progress_line import Progress
from pytest_llmeval.report.progress_style import PlainRhythm, style_of

if TYPE_CHECKING:
    from plugin.conftest import Project

OFTEN = """
import pytest_llmeval.plugin.progress as progress
import pytest_llmeval.report.progress_style as style

progress._EVERY = 0.02
style._FIRST, style._CLOSEST, style._GROWTH = 0.1, 0.1, 1000
"""

SLOW = """
import asyncio, re

async def reply(request):
    number = int(re.search(r"what is (\\d+)", request.messages[-1].text)[1])
    await asyncio.sleep(0.1 * number)
    return str(number if number % 5 == 0 else number + 1)
"""

OURS = re.compile(r"llmeval: \d+/12 done( · accuracy \d+\.\d % \(.*\))?( · \d+ in flight)?( · .*)?")
ARGUMENTS = ("--llmeval-model", "python/./model.py:reply", "--tb=no", "-rN")


@pytest.mark.parametrize("options", [["-n0"], ["-n2", "-q"], ["-n0", "-v"]], ids=str)
def test_each_line_of_ours_is_whole_and_pytests_go_on_sensibly(
    project: Project, options: list[str]
) -> None:
    project.write("conftest.py", OFTEN)
    project.write("model.py", SLOW)
    result = project.run(*ARGUMENTS, *options)
    text = result.stdout.str()
    assert not set(map(ord, text)) & {*range(9), *range(11, 32), 127}
    begin, _, _ = text.partition("=== LLM benchmark results")
    lines = begin.split("\n")
    ours = [line for line in lines if "llmeval:" in line]
    assert ours
    assert all(OURS.fullmatch(line) for line in ours), ours
    rows = [re.sub(r" *\[ *\d+%\]$", "", line) for line in lines if line not in ours]
    if "-v" in options:
        for number in range(12):
            name = f"test_sums.py::test_sums[{number:04}]"
            assert f"{name} {'PASSED' if number % 5 else 'FAILED'}" in rows
    else:
        dots = "".join(row for row in rows if re.fullmatch(r"(test_sums.py )?[.F]+ *", row))
        assert sorted(dots.replace("test_sums.py ", "")) == sorted("F....F....F.")
    # No more blank lines than pytest writes itself.
    assert "\n\n\n" not in begin


@given(st.lists(st.floats(0.1, 400), min_size=1, max_size=60), st.integers(1, 100))
def test_lines_are_apart_and_told_at_quarters(steps: list[float], planned: int) -> None:
    rhythm, now, told = PlainRhythm(), 0.0, [0.0]
    for number, step in enumerate(steps):
        done = number * planned // len(steps)
        if rhythm.is_due(now, Progress(done=done, planned=planned)):
            told.append(now)
        assert now - told[-1] <= max(30, min(300, now / 10)) + step
        now += step
    assert all(later - earlier >= 10 for earlier, later in pairwise(told))
    assert not rhythm.is_due(now + 1000, Progress(done=planned, planned=planned))


def test_a_run_of_an_hour_has_few_lines() -> None:
    rhythm = PlainRhythm()
    progress = Progress(done=1, planned=100)
    told = [second for second in range(3600) if rhythm.is_due(second, progress)]
    assert told[:3] == [30, 60, 90]
    assert len(told) < 40
    assert max(later - earlier for earlier, later in pairwise(told)) <= 300


def test_a_quarter_is_told_once_ten_seconds_after_the_line_before() -> None:
    rhythm = PlainRhythm()
    done = [0, 1, 3, 3, 3, 5, 10, 12]
    told = [rhythm.is_due(6 * n, Progress(done=d, planned=12)) for n, d in enumerate(done)]
    assert told == [False, False, True, False, False, False, True, False]


CI, DUMB = {"CI": "true"}, {"TERM": "dumb"}


@pytest.mark.parametrize(
    ("wanted", "verbosity", "terminal", "workers", "environment", "style"),
    [
        ("auto", 0, True, False, {}, "line"),
        ("auto", -1, True, False, {}, "line"),
        ("auto", -2, True, False, {}, "none"),
        ("auto", 0, False, False, {}, "plain"),
        ("auto", -1, False, False, {}, "plain"),
        ("auto", -2, False, False, {}, "none"),
        ("auto", 0, True, False, CI, "plain"),
        ("auto", 0, True, False, DUMB, "plain"),
        ("auto", 0, True, True, {}, "plain"),
        ("line", -3, True, True, CI, "line"),
        ("line", 0, False, False, {}, "plain"),
        ("line", 0, True, False, DUMB, "plain"),
        ("plain", -3, True, False, {}, "plain"),
        ("none", 1, True, False, {}, "none"),
    ],
)
def test_the_style_fits_the_output_unless_one_is_wanted(  # noqa: PLR0913, PLR0917 - all decide
    wanted: str,
    verbosity: int,
    terminal: bool,  # noqa: FBT001 - a parameter
    workers: bool,  # noqa: FBT001 - a parameter
    environment: dict[str, str],
    style: str,
) -> None:
    found = style_of(
        wanted,
        verbosity=verbosity,
        is_terminal=terminal,
        workers_write=workers,
        environment=environment,
    )
    assert found == style
