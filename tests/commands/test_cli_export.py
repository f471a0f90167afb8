"""``llmeval export``."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_rows import row
from stored_runs import stored

from pytest_llmeval.commands.export import EXPORTS
from pytest_llmeval.commands.main import main


@pytest.mark.parametrize("form", EXPORTS)
def test_files_are_written_into_the_run_and_printed(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = stored(tmp_path, [row("1")])
    assert main(["export", str(run.path), "--to", form]) == 0
    printed = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert printed
    assert all(path.is_relative_to(run.path / "exports" / form) for path in printed)
    assert all(path.stat().st_size for path in printed)


def test_another_folder_and_a_leaderboard(tmp_path: Path) -> None:
    run = stored(tmp_path, [row("1")])
    arguments = ["latest", "--report", str(run.path.parent), "--to", "huggingface"]
    benchmark = ["--benchmark", "demo=Idavidrein/gpqa:gpqa_diamond@1f"]
    assert main(["export", *arguments, "--out", str(tmp_path / "out"), *benchmark]) == 0
    [entry] = (tmp_path / "out/openai-small/.eval_results").iterdir()
    assert "task_id: gpqa_diamond" in entry.read_text()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--to", "huggingface", "--benchmark", "demo"], "expected TASK=OWNER/NAME"),
        (["--to", "latex", "--benchmark", "demo=a/b"], "of --to huggingface alone"),
        (["--to", "huggingface", "--benchmark", "sums=a/b"], "no task of the run; it has demo"),
    ],
)
def test_a_wrong_option_is_told(
    arguments: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = stored(tmp_path, [row("1")])
    assert main(["export", str(run.path), *arguments]) == 2
    assert told in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = stored(tmp_path, [row("1")])
    (tmp_path / "file").touch()
    out = ["--out", str(tmp_path / "file")]
    assert main(["export", str(run.path), "--to", "latex", *out]) == 2
    assert "cannot be written" in capsys.readouterr().err
