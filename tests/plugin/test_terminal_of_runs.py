"""The end of a run on a real pseudo-terminal: colours, encodings, widths."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plugin.conftest import Project

SCRIPTED = ("--llmeval-model", "python/./model.py:reply")
STYLE = re.compile(r"\x1b\[[0-9;]*m")
UNSET = {
    *("NO_COLOR", "FORCE_COLOR", "PY_COLORS", "CI"),
    *("PYTHONIOENCODING", "PYTHONUTF8", "LC_ALL"),
}


def shown(
    project: Project, *command: str, variables: Mapping[str, str] | None = None, columns: int = 80
) -> bytes:
    """Return what a command writes to a terminal."""
    held, given = pty.openpty()
    kept = {name: value for name, value in os.environ.items() if name not in UNSET}
    told: Mapping[str, str] = {"COLUMNS": str(columns), "TERM": "xterm", **(variables or {})}
    with subprocess.Popen(
        [sys.executable, "-m", *command],
        cwd=project.path,
        env={**kept, **told},
        stdin=given,
        stdout=given,
        stderr=given,
    ):
        os.close(given)
        parts = []
        with suppress(OSError):  # the other end was closed
            while part := os.read(held, 65_536):
                parts.append(part)
    os.close(held)
    return b"".join(parts)


@pytest.fixture
def gated(project: Project) -> Project:
    project.write("gate.yaml", "rules: {sums.accuracy: {min: 0.99}}\ncoverage: 0.5\n")
    return project


SESSION = (
    *("pytest", "-p", "pytest_llmeval.plugin", "-q", "-n0", "--tb=no", "-p", "no:cacheprovider"),
    *SCRIPTED,
    *("--llmeval-gate", "gate.yaml"),
)


@pytest.mark.parametrize(
    ("variables", "encoding", "dash", "dot"),
    [
        ({"PYTHONIOENCODING": "ascii"}, "ascii", "-", "|"),
        ({"PYTHONIOENCODING": "latin-1"}, "latin-1", "-", "·"),
        ({"LC_ALL": "C"}, "ascii", "-", "|"),
        ({"PYTHONIOENCODING": "utf-8"}, "utf-8", "–", "·"),
    ],
    ids=["ascii", "latin-1", "LC_ALL=C", "utf-8"],
)
def test_a_terminal_without_utf_8_gets_the_same_table_in_signs_that_it_has(
    gated: Project, variables: dict[str, str], encoding: str, dash: str, dot: str
) -> None:
    written = shown(gated, *SESSION, variables=variables).decode(encoding)
    text = STYLE.sub("", written).replace("\r", "")
    assert f"LLM benchmark results {dot} python/./model.py:reply" in text
    assert re.search(rf"^sums +72\.7 %  43\.4{dash}90\.3 ", text, re.MULTILINE), text
    assert "\\u" not in text
    assert "\\x" not in text
    table = text.partition("LLM benchmark results")[2].partition("report: ")[0]
    assert max(map(len, table.splitlines())) <= 80


def test_colours_are_verdicts_and_without_a_wish_for_them_there_are_none(gated: Project) -> None:
    colored = shown(gated, *SESSION).decode()
    assert "\x1b[1;31mgate not passed" in colored
    assert re.search(r"\x1b\[1;31m +1\x1b", colored)  # the error
    for plain in (
        shown(gated, *SESSION, "--color=no"),
        shown(gated, *SESSION, variables={"NO_COLOR": "1"}),
    ):
        assert b"\x1b[" not in plain.partition(b"LLM benchmark results")[2]


def test_the_commands_write_the_same_signs(gated: Project) -> None:
    gated.run(*SCRIPTED, "--llmeval-gate", "gate.yaml")
    for command in (("report", "latest"), ("gate", "latest", "--gate", "gate.yaml")):
        text = shown(
            gated, "pytest_llmeval", *command, columns=40, variables={"LC_ALL": "C"}
        ).decode("ascii")
        assert "gate not passed" in text
        assert "\\u" not in text
    colored = shown(gated, "pytest_llmeval", "report", "latest").decode()
    assert "\x1b[1;31mgate not passed" in colored
    assert b"\x1b[" not in shown(
        gated, "pytest_llmeval", "report", "latest", variables={"NO_COLOR": "1"}
    )
