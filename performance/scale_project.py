"""The project of `scale.py`: a task with many samples, its scripted model, and as many plain tests.

One sample in twenty is answered wrongly, and as many plain tests fail, because pytest keeps more of
a failed test than of a passed one.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

TASK = """
name: scale
dataset: {path: data.jsonl, fields: {id: id, input: question, target: answer, tags: tags}}
prompt: [{user: "{{ input }} End with the number alone."}]
answer: last_line
scorer: exact
group_by: [topic]
"""

TEST = """
import pytest
from pytest_llmeval import assert_correct

pytestmark = pytest.mark.llmeval("task.yaml")

def test_scale(sample, completion):
    assert_correct(sample, completion)
"""

PLAIN = """
import pytest

@pytest.mark.parametrize("n", range(1, SAMPLES + 1))
def test_plain(n):
    assert n % 20
"""

MODEL = """
def reply(request):
    number = int(request.messages[-1].text.split()[2])
    return f"{number} and {number} are added.\\n{2 * number if number % 20 else 0}"
"""

TOPICS = ("sums", "numbers", "pairs", "doubles", "even", "small", "large")


def write_project(folder: Path, samples: int) -> None:
    """Write the task with so many samples, the model, and as many plain tests, once."""
    if (folder / "pytest.ini").exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with (folder / "data.jsonl").open("w", encoding="utf-8") as file:
        for n in range(1, samples + 1):
            topic = TOPICS[n % len(TOPICS)]
            line = {"id": f"s{n:06}", "answer": str(2 * n), "topic": topic, "tags": [topic]}
            file.write(json.dumps({**line, "question": f"Add up {n} and {n}."}) + "\n")
    (folder / "task.yaml").write_text(TASK)
    (folder / "test_scale.py").write_text(TEST)
    (folder / "test_plain.py").write_text(PLAIN.replace("SAMPLES", str(samples)))
    (folder / "model.py").write_text(MODEL)
    # Written last: its presence says that the project is whole.
    (folder / "pytest.ini").write_text("[pytest]\n")


def write_second_run(folder: Path) -> Path:
    """Copy the run of a project with every fiftieth row changed; return the copy."""
    run, second = latest(folder), folder / "reports" / "second"
    if second.exists():
        return second
    shutil.copytree(run, second.with_suffix(".part"))
    with (
        (run / "rows.jsonl").open() as rows,
        second.with_suffix(".part").joinpath("rows.jsonl").open("w") as changed,
    ):
        for number, line in enumerate(rows):
            row = json.loads(line)
            if number % 50 == 7:
                correct = row["outcome"] != "correct"
                row["outcome"] = "correct" if correct else "incorrect"
                for score in row["scores"]:
                    score.update(correct=correct, value=float(correct))
            changed.write(json.dumps(row, separators=(",", ":")) + "\n")
    second.with_suffix(".part").rename(second)
    return second


def latest(folder: Path) -> Path:
    """Return the folder of a project's last run."""
    pointer = folder / "reports" / "latest"
    return pointer.resolve() if pointer.is_dir() else pointer.parent / pointer.read_text().strip()
