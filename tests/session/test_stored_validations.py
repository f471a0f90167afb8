"""A stored run finds validations of its judge that were made after it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.records import Json, Row, Score
from pytest_llmeval.results.stored_run import read_run
from pytest_llmeval.session.stored import stored_findings

QUESTION = "judge/1 prompt 00895f1b"


def judged(number: int) -> Row:
    correct = number < 12
    details: dict[str, Json] = {
        "decided_by": "judge",
        "judge": "openai/a",
        "opinions": [{"judge": "openai/a", "correct": correct, "votes": [correct], "wanted": 1}],
    }
    score = Score(
        name="judge",
        value=float(correct),
        correct=correct,
        grader=f"{QUESTION} prefilter/4 votes=1 by openai/a",
        details=details,
    )
    return Row(
        test="t.py::t",
        task="demo",
        sample=str(number),
        model="m",
        epoch=1,
        nodeid=f"t.py::t[{number}]",
        outcome="correct" if correct else "incorrect",
        scores=(score,),
    )


def validation(**changed: Any) -> dict[str, Any]:
    confusion = {"true_positives": 45, "false_negatives": 5}
    confusion |= {"true_negatives": 48, "false_positives": 2}
    figures: dict[str, Any] = {"n": 100, "unscored": 0, "accuracy": 0.93, "false_positives": 2}
    figures |= {"false_positive_rate": 0.04, "kappa": 0.86, "kappa_95": [0.7, 0.95]}
    written = {"schema": 1, "judge": "openai/a", "question": QUESTION, "votes": 1}
    return {**written, "made": "2026-11-23", "all": {**figures, "confusion": confusion}, **changed}


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({}, True),
        ({"judge": "openai/b"}, False),
        ({"options": "votes=3", "votes": 3}, False),
        ({"question": "judge/1 prompt 11111111"}, False),
    ],
)
def test_a_validation_made_since_is_found_by_judge_question_and_votes(
    tmp_path: Path, changed: dict[str, Any], *, found: bool
) -> None:
    run, made = tmp_path / "20261123T000000Z-a", tmp_path / "validations"
    run.mkdir()
    made.mkdir()
    tasks = {"task.yaml": {"name": "demo", "info": {"title": "demo"}}}
    info = {"schema": 1, "started": "2026-11-23T00:00:00+00:00", "planned": 20, "tasks": tasks}
    (run / "run.json").write_text(json.dumps(info))
    rows = (json.dumps(judged(number).to_json()) for number in range(20))
    (run / "rows.jsonl").write_text("".join(f"{row}\n" for row in rows))
    (made / "it.json").write_text(json.dumps(validation(**changed)))
    figures = stored_findings(read_run(run)).summary.entries[0].figures
    assert figures.judging is not None
    assert (figures.judging.validation is not None) is found
    assert (figures.accuracy_corrected is not None) is found
