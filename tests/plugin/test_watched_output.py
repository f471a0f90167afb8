"""Lines of ours stand between and beneath what pytest writes, and never in it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plugin.terminals import Terminal

from pytest_llmeval.plugin.watched_output import WatchedOutput

pytestmark = pytest.mark.skipif(os.name != "posix", reason="there are no pseudo-terminals")

NOTE = "llmeval: note"
WIDTH = 20
TEXTS = (
    "",
    ".",
    "F",
    "\n",
    "\r",
    "\n\n",
    "a b",
    "\x1b[31mE\x1b[0m",
    "test_it.py ",
    "=" * WIDTH,
    "=" * (WIDTH - 1),
    "x" * (2 * WIDTH + 3),
    "one\ntwo\nthree",
    "\rcollecting 3 items",
    "[ 50%]\n",
    "漢字",
    "e\u0301",
    "\t",
    " " * WIDTH + "漢",
)
"""What pytest and tests write: parts of rows, full rows, wrapped, coloured and wide ones."""

WRITES = st.sampled_from([text for text in TEXTS if "\r" not in text])
# The emulator fails where half of a wide character is written over.
NARROW = st.sampled_from([text for text in TEXTS if text.isascii()])
DRAWS = st.sampled_from(("llmeval: 1/9 done", "llmeval: 22/99", "")).map(lambda text: (text,))


@contextmanager
def watched(descriptor: int) -> Iterator[tuple[TextIO, WatchedOutput]]:
    with open(descriptor, "w", encoding="utf-8", closefd=False) as stream:
        output = WatchedOutput([stream])
        try:
            yield stream, output
        finally:
            output.close()


def shown(texts: Sequence[str]) -> Terminal:
    """Return a terminal with texts that nobody watched."""
    terminal = Terminal(columns=WIDTH, rows=5)
    with open(terminal.slave, "w", encoding="utf-8", closefd=False) as stream:
        stream.writelines(texts)
    terminal.read()
    return terminal


@settings(max_examples=60)
@given(steps=st.lists(WRITES | DRAWS, max_size=12) | st.lists(NARROW | DRAWS, max_size=12))
def test_the_screen_holds_what_was_written_and_one_line_beneath(
    steps: list[str | tuple[str]],
) -> None:
    terminal = Terminal(columns=WIDTH, rows=5)
    written: list[str] = []
    line = ""
    with watched(terminal.slave) as (stream, output):
        for step in steps:
            if isinstance(step, str):
                written.append(step)
                stream.write(step)
            else:
                (line,) = step
                output.draw(line)
        terminal.read()
        plain = shown(written)
        rows, cursor = terminal.rows, terminal.screen.cursor.x
        assert cursor == plain.screen.cursor.x
        assert rows[: len(plain.rows)] == plain.rows
        beneath = [row for row in rows[len(plain.rows) :] if row]
        assert beneath in ([], [line])
    terminal.read()
    assert terminal.rows == plain.rows
    assert terminal.screen.cursor.x == plain.screen.cursor.x
    terminal.close()
    plain.close()


@pytest.mark.parametrize("text", ["", "\n", "test_it.py ", "..F\n"])
def test_after_usual_texts_the_line_stands_beneath(text: str) -> None:
    terminal = Terminal(columns=WIDTH, rows=5)
    with watched(terminal.slave) as (stream, output):
        stream.write(f"first\n{text}")
        output.draw("llmeval: 1/9 done")
        terminal.read()
        assert terminal.rows[-1] == "llmeval: 1/9 done"
        stream.write("\n" * 9 + "more")
        terminal.read()
        assert terminal.rows[-2:] == ["more", "llmeval: 1/9 done"]
        assert sum("llmeval" in row for row in terminal.rows) == 1
    terminal.close()


@settings(max_examples=60)
@given(steps=st.lists(WRITES | st.none(), max_size=12))
def test_in_a_file_every_line_of_ours_is_whole_and_nothing_else_is_added(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str | None]
) -> None:
    file = tmp_path_factory.mktemp("output") / "log"
    with file.open("wb") as opened, watched(opened.fileno()) as (stream, output):
        for step in steps:
            if step is not None:
                stream.write(step)
                continue
            with output.whole_line() as within:
                stream.write("\n" * within)
                stream.write(f"{NOTE}\n")
    texts = [step for step in steps if step is not None]
    content = file.read_text(encoding="utf-8")
    lines = content.split("\n")
    assert sum(line == NOTE for line in lines) == steps.count(None)
    assert content.count(NOTE) == steps.count(None)
    theirs = "\n".join(line for line in lines if line != NOTE)
    wanted = "".join(texts)
    assert re.sub("\n", "", theirs) == re.sub("\n", "", wanted)
    assert theirs.count("\n\n") <= wanted.count("\n\n")


def test_a_line_break_after_our_line_ends_the_row_before_it(tmp_path: Path) -> None:
    with (tmp_path / "log").open("wb") as opened, watched(opened.fileno()) as (stream, output):
        stream.write("test_a.py ..")
        for note in ("one", "two"):
            with output.whole_line() as within:
                stream.write("\n" * within + f"{note}\n")
        stream.write("\ntest_b.py .\n\n")
    assert (tmp_path / "log").read_text() == "test_a.py ..\none\ntwo\ntest_b.py .\n\n"


def test_it_stands_beneath_an_empty_screen_too_and_clears_nothing_at_the_cursor() -> None:
    """Terminals may keep what is cleared from their corner on; tmux does, and copies pile up."""
    terminal = Terminal(columns=WIDTH, rows=5)
    with watched(terminal.slave) as (stream, output):
        for number in range(3):
            output.draw(f"llmeval: {number}/9 done")
            assert terminal.read()
            assert terminal.rows == ["", f"llmeval: {number}/9 done"]
        assert not re.search(r"(^|\x1b8)\x1b\[0?J", terminal.bytes.decode())
        stream.write("F")
    terminal.read()
    assert terminal.rows == ["F"]
    terminal.close()


def test_what_is_captured_meanwhile_stays_as_it_is(tmp_path: Path) -> None:
    """Pytest's capture puts another file in the descriptor's place."""
    terminal = Terminal()
    with (
        (tmp_path / "captured").open("wb") as captured,
        watched(terminal.slave) as (
            stream,
            output,
        ),
    ):
        stream.write("dots ..")
        output.draw("llmeval: 1/9 done")
        aside = os.dup(terminal.slave)
        os.dup2(captured.fileno(), terminal.slave)
        stream.write("printed\n")
        stream.flush()
        output.draw("llmeval: 2/9 done")
        os.dup2(aside, terminal.slave)
        os.close(aside)
        terminal.read()
        assert terminal.rows == ["dots ..", "llmeval: 2/9 done"]
    assert (tmp_path / "captured").read_text() == "printed\n"
    terminal.close()


def test_a_fork_writes_as_if_nobody_watched() -> None:
    terminal = Terminal()
    with watched(terminal.slave) as (stream, output):
        output.draw("llmeval: 1/9 done")
        with output.whole_line():  # held by the thread that forks
            child = os.fork()
            if child == 0:
                stream.write("from the fork")
                stream.flush()
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        terminal.read()
        assert terminal.rows[0] == "from the fork"
    terminal.close()


def test_a_text_that_cannot_be_encoded_fails_as_before() -> None:
    terminal = Terminal()
    with open(terminal.slave, "w", encoding="ascii", closefd=False) as stream:
        output = WatchedOutput([stream])
        output.draw("llmeval: 1/9 done")
        with pytest.raises(UnicodeEncodeError):
            stream.write("é\n")
        stream.write("e\n")
        output.close()
    terminal.read()
    assert terminal.rows == ["e"]
    terminal.close()


def test_once_closed_the_streams_are_as_they_were() -> None:
    terminal = Terminal()
    with open(terminal.slave, "w", encoding="utf-8", closefd=False) as stream:
        WatchedOutput([stream, stream]).close()
        assert "write" not in vars(stream)
        stream.write("plain")
    assert "write" not in vars(sys.stdout)
    terminal.read()
    assert terminal.rows == ["plain"]
    terminal.close()
