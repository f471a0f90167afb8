"""The command line as a whole: its help, its version, and the options of a session."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from example_rows import row

from pytest_llmeval.commands.main import COMMANDS, main
from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.results.store import RunFolder

Output = pytest.CaptureFixture[str]


def keep(reports: Path) -> str:
    """Keep a run of one row in a folder of runs and return its name."""
    folder = RunFolder.create(reports, {"planned": 1}, redactor=Redactor(secrets={}))
    folder.add_row(row("1"))
    folder.close()
    return folder.path.name


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in an empty folder, where nothing else configures anything."""
    for name in ("LLMEVAL_REPORT", "LLMEVAL_GATE", "LLMEVAL_BASELINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_help_has_each_command_with_its_line(capsys: Output) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    for command in COMMANDS:
        assert f"{command.name} {command.help}" in text


@pytest.mark.parametrize("name", [command.name for command in COMMANDS])
def test_each_command_has_a_help_of_its_own(name: str, capsys: Output) -> None:
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    assert f"usage: llmeval {name}" in capsys.readouterr().out


def test_the_help_imports_no_command_and_nothing_heavy() -> None:
    code = (
        "import sys; from pytest_llmeval.commands.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    modules = {f"pytest_llmeval.commands{command.module}" for command in COMMANDS}
    assert loaded.isdisjoint({*modules, "numpy", "pydantic", "msgspec", "asyncio", "sympy", "rich"})


def test_each_module_of_a_command_is_in_the_table() -> None:
    folder = Path(import_module("pytest_llmeval.commands").__file__ or "").parent
    found = {
        f".{file.stem}" for file in folder.glob("*.py") if "\ndef declare(" in file.read_text()
    }
    assert found == {command.module for command in COMMANDS}


def test_the_version_is_that_of_the_distribution(capsys: Output) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("llmeval ")


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pyproject.toml", '[tool.pytest.ini_options]\nllmeval_report = "made/here"\n'),
        ("pytest.ini", "[pytest]\nllmeval_report = made/here\n"),
    ],
)
def test_the_folder_of_runs_is_the_ini_keys(
    here: Path, file: str, text: str, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / file).write_text(text)
    name = keep(here / "made" / "here")
    # Relative to the file, also from a folder below it.
    (here / "below").mkdir()
    monkeypatch.chdir(here / "below")
    assert main(["report", "latest"]) == 0
    assert str(here / "made" / "here" / name / "report.html") in capsys.readouterr().out
    assert main(["baseline", "set", name]) == 0
    assert (here / "made" / "here" / "baselines" / "main.jsonl").is_file()


def test_an_option_goes_before_the_variable_and_that_before_the_ini_key(
    here: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "pytest.ini").write_text("[pytest]\nllmeval_report = by_ini\n")
    names = {folder: keep(here / folder) for folder in ("by_ini", "by_variable", "typed")}
    monkeypatch.setenv("LLMEVAL_REPORT", "by_variable")
    assert main(["report", "latest", "--report", "typed"]) == 0
    assert names["typed"] in capsys.readouterr().out
    assert main(["report", "latest"]) == 0
    assert names["by_variable"] in capsys.readouterr().out


def test_the_gate_is_the_ini_keys_too(here: Path, capsys: Output) -> None:
    keep(here / "reports")
    assert main(["gate", "latest"]) == 2
    assert "name the file of rules: --gate FILE" in capsys.readouterr().err
    (here / "rules.yaml").write_text("rules: {demo.accuracy: {min: 0.2}}\n")
    (here / "pytest.ini").write_text("[pytest]\nllmeval_gate = rules.yaml\n")
    assert main(["gate", "latest"]) == 0
    assert "gate passed" in capsys.readouterr().out
