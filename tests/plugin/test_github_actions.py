"""The workflow that docs/ offers: its steps run as in a job, with a base branch and a change."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from plugin.conftest import MODEL, TASK, TEST

pytest.importorskip("xdist", reason="the workflow runs in parallel")

WORKFLOW = Path(__file__).parents[2] / "docs" / "github-actions.yml"
COMMANDS = Path(sys.executable).parent
"""Where pip and llmeval are; python may be another one (see `quick_sessions`)."""

GATE = "coverage: 0.9\ninconclusive: pass\nrules:\n  sums.accuracy: {min: 0.5, max_drop: 0.1}\n"

EXPRESSIONS = {
    "github.event_name == 'pull_request' && 'HEAD^1' || 'HEAD'": "HEAD^1",
    "github.token": "a-token",
    "github.event.pull_request.number": "7",
}
"""What GitHub would put in place of the expressions in the steps' variables."""

SECRET = "a-secret-of-the-job"  # noqa: S105 - it opens nothing

TAKE, INSTALL, RUN, COMMENT = range(4)
"""The steps of the job that run commands."""

PAUSING = """
import os, re, time
from pathlib import Path

def reply(request):
    number = int(re.search(r"what is (\\d+)", request.messages[-1].text)[1])
    with open("calls.txt", "a") as calls:
        calls.write(f"{number}\\n")
    while number >= 6 and not Path("go").exists():
        time.sleep(0.02)
    return str(number + 1)
"""


class Project(NamedTuple):
    """A repository, and the Python that its steps run."""

    path: Path
    python: str

    def write(self, name: str, text: str) -> Path:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file


def document() -> dict[Any, Any]:
    found: dict[Any, Any] = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    return found


def steps(job: str = "gate") -> list[dict[str, Any]]:
    """Return the steps of a job that run commands."""
    found = document()["jobs"][job]
    return [
        {**step, "env": {**found.get("env", {}), **step.get("env", {})}}
        for step in found["steps"]
        if "run" in step
    ]


def valued(text: str, secret: str) -> str:
    def value(match: re.Match[str]) -> str:
        return secret if match[1].startswith("secrets.") else EXPRESSIONS[match[1]]

    return re.sub(r"\$\{\{ (.*?) \}\}", value, text)


def environment(project: Project, env: dict[str, str], secret: str) -> dict[str, str]:
    surroundings = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("LLMEVAL_", "PYTEST_", "OPENAI_"))
    }
    return surroundings | {
        "PATH": os.pathsep.join(
            (str(Path(project.python).parent), str(COMMANDS), os.environ["PATH"])
        ),
        "PYTEST_XDIST_AUTO_NUM_WORKERS": "1",  # the machine's other cores run other tests
        "PIP_NO_INDEX": "1",  # the package is installed; nothing is to be fetched
        "GITHUB_STEP_SUMMARY": str(project.path / "step.md"),
        "GITHUB_REPOSITORY": "owner/name",
        "RUNNER_TEMP": str(project.path / "temp"),
        **{name: valued(value, secret) for name, value in env.items()},
        **({"LLMEVAL_MODEL": "python/./model.py:reply"} if "LLMEVAL_MODEL" in env else {}),
    }


def started(project: Project, step: dict[str, Any], secret: str) -> subprocess.Popen[str]:
    """Start a step as a job does: by ``bash -eo pipefail``, in the repository."""
    return subprocess.Popen(
        ["bash", "-eo", "pipefail", "-c", step["run"]],
        cwd=project.path,
        env=environment(project, step["env"], secret),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def run_job(project: Project, *chosen: int, secret: str = SECRET) -> list[int]:
    """Run steps of the job and return their exit statuses; log.txt holds what they print."""
    statuses, log = [], ""
    for number in chosen:
        with started(project, steps()[number], secret) as process:
            log += process.communicate()[0]
        statuses.append(process.returncode)
    (project.path / "log.txt").write_text(log)
    return statuses


def git(project: Project, *arguments: str) -> None:
    identity = ("-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    subprocess.run(
        ["git", *identity, *arguments], cwd=project.path, check=True, capture_output=True
    )


def merged(project: Project) -> None:
    """Commit all changes as a pull request, and check out its merge into the base branch."""
    git(project, "checkout", "-q", "-B", "change", "main")
    git(project, "add", "-A")
    git(project, "commit", "-q", "--allow-empty", "-m", "change")
    git(project, "checkout", "-q", "-B", "merge", "main")
    git(project, "merge", "-q", "--no-ff", "-m", "merge", "change")


def clear(project: Project) -> None:
    """Leave what a fresh machine has: the repository, and nothing of an earlier job."""
    for path in (*project.path.glob("reports/*Z-*"), project.path / "temp"):
        shutil.rmtree(path, ignore_errors=True)
    for name in ("step.md", "comment.md", "calls.txt", "reports/latest"):
        (project.path / name).unlink(missing_ok=True)


def summary(project: Project) -> str:
    return (project.path / "step.md").read_text()


@pytest.fixture(scope="module")
def built(warm_python: str, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return a repository with what the workflow expects on the branch main."""
    project = Project(tmp_path_factory.mktemp("repository"), warm_python)
    lines = (
        json.dumps({"id": n, "question": f"what is {n}+1", "answer": str(n + 1), "kind": "sum"})
        for n in range(12)
    )
    ignored = "reports/*\n!reports/baselines\ntemp\ncalls.txt\nstep.md\nlog.txt\n*.pyc\ngo\n"
    for name, text in {
        "benchmarks/task.yaml": TASK,
        "benchmarks/test_sums.py": TEST,
        "benchmarks/data.jsonl": "\n".join(lines) + "\n",
        "benchmarks/gates.yaml": GATE,
        # A recording holds no reply where the model is out.
        "model.py": MODEL.replace("if number == 7:", "if number == 77:"),
        "pytest.ini": "[pytest]\n",
        "requirements.txt": "pytest-llmeval-suite\n",
        ".gitignore": ignored + "baseline\njunit.xml\ncomment.md\n.pytest_cache\n",
    }.items():
        project.write(name, text)
    commands = (
        "python -m pytest benchmarks/ -q || llmeval baseline set latest\n"
        "llmeval replies copy reports/latest benchmarks/replies.jsonl"
    )
    # Wrong answers make pytest's own status 1 where no gate decides.
    with started(project, {"run": commands, "env": steps()[0]["env"]}, "") as by_hand:
        said = by_hand.communicate()[0]
    assert by_hand.returncode == 0, said
    git(project, "init", "-q", "-b", "main")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "base")
    clear(project)
    return project


@pytest.fixture
def repository(built: Project, tmp_path: Path) -> Project:
    """Return a clone of the repository."""
    shutil.copytree(built.path, tmp_path / "clone")
    return built._replace(path=tmp_path / "clone")


def test_a_change_like_its_baseline_passes_and_all_is_kept(repository: Project) -> None:
    merged(repository)
    done = run_job(repository, TAKE, INSTALL, RUN, COMMENT)
    assert done == [0, 0, 0, 0], (repository.path / "log.txt").read_text()
    assert summary(repository).startswith("## gate passed")
    comment = (repository.path / "comment.md").read_text()
    assert comment.startswith("## gate passed")
    assert "**0 lost, 0 gained** of 12 samples" in comment
    kept = document()["jobs"]["gate"]["steps"][-1]["with"]["path"].split()
    assert all(list(repository.path.glob(pattern.rstrip("/"))) for pattern in kept)
    assert len((repository.path / "baseline/main.jsonl").read_text().splitlines()) == 2 + 12


def test_a_change_for_the_worse_is_stopped_though_it_loosens_gate_and_baseline(
    repository: Project,
) -> None:
    model = repository.path / "model.py"
    model.write_text(model.read_text().replace("number % 5 == 0", "number % 5 < 4"))
    repository.write("benchmarks/gates.yaml", "coverage: 0\nrules: {}\n")
    lenient = "[pytest]\naddopts = --llmeval-gate=benchmarks/gates.yaml\n"
    repository.write("pytest.ini", lenient)
    file = repository.path / "reports/baselines/main.jsonl"
    file.write_text(file.read_text().replace('"correct"', '"incorrect"'))
    merged(repository)
    assert run_job(repository, TAKE, RUN) == [0, 1], (repository.path / "log.txt").read_text()
    text = summary(repository)
    assert text.startswith("## gate not passed")
    assert re.search(r"\*\*\d lost, 0 gained\*\*", text)
    assert "- **1**" in text
    assert "a-secret" not in text


def test_dropped_samples_are_stopped_by_the_baseline(repository: Project) -> None:
    data = repository.path / "benchmarks/data.jsonl"
    data.write_text("".join(data.read_text().splitlines(keepends=True)[:6]))
    merged(repository)
    assert run_job(repository, TAKE, RUN) == [0, 1]
    assert "compared" in summary(repository)


def test_a_gate_that_only_the_change_has_is_none(repository: Project) -> None:
    git(repository, "rm", "-q", "benchmarks/gates.yaml")
    git(repository, "commit", "-q", "-m", "no gate")
    repository.write("benchmarks/gates.yaml", "rules: {}\n")
    merged(repository)
    assert run_job(repository, TAKE) == [1]
    told = "::error::benchmarks/gates.yaml is not on the base branch"
    assert told in (repository.path / "log.txt").read_text()


def test_a_fork_without_the_secret_runs_the_recorded_replies_and_says_so(
    repository: Project,
) -> None:
    repository.write("model.py", "raise RuntimeError('no live model may be asked')\n")
    merged(repository)
    assert run_job(repository, TAKE, RUN, secret="") == [0, 0], (
        repository.path / "log.txt"
    ).read_text()
    assert "::notice::No secret here" in (repository.path / "log.txt").read_text()
    assert summary(repository).startswith("## gate passed")
    assert "Recorded replies ran; no live model did." in summary(repository)


def test_a_job_that_was_killed_goes_on_and_repeats_no_call_that_was_answered(
    repository: Project,
) -> None:
    # Killed is Python itself, and no fork of a warm one, which would go on.
    repository = repository._replace(python=sys.executable)
    repository.write("model.py", PAUSING)
    merged(repository)
    assert run_job(repository, TAKE) == [0]
    with started(repository, steps()[RUN], "a-secret") as killed:
        until(lambda: stored_replies(repository) == 6)
        os.killpg(killed.pid, signal.SIGKILL)
        killed.communicate()
    repository.write("go", "")
    assert run_job(repository, RUN) == [0], (repository.path / "log.txt").read_text()
    asked = Counter((repository.path / "calls.txt").read_text().split())
    assert {asked[str(number)] for number in range(6)} == {1}
    assert set(asked) == {str(number) for number in range(12)}
    assert len(list(repository.path.glob("reports/*Z-*"))) == 1


def stored_replies(project: Project) -> int:
    """Return how many replies the run has stored."""
    for file in project.path.glob("reports/*Z-*/replies.sqlite3"):
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as store:
            tables = [name for (name,) in store.execute("SELECT name FROM sqlite_master")]
            if "replies" in tables:
                return int(store.execute("SELECT count(*) FROM replies").fetchone()[0])
    return 0


def until(condition: Any) -> None:
    """Wait for something that a process does soon."""
    for _ in range(1_500):
        if condition():
            return
        time.sleep(0.02)
    pytest.fail("it did not happen within half a minute")


def test_the_comment_is_sent_with_the_file_of_the_artifact(tmp_path: Path) -> None:
    project = Project(tmp_path, sys.executable)
    project.write("comment.md", "## gate passed\n")
    gh = project.write("bin/gh", '#!/bin/sh\nprintf "%s\\n" "$@" > sent.txt\n')
    gh.chmod(0o755)
    [step] = steps("comment")
    env = environment(project, step["env"], "")
    env["PATH"] = f"{gh.parent}:{env['PATH']}"
    subprocess.run(
        ["bash", "-eo", "pipefail", "-c", step["run"]], cwd=project.path, env=env, check=True
    )
    sent = (project.path / "sent.txt").read_text().split()
    assert sent[:5] == ["pr", "comment", "7", "--repo", "owner/name"]
    assert "comment.md" in sent


def test_it_takes_no_more_rights_than_it_needs_and_pins_every_action() -> None:
    found = document()
    [events] = [value for key, value in found.items() if key is True]  # YAML reads `on` as a yes
    assert set(events) == {"pull_request", "workflow_dispatch"}
    assert found["permissions"] == {"contents": "read"}
    assert found["concurrency"]["group"].startswith("benchmarks-")
    rights = {name: job.get("permissions", {}) for name, job in found["jobs"].items()}
    assert rights == {"gate": {}, "comment": {"pull-requests": "write"}}
    assert all(job["timeout-minutes"] <= 60 for job in found["jobs"].values())
    with_secrets = [
        step for job in found["jobs"].values() for step in job["steps"] if "secrets." in str(step)
    ]
    assert [step["name"] for step in with_secrets] == [
        "Run the benchmarks under the gate of the base branch"
    ]
    lines = re.findall(r"uses: (\S+)(.*)", WORKFLOW.read_text())
    assert len(lines) == 6
    for action, version in lines:
        assert re.fullmatch(r"actions/[\w/-]+@[0-9a-f]{40}", action)
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", version)
    assert not any(action.startswith("actions/checkout") for action in comment_actions(found))


def comment_actions(found: dict[Any, Any]) -> list[str]:
    """Return the actions of the job that may write."""
    return [step["uses"] for step in found["jobs"]["comment"]["steps"] if "uses" in step]


def test_actionlint_finds_nothing_wrong() -> None:
    if (actionlint := shutil.which("actionlint")) is None:
        pytest.skip("actionlint is not installed")
    done = subprocess.run([actionlint, WORKFLOW], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
