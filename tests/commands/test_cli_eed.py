"""The command `llmeval eed`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_llmeval.commands.main import main

if TYPE_CHECKING:
    import pytest


def test_every_stage_is_shown_in_both_modes_and_the_corrected_one_decides(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["eed", r"\frac{1}{2} m v^2", r"\frac{m v^2}{2}"]) == 0
    shown = capsys.readouterr().out
    assert "eed-corrected/2" in shown
    assert "eed-published/1" in shown
    assert "score       100.00 of 100" in shown


def test_one_mode_can_be_chosen_and_another_formula_is_no(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["eed", "2x", "4x", "--mode", "published"]) == 1
    shown = capsys.readouterr().out
    assert "eed-published/1" in shown
    assert "eed-corrected/2" not in shown


def test_what_is_no_formula_is_told_without_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eed", "\x1b[31m\\frac{", "x"]) == 1
    shown = capsys.readouterr()
    assert "\x1b" not in shown.out
    assert shown.err == ""


def test_a_reader_that_has_enough_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "pytest_llmeval", "eed", "x", "x"]
    run = subprocess.run(
        command,
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    os.close(writer)
    assert run.stderr == ""
