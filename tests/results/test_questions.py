"""What samples ask, in ``samples.jsonl``: written once, read back, and found for earlier runs."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from example_rows import row
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.records import Asked, Message, ModelCall, Reply, Transcript
from pytest_llmeval.results.questions import Question, questions_of, read_questions
from pytest_llmeval.results.run_files import SAMPLES
from pytest_llmeval.results.store import RunFolder
from pytest_llmeval.results.stored_run import read_run

KEY = "sk-live-0123456789abcdef"

questions = st.builds(
    Question,
    task=st.sampled_from(["a", "b"]),
    sample=st.text(max_size=3),
    question=st.sampled_from(["", "1f", "2f"]),
    text=st.text(st.characters(), max_size=20),
)


def made(reports: Path, *, redactor: Redactor | None = None) -> RunFolder:
    return RunFolder.create(reports, {}, redactor=redactor or Redactor(secrets={}))


@given(first=st.lists(questions), second=st.lists(questions))
def test_each_question_is_stored_once_however_often_it_is_added(
    tmp_path_factory: pytest.TempPathFactory, first: list[Question], second: list[Question]
) -> None:
    with closing(made(tmp_path_factory.mktemp("reports"))) as folder:
        for some in (first, second):
            folder.add_questions(some)
        found = {one.key: one for one in read_questions(folder.path)}
        lines = (folder.path / SAMPLES).read_bytes().splitlines()
    assert len(lines) == len(found)
    wanted: dict[object, Question] = {}
    for one in (*first, *second):
        wanted.setdefault(one.key, one)
    assert found == wanted


def test_a_line_that_was_cut_off_is_written_again(tmp_path: Path) -> None:
    asked = [Question(task="t", sample=str(n), question="", text=f"ask {n}") for n in range(3)]
    with closing(made(tmp_path)) as folder:
        folder.add_questions(asked)
        file = folder.path / SAMPLES
        file.write_bytes(file.read_bytes()[:-5])
        folder.add_questions(asked)
        assert list(read_questions(folder.path)) == asked


def test_secrets_are_blotted_out_of_questions_too(tmp_path: Path) -> None:
    redactor = Redactor(secrets={"KEY": KEY})
    with closing(made(tmp_path, redactor=redactor)) as folder:
        folder.add_questions([Question(task="t", sample="1", question="", text=f"is {KEY} a key")])
        assert KEY not in (folder.path / SAMPLES).read_text()
        assert [one.text for one in read_questions(folder.path)] != []


def test_the_question_of_an_earlier_version_is_the_last_message_of_the_user(tmp_path: Path) -> None:
    messages = tuple(Message.of(*one) for one in [("system", "s"), ("user", "u"), ("user", "ask")])
    asked = Asked(stage="g", role="solver", model="m", parameters={}, messages=messages, key="k")
    judge = Asked(stage="j", role="judge", model="m", parameters={}, messages=messages[:2], key="j")
    reply = Reply(text="")
    transcript = Transcript(
        events=(ModelCall(asked=judge, reply=reply), ModelCall(asked=asked, reply=reply))
    )
    one, never = row("1"), row("2", "not run")
    with closing(made(tmp_path)) as folder:
        folder.add_row(one)
        folder.add_row(never)
        folder.add_transcript(one.key, transcript)
    assert not (folder.path / SAMPLES).exists()
    (found,) = questions_of(read_run(folder.path))
    assert (found.task, found.sample, found.text) == (one.task, "1", "ask")


def test_a_line_of_another_program_is_named(tmp_path: Path) -> None:
    with closing(made(tmp_path)) as folder:
        (folder.path / SAMPLES).write_text(json.dumps({"task": 1}) + "\n")
        with pytest.raises(UsageError, match=r"samples\.jsonl:1: not a question"):
            list(read_questions(folder.path))
