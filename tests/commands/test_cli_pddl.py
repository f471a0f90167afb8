"""The command `llmeval pddl`."""

from __future__ import annotations

import pytest

from pytest_llmeval.commands.main import main

Output = pytest.CaptureFixture[str]


def test_equal_goals_end_with_0(capsys: Output) -> None:
    assert main(["pddl", "(and (a) (b))", "(AND (b) (a))"]) == 0
    assert capsys.readouterr().out == "answer    (and (a) (b))\nsolution  (and (b) (a))\nequal\n"


def test_different_goals_end_with_1_and_list_their_differences(capsys: Output) -> None:
    assert main(["pddl", "(holding O2)", "(or (holding O1) (holding O2))"]) == 1
    assert capsys.readouterr().out.endswith(
        "different\n"
        "  missing (holding O1)\n"
        "  when only (holding O1) holds: the solution is fulfilled, the answer is not\n"
    )


def test_case_counts_unless_it_is_ignored() -> None:
    assert main(["pddl", "(at-place p3)", "(at-place P3)"]) == 1
    assert main(["pddl", "(at-place p3)", "(at-place P3)", "--ignore-case"]) == 0


def test_goals_that_are_too_large_to_compare_are_a_message(capsys: Output) -> None:
    many = f"(or {' '.join(f'(a O{n})' for n in range(301))})"
    assert main(["pddl", many, "(a O1)"]) == 2
    assert capsys.readouterr().err == (
        "llmeval: too expensive to compare: 301 different facts, more than 300\n"
    )
