"""The workflow that docs/ offers to users: its steps run as a job would run them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

if TYPE_CHECKING:
    from plugin.conftest import Project

WORKFLOW = Path(__file__).parents[2] / "docs" / "github-actions.yml"
COMMANDS = Path(sys.executable).parent
"""Where pip and llmeval are; python may be another one (see `quick_sessions`)."""

GATE = "coverage: 0.9\ninconclusive: pass\nrules:\n  sums.accuracy: {min: 0.5, max_drop: 0.1}\n"


@pytest.fixture
def repository(project: Project) -> Project:
    """Return the project as a repository that the workflow expects."""
    for name in ("task.yaml", "test_sums.py", "data.jsonl"):
        (project.path / "benchmarks").mkdir(exist_ok=True)
        (project.path / name).rename(project.path / "benchmarks" / name)
    project.write("pytest.ini", "[pytest]\n")
    project.write("requirements.txt", "pytest-llmeval-suite\n")
    project.write("benchmarks/gates.yaml", GATE)
    return project


def steps() -> list[dict[str, Any]]:
    """Return the steps of the job that run commands."""
    job = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]["gate"]
    return [
        {**step, "env": {**job["env"], **step.get("env", {})}}
        for step in job["steps"]
        if "run" in step
    ]


def run_step(
    project: Project, command: str, env: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a command as a step does: by ``bash -eo pipefail``, in the repository."""
    surroundings = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("LLMEVAL_", "PYTEST_"))
    }
    surroundings |= {
        "PATH": os.pathsep.join(
            (str(Path(sys.executable).parent), str(COMMANDS), os.environ["PATH"])
        ),
        "PYTEST_XDIST_AUTO_NUM_WORKERS": "1",  # the machine's other cores run other tests
        "PIP_NO_INDEX": "1",  # the package is installed; nothing is to be fetched
        "GITHUB_STEP_SUMMARY": str(project.path / "step.md"),
        **{
            name: "a-secret-of-the-job" if "secrets." in value else value
            for name, value in env.items()
        },
        "LLMEVAL_MODEL": "python/./model.py:reply",
    }
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", command],
        cwd=project.path,
        env=surroundings,
        capture_output=True,
        text=True,
        check=False,
    )


def run_job(project: Project) -> list[int]:
    """Run the job's steps and return their exit statuses."""
    done = [run_step(project, step["run"], step["env"]) for step in steps()]
    (project.path / "log.txt").write_text("".join(one.stdout + one.stderr for one in done))
    return [one.returncode for one in done]


def test_the_steps_pass_a_run_like_its_baseline_and_stop_one_that_got_worse(
    repository: Project,
) -> None:
    pytest.importorskip("xdist", reason="the workflow runs in parallel")
    # Wrong answers make pytest's own status 1 where no gate decides.
    by_hand = run_step(
        repository,
        "python -m pytest benchmarks/ -q || llmeval baseline set latest",
        steps()[0]["env"],
    )
    assert by_hand.returncode == 0, by_hand.stdout + by_hand.stderr

    assert run_job(repository) == [0, 0, 0], (repository.path / "log.txt").read_text()
    assert "## gate passed" in (repository.path / "step.md").read_text()
    kept = yaml.safe_load(WORKFLOW.read_text())["jobs"]["gate"]["steps"][-1]["with"]["path"].split()
    assert all(list(repository.path.glob(pattern.rstrip("/"))) for pattern in kept)
    baseline = (repository.path / "baseline/main.jsonl").read_text()
    assert len(baseline.splitlines()) == 2 + 12

    model = repository.path / "model.py"
    model.write_text(model.read_text().replace("number % 5 == 0", "number % 5 < 4"))
    assert run_job(repository) == [0, 1, 0], (repository.path / "log.txt").read_text()
    summary = (repository.path / "step.md").read_text().rpartition("# Results")[2]
    assert "## gate not passed" in summary
    assert "- lost: 6 (1, 11, 2, 3, 6, 8)" in summary
    assert "a-secret" not in (repository.path / "step.md").read_text()
