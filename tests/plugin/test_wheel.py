"""The wheel alone, installed beside somebody else's tests."""

from __future__ import annotations

import site
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

OWN_TESTS = """
import pytest
from pytest_llmeval import assert_eed_at_least, assert_judge_equivalent, assert_sldp_equal
import pytest_llmeval

def test_it_is_the_wheel():
    assert "site-packages" in pytest_llmeval.__file__

def test_sldp():
    assert_sldp_equal("<O3, O1>", "<O1, O3>")

def test_eed():
    assert_eed_at_least(r"\\frac{1}{2} m v^2", "m v^2 / 2")

def test_judge():
    assert_judge_equivalent("so x = 1/2", "0.5", problem="Find x.")

def test_own():
    assert 1 + 1 == 2
"""

JUDGE = 'def reply(request):\n    return \'{"answer_correct": 1, "reason": "the same value"}\'\n'


@pytest.fixture(scope="module")
def wheel_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of an environment with the built wheel and this one's packages."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        str(folder / "dist"),
        str(ROOT),
    ]
    subprocess.run(build, check=True, capture_output=True)
    venv.create(folder / "env", symlinks=True)
    packages = next((folder / "env").glob("lib/python*/site-packages"))
    zipfile.ZipFile(next((folder / "dist").glob("*.whl"))).extractall(packages)
    # A plain line adds the folder without reading the .pth files in it, which would bring the
    # checkout.
    (packages / "dependencies.pth").write_text("\n".join(site.getsitepackages()) + "\n")
    return folder / "env" / "bin" / "python"


@pytest.fixture(autouse=True)
def _no_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the checkout, should it be on the path."""
    monkeypatch.delenv("PYTHONPATH", raising=False)


@pytest.mark.parametrize(
    "mode", [["-n0"], ["-n2"], ["-p", "no:xdist"]], ids=["-n0", "-n2", "no xdist"]
)
def test_a_foreign_project_uses_the_assertions(
    wheel_python: Path, tmp_path: Path, mode: list[str]
) -> None:
    (tmp_path / "test_own.py").write_text(OWN_TESTS)
    (tmp_path / "judge.py").write_text(JUDGE)
    command = [
        str(wheel_python),
        "-m",
        "pytest",
        "-q",
        "--llmeval-judge",
        "python/./judge.py:reply",
        *mode,
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 passed" in done.stdout
    assert "benchmark" not in done.stdout


def test_the_command_line_is_there(wheel_python: Path) -> None:
    command = [str(wheel_python), "-m", "pytest_llmeval", "sldp", "<a, b>", "<b, a>"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "equal" in done.stdout


def test_the_rows_by_entry_the_html_report_are_there(wheel_python: Path) -> None:
    code = (
        "from pytest_llmeval.report.html import render_sheets; print(render_sheets('Nothing', []))"
    )
    done = subprocess.run(
        [str(wheel_python), "-c", code], capture_output=True, text=True, check=False, cwd="/"
    )
    assert "<h1>Nothing</h1>" in done.stdout, done.stderr


def test_the_judges_prompts_are_there(wheel_python: Path) -> None:
    code = (
        "from pytest_llmeval.scoring.judge.built_in import BUILT_IN, built_in_template\n"
        "print(*(built_in_template(name).question.text for name in BUILT_IN))"
    )
    done = subprocess.run(
        [str(wheel_python), "-c", code], capture_output=True, text=True, check=False, cwd="/"
    )
    assert done.stdout.count("{{ candidate }}") >= 5, done.stderr
