"""What the commands `llmeval sldp` and `llmeval pddl` share."""

from __future__ import annotations

import pytest

from pytest_llmeval.commands.main import main


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["sldp", "[1,\n trash can]", "O(1)"],
            [
                "answer: line 2, column 8: found 'can'", "   trash can]", "         ^",
                "solution: line 1, column 2: found '('", "  O(1)", "   ^",
            ],
        ),
        (
            ["pddl", "(a O1", "(and (a)\n b)"],
            [
                "answer: line 1, column 6: found the end", "  (a O1", "       ^",
                "solution: line 2, column 2: found 'b'", "   b)", "   ^",
            ],
        ),
    ],
    ids=["sldp", "pddl"],
)  # fmt: skip
def test_texts_that_cannot_be_parsed_end_with_2_and_a_caret(
    arguments: list[str], told: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert [line.split(", expected")[0] for line in shown.err.splitlines()] == told
