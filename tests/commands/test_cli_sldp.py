"""The command `llmeval sldp`, and what all commands share."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pytest_llmeval.commands.main import main


def test_equal_texts_end_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sldp", "<O1, O2>", "<o2, o1>"]) == 0
    assert capsys.readouterr().out == "answer    <O1, O2>\nsolution  <o2, o1>\nequal\n"


def test_different_texts_end_with_1_and_say_where(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sldp", "{rooms: <O256>}", "{rooms: <O255>}"]) == 1
    assert capsys.readouterr().out.endswith(
        "different\n  $.rooms<..>: missing O255; unexpected O256\n"
    )


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["-5", "-5.5"], 1),
        (["-5", "-5.5", "--tolerance", "1"], 0),
        (["a", "A"], 0),
        (["a", "A", "--case-sensitive"], 1),
    ],
)
def test_the_rules_can_be_set(arguments: list[str], status: int) -> None:
    assert main(["sldp", *arguments]) == status


def test_a_long_line_is_shown_around_the_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    main(["sldp", f"[{'1, ' * 500}x y{', 1' * 500}]", "1"])
    _, line, caret = capsys.readouterr().err.splitlines()
    assert len(line) < 130
    assert line[caret.index("^")] == "y"


def test_a_bad_tolerance_is_a_message_and_no_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sldp", "1", "1", "--tolerance", "nan"]) == 2
    assert (
        capsys.readouterr().err
        == "llmeval: --tolerance: tolerance must be a finite number from 0 on, not nan\n"
    )


@pytest.mark.parametrize(
    "hostile", ["'\x1b[31mred'", "'\x9b2J'", "'\u202edlrow'", "\x1b]0;title\x07", "'\ud800'"]
)
def test_nothing_reaches_the_terminal_as_a_command(
    hostile: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["sldp", hostile, "x"])
    shown = capsys.readouterr()
    assert (shown.out + shown.err).replace("\n", "").isprintable()


@pytest.mark.parametrize(
    "arguments", [[], ["nothing"], ["sldp"], ["sldp", "1"], ["sldp", "1", "1", "--tolerance", "x"]]
)
def test_a_wrong_command_line_ends_with_2_and_the_usage(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage: llmeval" in capsys.readouterr().err


def test_the_package_runs_as_the_command_on_any_terminal() -> None:
    command = [sys.executable, "-X", "utf8=0", "-m", "pytest_llmeval", "sldp", "Küche", "'Küche…'"]
    environment = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("answer    K\\xfcche\n")
