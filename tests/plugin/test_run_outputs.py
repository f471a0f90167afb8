"""What a run leaves for other programs: JUnit XML, GitHub's step summary, and its own files."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import jsonschema
import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

SCRIPTED = ["--llmeval-model", "python/./model.py:reply"]
SCHEMA = Path(__file__).parents[2] / "docs" / "summary.schema.json"
GATE = "coverage: 0.9\nrules:\n  sums.accuracy: {min: 0.5, max_drop: 0.2}\n"


@pytest.mark.parametrize("mode", [["-n0"], ["-n2"]], ids=["-n0", "-n2"])
def test_a_run_against_a_baseline_is_told_to_ci_in_every_form(
    project: Project, monkeypatch: pytest.MonkeyPatch, mode: list[str]
) -> None:
    step = project.path / "step.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(step))
    project.write("gate.yaml", GATE)
    project.run(*SCRIPTED, *mode)
    assert not step.exists()  # nobody asked for a verdict
    first = (project.path / "reports" / "latest").resolve()
    model = project.path / "model.py"
    model.write_text(model.read_text().replace("number % 5 == 0", "number % 5 < 3"))
    gated = [
        "--llmeval-gate",
        "gate.yaml",
        "--llmeval-baseline",
        str(first),
        "--junitxml",
        "junit.xml",
    ]
    result = project.run(*SCRIPTED, *mode, *gated)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    # Samples 1, 2, 6, 11 flip: 5 and 10 were wrong before, 7 breaks.
    result.stdout.fnmatch_lines(
        [f"*against {first.name}*", "lost: 4 (1, 11, 2, 6)", "*gate not passed*"]
    )
    assert "- lost: 4 (1, 11, 2, 6)" in step.read_text()
    assert "## gate not passed" in step.read_text()
    suite = ET.parse(project.path / "junit.xml").getroot().find("testsuite")  # noqa: S314 - ours
    assert suite is not None
    verdicts = {one.get("name"): one.get("value") for one in suite.findall("./properties/property")}
    assert verdicts["llmeval.gate"] == "not passed"
    assert str(verdicts["llmeval.gate.sums.coverage"]).startswith("pass: 0.91")
    cases = {case.get("name"): case for case in suite.findall("testcase")}
    of_one = {
        p.get("name"): p.get("value")
        for p in cases["test_sums[0001]"].findall("./properties/property")
    }
    assert of_one == {
        "llmeval.outcome": "incorrect",
        "llmeval.model": SCRIPTED[1],
        "llmeval.SLDP": "0.0",
    }
    broken = {
        p.get("name"): p.get("value")
        for p in cases["test_sums[0007]"].findall("./properties/property")
    }
    assert broken["llmeval.outcome"] == "error"
    _files_are_as_documented(project.path / "reports" / "latest")


def _files_are_as_documented(run: Path) -> None:
    summary = json.loads((run / "summary.json").read_text())
    jsonschema.validate(summary, json.loads(SCHEMA.read_text()))
    assert summary["gate"]["passed"] is False
    with (run / "rows.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["sample"] for row in rows if row["outcome"] == "error"] == ["7"]
    assert {row["score:SLDP"] for row in rows} == {"0.0", "1.0", ""}
    assert (run / "report.html").stat().st_size > 10_000
    assert "# Comparison" in (run / "summary.md").read_text()


def test_rules_against_a_baseline_want_one(project: Project) -> None:
    project.write("gate.yaml", GATE)
    result = project.run(*SCRIPTED, "--llmeval-gate", "gate.yaml")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*gate.yaml: sums.accuracy (max_drop 0.2) needs a baseline*--llmeval-baseline PATH*"]
    )
    result = project.run(
        *SCRIPTED, "--llmeval-gate", "gate.yaml", "--llmeval-baseline", "none.jsonl"
    )
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*none.jsonl: no run here*"])
    assert project.calls() == []
