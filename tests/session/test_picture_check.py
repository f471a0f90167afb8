"""Pictures are decoded before anything is asked: those of selected samples, in runs that ask."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from files.made_pictures import noise
from session.one_task import OneTask

from pytest_llmeval.engine.plan import Plan
from pytest_llmeval.errors import LLMEvalError, TaskStopped
from pytest_llmeval.session.host import Host
from pytest_llmeval.session.main_session import MainSession
from pytest_llmeval.session.picture_check import planned_pictures

MODEL = "python/model.py:reply"
WHOLE = noise("PNG")
BROKEN = WHOLE[:200] + bytes([WHOLE[200] ^ 1]) + WHOLE[201:]
CODE = """
from pathlib import Path

def reply(request):
    with Path(__file__).with_name("asked").open("a") as file:
        file.write("x")
    return "0"
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def task_with(folder: Path, *pictures: bytes) -> OneTask:
    """Return a task with a sample for each picture, which no header tells to be broken."""
    task = OneTask(folder, samples=0)
    rows = []
    for number, data in enumerate(pictures):
        (folder / f"p{number}.png").write_bytes(data)
        row = {"id": number, "question": f"q{number}", "answer": "0", "picture": f"p{number}.png"}
        rows.append(json.dumps(row) + "\n")
    (folder / "sums.jsonl").write_text("".join(rows))
    (folder / "model.py").write_text(CODE)
    return task


def mistakes(task: OneTask, plan: Plan | None = None) -> list[str]:
    found = planned_pictures(plan or task.plan(MODEL), task.catalog(), lambda _: None)
    return [str(error) for error in found.mistakes.values()]


@pytest.mark.usefixtures("cache")
class TestPlannedPictures:
    def test_a_damaged_picture_is_told_with_file_sample_and_fix(self, tmp_path: Path) -> None:
        (message,) = mistakes(task_with(tmp_path, WHOLE, BROKEN, WHOLE))
        assert message.startswith(f"{tmp_path / 'p1.png'}: sample '1': the image is no picture")
        assert "damaged picture: broken PNG file (bad header checksum in b'IDAT')" in message
        assert message.endswith("save it anew, or leave it out (dataset.keep)")
        assert "\n" not in message

    def test_pictures_of_samples_that_are_not_selected_are_not_decoded(
        self, tmp_path: Path
    ) -> None:
        task = task_with(tmp_path, WHOLE, BROKEN)
        plan = task.plan(MODEL)
        assert mistakes(task, replace(plan, tests=plan.tests[:1])) == []

    def test_a_picture_that_a_sample_brings_by_a_name_is_decoded_too(self, tmp_path: Path) -> None:
        task = task_with(tmp_path, WHOLE, BROKEN)
        text = task.file.read_text().replace('images: "picture?"', "pictures: {drawn: picture}")
        task.file.write_text(text)
        (message,) = mistakes(task)
        assert message.startswith(f"{tmp_path / 'p1.png'}: sample '1': ")

    def test_a_picture_is_told_once_for_all_epochs_models_and_samples(self, tmp_path: Path) -> None:
        task = task_with(tmp_path, BROKEN, BROKEN)
        rows = (tmp_path / "sums.jsonl").read_text().replace("p1.png", "p0.png")
        (tmp_path / "sums.jsonl").write_text(rows)
        (message,) = mistakes(task, task.plan(MODEL, "openai/m", epochs=3))
        assert message.count("p0.png") == 1
        assert "sample '0' and 1 more: " in message

    def test_named_pictures_that_are_no_part_of_the_question_are_decoded_too(
        self, tmp_path: Path
    ) -> None:
        task = task_with(tmp_path, WHOLE, BROKEN)
        text = task.file.read_text()
        task.file.write_text(text.replace('images: "picture?"', "pictures: {given: picture}"))
        (message,) = mistakes(task)
        assert message.startswith(f"{tmp_path / 'p1.png'}: sample '1': the image is no picture")

    def test_of_many_damaged_pictures_some_are_named_and_the_others_counted(
        self, tmp_path: Path
    ) -> None:
        (message,) = mistakes(task_with(tmp_path, *[BROKEN] * 23))
        assert len(message.splitlines()) == 21
        assert message.endswith("and 3 more")


class Session:
    """A session over one task, without pytest."""

    def __init__(self, task: OneTask, **settings: Any) -> None:
        """Plan all samples of `task`."""
        host = Host(
            tell=lambda _: None,
            flush=lambda: None,
            root=task.folder,
            stops_early=False,
        )
        given = task.settings(models=(MODEL,), **settings)
        self.task, self.session = task, MainSession(given, task.catalog(), host)
        self.session.take_plan(task.plan(MODEL))

    @property
    def asked(self) -> int:
        """How often the model was asked."""
        file = self.task.folder / "asked"
        return len(file.read_text()) if file.exists() else 0

    def complete(self, sample: int) -> None:
        nodeid = f"t.py::t[{sample}-{MODEL}-1]"
        self.session.link.send("completion", {"nodeid": nodeid}).result()


@pytest.fixture
def session(tmp_path: Path, cache: Path) -> Iterator[Session]:
    del cache
    found = Session(task_with(tmp_path, WHOLE, BROKEN, WHOLE))
    yield found
    found.session.close("over", in_haste=True)
    found.session.conclude()


def test_nothing_of_a_task_with_a_damaged_picture_is_asked(session: Session) -> None:
    session.session.check(sends=True)
    told = []
    for sample in range(3):
        with pytest.raises(LLMEvalError) as error:
            session.complete(sample)
        told.append(error.value)
    assert "p1.png: sample '1': the image is no picture" in str(told[0])
    assert [type(one) for one in told[1:]] == [TaskStopped, TaskStopped]
    assert session.asked == 0


def test_a_mended_picture_lets_all_samples_be_asked(session: Session) -> None:
    (session.task.folder / "p1.png").write_bytes(WHOLE)
    session.session.check(sends=True)
    for sample in range(3):
        session.complete(sample)
    assert session.asked == 3


@pytest.mark.parametrize("estimate", [False, True])
def test_listing_tests_and_the_estimate_decode_nothing(
    tmp_path: Path, cache: Path, *, estimate: bool
) -> None:
    task = task_with(tmp_path, WHOLE, BROKEN)
    Session(task, estimate=estimate).session.check(sends=estimate)
    assert not cache.exists()
