"""A run that was cut off goes on in its own folder, and nothing that it has is asked again."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

SCRIPTED = ["--llmeval-model", "python/./model.py:reply"]
MODES = pytest.mark.parametrize("mode", [["-n0"], ["-n2"]], ids=["-n0", "-n2"])
IN_FLIGHT = 2

# While the file "deadly" is there, the sixth call, or one beside it, kills the process that the
# user started.
DEADLY = """
import signal

def deadly(request):
    folder = os.path.dirname(__file__)
    text = reply(request)
    with open(os.path.join(folder, "calls.txt")) as calls:
        called = len(calls.readlines())
    # Two write at once, so that nobody may see exactly six.
    if called >= 6 and os.path.exists(os.path.join(folder, "deadly")):
        os.kill(os.getpid(), signal.SIGKILL)
    return text
"""


@pytest.fixture
def deadly(project: Project) -> list[str]:
    """Return the arguments of runs whose model kills the controller at its sixth call."""
    project.write("model.py", (project.path / "model.py").read_text() + DEADLY)
    project.write("deadly", "")
    return ["--llmeval-model", "python/./model.py:deadly", "--llmeval-concurrency", str(IN_FLIGHT)]


@MODES
def test_a_killed_run_resumes_to_the_same_table_and_asks_again_at_most_what_was_in_flight(
    project: Project, deadly: list[str], mode: list[str]
) -> None:
    assert project.run(*deadly, *mode).ret == -signal.SIGKILL
    killed = (project.path / "reports" / "latest").resolve()
    before = project.calls()
    assert len(before) < 12
    (project.path / "deadly").unlink()
    project.run(*deadly, *mode, "--llmeval-resume").assert_outcomes(passed=8, failed=3, errors=1)
    again = set(before) & set(after := project.calls())
    assert set(before) | set(after) == set(range(12))
    # The seventh question raises in the model, so there is never a reply to keep.
    assert len(again - {7}) <= IN_FLIGHT
    assert (project.path / "reports" / "latest").resolve() == killed
    resumed, rows = project.summary(), project.rows()
    assert not any(row["cached"] for row in rows)
    assert {row["reports"] for row in rows} == {1}
    project.run(*deadly, *mode)
    assert (project.path / "reports" / "latest").resolve() != killed
    assert [_figures(entry) for entry in resumed["entries"]] == [
        _figures(e) for e in project.summary()["entries"]
    ]


def _figures(entry: dict[str, object]) -> dict[str, object]:
    """Return an entry's figures without the seconds, which no two runs share."""
    tally = entry["tally"]
    assert isinstance(tally, dict)
    return {name: value for name, value in tally.items() if name != "seconds"}


@MODES
def test_a_finished_run_resumes_without_a_call_whose_reply_it_has(
    project: Project, mode: list[str]
) -> None:
    project.run(*SCRIPTED, *mode)
    project.calls()
    project.run(*SCRIPTED, *mode, "--llmeval-resume").assert_outcomes(passed=8, failed=3, errors=1)
    assert project.calls() == [7]
    assert len(list((project.path / "reports").glob("*Z-*"))) == 1


def test_a_row_cut_off_by_a_power_failure_is_scored_again(project: Project) -> None:
    project.run(*SCRIPTED)
    rows = project.path / "reports" / "latest" / "rows.jsonl"
    rows.write_bytes(rows.read_bytes()[:-100])
    project.run(*SCRIPTED, "--llmeval-resume").assert_outcomes(passed=8, failed=3, errors=1)
    assert len(project.outcomes()) == 12
    assert all(json.loads(line) for line in rows.read_text().splitlines())


def test_rows_that_are_not_selected_again_stand(project: Project) -> None:
    project.run(*SCRIPTED, "-k", "0001 or 0002")
    project.run(*SCRIPTED, "-k", "0003", "--llmeval-resume").assert_outcomes(
        passed=1, deselected=11
    )
    assert project.outcomes() == {"1": "correct", "2": "correct", "3": "correct"}
    assert project.summary()["entries"][0]["tally"]["counts"]["correct"] == 3


def test_a_row_stands_that_a_resumed_session_did_not_reach(project: Project) -> None:
    project.run(*SCRIPTED)
    project.run(*SCRIPTED, "-x", "--llmeval-resume").assert_outcomes(failed=1)
    assert "not run" not in project.outcomes().values()
    project.run(*SCRIPTED, "-x")
    assert list(project.outcomes().values()).count("not run") == 11
    project.run(*SCRIPTED, "--llmeval-resume")
    assert "not run" not in project.outcomes().values()


def test_a_run_is_named_by_its_folder_or_path(project: Project) -> None:
    project.run(*SCRIPTED, "-k", "0001")
    first = (project.path / "reports" / "latest").resolve()
    project.run(*SCRIPTED, "-k", "0002")
    project.calls()
    for name in (first.name, f"reports/{first.name}"):
        project.run(*SCRIPTED, "-k", "0001", f"--llmeval-resume={name}").assert_outcomes(
            passed=1, deselected=11
        )
    assert project.calls() == []
    resumed = json.loads((first / "run.json").read_text())["resumed"]
    assert [session["planned"] for session in resumed] == [1, 1]


@MODES
@pytest.mark.parametrize("name", ["nowhere", "latest"])
def test_a_run_that_does_not_exist_is_a_usage_error_that_names_it(
    project: Project, mode: list[str], name: str
) -> None:
    result = project.run(*SCRIPTED, *mode, "--llmeval-resume", name)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*--llmeval-resume {name}: *reports/{name}: no run here*"])
    assert project.calls() == []


def test_the_latest_run_of_no_folder_is_a_usage_error(project: Project) -> None:
    result = project.run(*SCRIPTED, "-o", "llmeval_report=", "--llmeval-resume")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*--llmeval-resume: name the run's folder, or *--llmeval-report DIR*"]
    )
