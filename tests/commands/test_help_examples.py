"""The examples in the help of each command are true: they parse, and what needs no network runs."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest
from example_rows import eed, row
from stored_runs import stored

from pytest_llmeval.commands.main import COMMANDS, _domain_commands, _module, main, parser_with
from pytest_llmeval.files.atomic import point_at

ELSEWHERE = {
    "validate": "asks a judge",
    "fetch": "downloads",
    "graph": "downloads",
    "questions": "needs a graph",
    "view": "serves until it is interrupted",
}
"""Commands whose examples are parsed and not run, and why."""

EVERY = [*COMMANDS, *_domain_commands()]
EXAMPLES = [(command.name, line) for command in EVERY for line in _module(command).EXAMPLES]


@pytest.mark.parametrize("name", [command.name for command in EVERY])
def test_the_help_of_each_command_shows_its_examples(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([name, "--help"])
    shown = capsys.readouterr().out
    lines = [line for known, line in EXAMPLES if known == name]
    assert 1 <= len(lines) <= 4
    assert all(f"\n  {line}\n" in shown for line in lines)


@pytest.mark.parametrize(("name", "line"), EXAMPLES, ids=[line for _, line in EXAMPLES])
def test_each_example_is_a_command_line_of_its_command(name: str, line: str) -> None:
    words = shlex.split(line)
    assert words[:2] == ["llmeval", name]
    assert parser_with(name).parse_args(words[1:]).run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with two runs of the task sums, a baseline, a gate and stored replies."""
    reports = tmp_path / "reports"
    reports.mkdir()
    for name, right, epochs in (("A", 30, 1), ("B", 34, 2)):
        rows = [
            row(
                str(n),
                "correct" if n < right else "incorrect",
                task="sums",
                epoch=epoch,
                scores=eed(100.0 if n < right else 20.0),
                question="q",
                answer="4",
            )
            for n in range(40)
            for epoch in range(1, epochs + 1)
        ]
        stored(tmp_path, rows).path.rename(reports / name)
    point_at(reports / "latest", "B")
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "gates.yaml").write_text("rules: {sums.accuracy: {min: 0.3}}\n")
    for name in [name for name in os.environ if name.startswith("LLMEVAL_")]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    monkeypatch.chdir(tmp_path)
    assert main(["baseline", "set", "reports/A"]) == 0
    _tables(tmp_path)
    return tmp_path


def _tables(folder: Path) -> None:
    """Write the tables that the examples of ``llmeval score`` name."""
    pa = pytest.importorskip("pyarrow", reason="needs the extra hub")
    parquet = pytest.importorskip("pyarrow.parquet")
    (folder / "answers").mkdir()
    for name, columns in {
        "answers.parquet": {"answer": ["a", "b"], "target": ["a", "c"]},
        "answers/0.parquet": {"answer": ["2 x"], "s": ["x + x"]},
        "texts.parquet": {"answer": [r"It is \boxed{4}."], "target": [4]},
    }.items():
        parquet.write_table(pa.table(columns), folder / name)


def test_examples_that_need_no_network_run(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    statuses = {}
    for name, line in EXAMPLES:
        # One needs shards, one a task's file and one stored replies, which rows alone do not have.
        if name in ELSEWHERE or name in {"merge", "rescore", "replies", "label"} or "task" in line:
            continue
        if name == "plot":
            pytest.importorskip("matplotlib", reason="needs the extra figures")
        statuses[line] = main(shlex.split(line)[1:])
    errors = capsys.readouterr().err
    assert {line: status for line, status in statuses.items() if status} == {}, errors
    assert len(statuses) > 15
    assert (here / "comment.md").is_file()
    assert (here / "accuracy.svg").is_file()


def test_the_commands_stand_in_groups(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    shown = capsys.readouterr().out
    places = [shown.index(f"\n{title}:\n") for title in ("runs", "replies and datasets")]
    assert places == sorted(places)
    for command in EVERY:
        assert shown.count(f"\n  {command.name:10} ") == 1
