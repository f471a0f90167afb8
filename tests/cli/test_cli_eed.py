"""The command `llmeval eed`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_llmeval.cli import main

if TYPE_CHECKING:
    import pytest


def test_every_stage_is_shown_in_both_modes_and_the_corrected_one_decides(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eed", r"\frac{1}{2} m v^2", r"\frac{m v^2}{2}"]) == 0
    shown = capsys.readouterr().out
    assert "eed-corrected/1" in shown
    assert "eed-published/1" in shown
    assert "score       100.00 of 100" in shown


def test_one_mode_can_be_chosen_and_another_formula_is_no(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eed", "2x", "4x", "--mode", "published"]) == 1
    shown = capsys.readouterr().out
    assert "eed-published/1" in shown
    assert "eed-corrected/1" not in shown


def test_what_is_no_formula_is_told_without_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eed", "\x1b[31m\\frac{", "x"]) == 1
    shown = capsys.readouterr()
    assert "\x1b" not in shown.out
    assert shown.err == ""
