"""The scorer ``taxonomy`` in whole runs: it labels wrong answers alone and decides nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

MODEL = ("--llmeval-model", "python/./model.py:reply")
TAXONOMY = ("--llmeval-set", "sums.scorer+=taxonomy")
LABELS = (*MODEL, "--llmeval-judge", "python/./judge.py:reply", *TAXONOMY)
MODES = pytest.mark.parametrize("mode", [["-n0"], ["-n2"]], ids=["-n0", "-n2"])

# Sample 0 gets PP, 5 a label at the second draw, 10 never one; each call leaves a line.
JUDGE = """
import json, os, re
from pytest_llmeval.records import Reply, Usage

def reply(request):
    assert request.role == "judge"
    number = int(re.search(r"what is (\\d+)", request.messages[-1].text)[1])
    with open(os.path.join(os.path.dirname(__file__), "judged.txt"), "a") as calls:
        calls.write(f"{number}\\n")
    assert f"one more than {number}" in request.messages[-1].text
    assert "Let me think." in request.messages[-1].text
    unusable = number == 10 or (number == 5 and request.draw == 0)
    label = None if unusable else "RR" if number else "PP"
    text = json.dumps({"label": label, "reason": f"because of {number}"})
    usage = Usage(input_tokens=1000, output_tokens=10, requests=1)
    return Reply(text=text, usage=usage, latency=0.5)
"""


@pytest.fixture
def project(project: Project) -> Project:
    """Return the project with a reference solution for each sum, and a judge that labels."""
    lines = [json.loads(line) for line in (project.path / "data.jsonl").read_text().splitlines()]
    texts = (json.dumps({**line, "solution": f"one more than {line['id']}"}) for line in lines)
    project.write("data.jsonl", "".join(f"{text}\n" for text in texts))
    task = (project.path / "task.yaml").read_text()
    project.write(
        "task.yaml", task.replace("tags: [kind]", "tags: [kind], metadata: {solution: solution}")
    )
    project.write("judge.py", JUDGE)
    return project


def judged(project: Project) -> list[int]:
    """Return about which questions the judge was asked since the last time, and forget them."""
    file = project.path / "judged.txt"
    numbers = [int(line) for line in file.read_text().split()] if file.exists() else []
    file.unlink(missing_ok=True)
    return sorted(numbers)


def labels(project: Project) -> dict[str, tuple[str | None, str]]:
    """Return label and reason of each row that has a label, or lacks one with a reason."""
    return {
        row["sample"]: (score["details"]["label"], score["details"]["reason"])
        for row in project.rows()
        for score in row["scores"]
        if score["name"] == "taxonomy" and score["details"]
    }


NO_LABEL = (
    "the judge gave no usable label in 4 replies (wanted: one JSON object with the keys label, "
    'reason and nothing else; the last reply: {"label": null, "reason": "because of 10"})'
)
EXPECTED = {"0": ("PP", "because of 0"), "5": ("RR", "because of 5"), "10": (None, NO_LABEL)}


@MODES
def test_wrong_answers_alone_are_labelled_and_every_outcome_stays(
    project: Project, mode: list[str]
) -> None:
    project.run(*MODEL, *mode)
    outcomes = project.outcomes()
    assert labels(project) == {}
    result = project.run(*LABELS, *mode, "--llmeval-groups")
    result.assert_outcomes(passed=8, failed=3, errors=1)
    assert project.outcomes() == outcomes
    assert labels(project) == EXPECTED
    assert judged(project) == [0, 5, 5, 10, 10, 10, 10]
    assert project.summary()["entries"][0]["tally"]["labels"] == {
        "label": {"PP": 1, "RR": 1, "unlabelled": 1}
    }
    result.stdout.re_match_lines_random([r"all +1 +1 +1", "wrong answers by kind of error: .*"])
    assert "| all | 1 | 1 | 1 |" in (project.path / "reports/latest/summary.md").read_text()


def test_without_the_scorer_the_judge_is_not_asked(project: Project) -> None:
    result = project.run(*LABELS[:-2])
    assert judged(project) == []
    assert project.summary()["entries"][0]["tally"]["labels"] == {}
    result.stdout.no_fnmatch_line("*kind of error*")


def test_a_labels_cost_and_time_are_the_rows(project: Project) -> None:
    def row(sample: str) -> dict[str, Any]:
        return next(row for row in project.rows() if row["sample"] == sample)

    project.run(*LABELS)
    assert (row("1")["usage"]["requests"], row("1")["usage"]["input_tokens"]) == (1, 0)
    for sample, asked in (("0", 1), ("5", 2), ("10", 4)):
        assert row(sample)["usage"]["requests"] == 1 + asked
        assert row(sample)["usage"]["input_tokens"] == 1000 * asked
        assert row(sample)["seconds"] >= 0.5 * asked


def test_the_transcript_holds_solver_and_label(project: Project) -> None:
    project.run(*LABELS, "--llmeval-sample", "5")
    lines = (project.path / "reports/latest/transcripts.jsonl").read_text().splitlines()
    events = json.loads(lines[-1])["events"]
    assert [(event["asked"]["stage"], event["asked"]["role"]) for event in events] == [
        ("generate", "solver"),
        ("taxonomy", "judge"),
        ("taxonomy", "judge"),
    ]


@MODES
def test_a_recording_gives_the_same_labels_without_a_call(
    project: Project, mode: list[str]
) -> None:
    project.run(*LABELS, *mode, "--llmeval-keep", "replies.jsonl")
    project.calls(), judged(project)
    project.run("--llmeval-model", "replay/replies.jsonl", *TAXONOMY, *mode)
    assert labels(project) == EXPECTED
    assert (project.calls(), judged(project)) == ([], [])
    assert all(row["recorded"] for row in project.rows())


def test_a_recording_without_labels_leaves_them_out_and_says_why(project: Project) -> None:
    project.run(*MODEL, "--llmeval-keep", "replies.jsonl")
    result = project.run("--llmeval-model", "replay/replies.jsonl", *TAXONOMY)
    result.assert_outcomes(passed=8, failed=3, errors=1)
    assert all(
        label is None and "no recorded reply" in reason
        for label, reason in labels(project).values()
    )


def test_a_judge_that_breaks_leaves_the_outcome_and_tells_the_reason(project: Project) -> None:
    project.write("judge.py", "def reply(request):\n    raise RuntimeError('the judge is out')\n")
    project.run(*LABELS).assert_outcomes(passed=8, failed=3, errors=1)
    found = labels(project)
    assert found.keys() == {"0", "5", "10"}
    assert all(label is None and "the judge is out" in reason for label, reason in found.values())


def test_paid_calls_count_also_where_a_later_one_breaks(project: Project) -> None:
    broken = JUDGE.replace(
        "    label =", "    if request.draw == 1:\n        raise RuntimeError('out')\n    label ="
    )
    project.write("judge.py", broken)
    project.run(*LABELS, "--llmeval-sample", "5")
    [row] = project.rows()
    assert labels(project)["5"][0] is None
    assert row["usage"]["requests"] == 2


def test_without_a_judge_nothing_is_labelled_and_the_row_says_so(project: Project) -> None:
    project.run(*MODEL, *TAXONOMY).assert_outcomes(passed=8, failed=3, errors=1)
    assert {reason for _, reason in labels(project).values()} == {
        "no judge is configured: pass --llmeval-judge SPEC or set JUDGE_DEPLOYMENT"
    }


def test_without_a_reference_solution_there_is_nothing_to_compare_with(project: Project) -> None:
    task = (project.path / "task.yaml").read_text()
    project.write("task.yaml", task.replace(", metadata: {solution: solution}", ""))
    project.run(*LABELS)
    assert (labels(project), judged(project)) == ({}, [])


def test_an_assertion_of_ones_own_is_no_score_and_gets_no_label(project: Project) -> None:
    task = (project.path / "task.yaml").read_text()
    project.write("task.yaml", task.replace("scorer: {sldp: {tolerance: 0.01}}\n", ""))
    test = (project.path / "test_sums.py").read_text()
    project.write(
        "test_sums.py",
        test.replace("assert_sldp_equal(completion.answer, sample.target)", "assert False"),
    )
    project.run(*LABELS, "--llmeval-limit", "2").assert_outcomes(failed=2)
    assert judged(project) == []


def test_under_a_gate_wrong_answers_are_labelled_too(project: Project) -> None:
    project.write("gate.yaml", "coverage: 0.5\nrules:\n  sums.accuracy: {min: 0.5}\n")
    project.run(*LABELS, "--llmeval-gate", "gate.yaml").assert_outcomes(
        passed=8, xfailed=3, skipped=1
    )
    assert labels(project) == EXPECTED
