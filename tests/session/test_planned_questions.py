"""What the samples of a plan ask: each once, as people read it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from session.one_task import OneTask

from pytest_llmeval.results.questions import Question
from pytest_llmeval.session.questions import planned_questions
from pytest_llmeval.task.question import question_digest

PICTURE = Path(__file__).parents[2] / "fixtures/geometry3k/images/001_hypotenuse.png"


def asked(task: OneTask, *models: str, epochs: int = 1) -> list[Question]:
    return list(planned_questions(task.plan(*models, epochs=epochs), task.catalog(), {}))


def test_a_sample_is_told_once_whatever_models_and_epochs_ask_it(tmp_path: Path) -> None:
    task = OneTask(tmp_path, samples=4)
    found = asked(task, "a/one", "b/two", epochs=3)
    assert [one.text for one in found] == [f"what is {n}?" for n in range(4)]
    samples = task.catalog().load(task.file).samples
    assert [one.question for one in found] == [question_digest(sample) for sample in samples]


def test_choices_stand_below_the_question_as_they_are_shown(tmp_path: Path) -> None:
    task = OneTask(tmp_path, "choices: {column: offered}\n", samples=1)
    text = task.file.read_text().replace("{{ input }}", "{{ input }} {{ choices }}")
    task.file.write_text(text)
    (tmp_path / "sums.jsonl").write_text(
        json.dumps({"id": 0, "question": "what?", "answer": "A", "offered": ["nil", "one"]}) + "\n"
    )
    (found,) = asked(task)
    assert found.text.splitlines() == ["what?", "A. nil", "B. one"]


def test_pictures_are_named_by_digest_and_their_place_in_the_text_is_left_out(
    tmp_path: Path,
) -> None:
    (tmp_path / "x.png").write_bytes(PICTURE.read_bytes())
    task = OneTask(tmp_path, samples=1)
    line = {"id": 0, "question": "<image>Find x.", "answer": "1", "picture": "x.png"}
    (tmp_path / "sums.jsonl").write_text(json.dumps(line) + "\n")
    (found,) = asked(task)
    assert found.text == "Find x."
    digest = hashlib.sha256(PICTURE.read_bytes()).hexdigest()
    assert [image.digest for image in found.images] == [digest]
    (tmp_path / "x.png").unlink()
    assert asked(OneTask(tmp_path, samples=1))  # told by the tests of the sample, not here


def test_a_conversation_asks_all_that_the_user_says(tmp_path: Path) -> None:
    said = ["Who?", {"role": "assistant", "content": "Me."}, "Where?", "When?"]
    task = OneTask(tmp_path, "solver: {turns: {skip: 1}}\n", samples=1)
    task.file.write_text(
        task.file.read_text().replace('images: "picture?"', "metadata: {messages: said}")
    )
    line = {"id": 0, "question": "Who?", "answer": "1", "said": said}
    (tmp_path / "sums.jsonl").write_text(json.dumps(line) + "\n")
    (found,) = asked(task)
    assert found.text == "Who?\n\nWhere?\n\nWhen?"
