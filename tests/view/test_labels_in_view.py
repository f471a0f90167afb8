"""Labels that are given in a browser, and which of them correct the accuracy."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from view.viewing import Viewer, ended, going_on, row, viewed

from pytest_llmeval.results.answer_labels import read_labels
from pytest_llmeval.results.label_choice import choose
from pytest_llmeval.results.stored_run import read_run
from pytest_llmeval.results.targets import answer_digest
from pytest_llmeval.session.labelling import keep_labels
from pytest_llmeval.session.stored import stored_findings


def answers(viewer: Viewer, run: str) -> list[Any]:
    """Return the answers to label, as their page has them."""
    text = viewer.ask(f"{run}/label").text
    return list(json.loads(text.partition('id="data">')[2].partition("</script>")[0]))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [row(number, "incorrect" if number % 4 == 0 else "correct") for number in range(60)]
    return ended(tmp_path / "reports", rows)


def address(folder: Path) -> str:
    return f"/runs/{quote(folder.name)}"


def test_labels_in_order_correct_the_accuracy_as_those_of_a_file_do(folder: Path) -> None:
    run = address(folder)
    with viewed(folder.parent) as viewer:
        drawn = answers(viewer, run)
        assert len(drawn) == len(choose(read_run(folder).rows))
        for answer in drawn:
            label = {"row": answer["row"], "correct": True, "labeller": "ann", "blind": True}
            assert viewer.post(f"{run}/labels", label).status == 200
        assert "corrected" in viewer.ask(f"{run}/").text
    [entry] = stored_findings(read_run(folder)).summary.entries
    assert entry.figures.accuracy_corrected is not None
    assert entry.figures.accuracy_corrected.value is not None
    assert entry.figures.accuracy_corrected.labels == sum(
        len(one.drawn) for one in choose(read_run(folder).rows)
    )


def test_no_answer_can_be_skipped_but_an_earlier_one_decided_anew(folder: Path) -> None:
    run = address(folder)
    with viewed(folder.parent) as viewer:
        first, second, third = answers(viewer, run)[:3]
        given = {"correct": True, "labeller": "ann", "blind": True}
        assert viewer.post(f"{run}/labels", {"row": second["row"], **given}).status == 409
        for answer in (first, second, first):
            assert viewer.post(f"{run}/labels", {"row": answer["row"], **given}).status == 200
        others = {"row": third["row"], **given, "labeller": "bob"}
        assert viewer.post(f"{run}/labels", others).status == 409


def test_a_label_of_a_samples_page_is_kept_and_corrects_nothing(folder: Path) -> None:
    run = address(folder)
    with viewed(folder.parent) as viewer:
        places = viewer.ask(f"{run}/news?since=0").json["rows"]["places"]
        for place, _ in places:
            label = {"row": place, "correct": False, "labeller": "ann"}
            assert viewer.post(f"{run}/labels", label).status == 200
    assert len(read_labels(folder)) == 60
    [entry] = stored_findings(read_run(folder)).summary.entries
    assert entry.figures.accuracy_corrected is None


def test_what_is_labelled_blind_comes_without_a_verdict(folder: Path) -> None:
    run = address(folder)
    with viewed(folder.parent) as viewer:
        for answer in answers(viewer, run)[:5]:
            assert set(answer) == {"row", "labels"}
            shown = viewer.ask(f"{run}/blind?row={answer['row']}")
            assert set(shown.json) == {
                "question",
                "prompt",
                "answer",
                "target",
                "pictures",
            }
            assert not {"correct", "incorrect", "exact"} & set(shown.text.replace('"', " ").split())


def test_nothing_is_drawn_from_a_run_that_goes_on(tmp_path: Path) -> None:
    with going_on(tmp_path, planned=2) as folder, viewed(tmp_path) as viewer:
        folder.add_row(row(1))
        answer = viewer.ask(f"{address(folder.path)}/label")
        assert answer.status == 409
        assert "once it has ended" in answer.text


def test_labels_of_a_file_and_of_two_browsers_at_once_are_all_kept(
    folder: Path, tmp_path: Path
) -> None:
    run, stored = address(folder), read_run(folder)
    file = tmp_path / "labels.jsonl"
    labelled = [
        {
            "correct": True,
            "labeller": "file",
            "task": one.row.task,
            "sample": one.row.sample,
            "digest": answer_digest(one.row.answer),
        }
        for one in choose(stored.rows)[:20]
    ]
    file.write_text("".join(f"{json.dumps(one)}\n" for one in labelled))
    with viewed(folder.parent) as ann, viewed(folder.parent) as bob:
        places = ann.ask(f"{run}/news?since=0").json["rows"]["places"][:20]

        def give(viewer: Viewer, name: str) -> None:
            for place, _ in places:
                viewer.post(f"{run}/labels", {"row": place, "correct": True, "labeller": name})

        threads = [
            threading.Thread(target=give, args=(ann, "ann")),
            threading.Thread(target=give, args=(bob, "bob")),
            threading.Thread(target=keep_labels, args=(stored, file)),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    given = [name for label in read_labels(folder) for name in label.correct]
    assert {name: given.count(name) for name in given} == {"ann": 20, "bob": 20, "file": 20}


@pytest.mark.parametrize(
    "label",
    [
        {"row": 1, "correct": True},
        {"row": 10**9, "correct": True},
        {"row": 0},
        {"row": 0, "correct": "true"},
        {"row": 0, "correct": True, "labeller": "x" * 81},
        [0, True],
    ],
)
def test_what_is_no_label_is_refused_with_a_reason(folder: Path, label: Any) -> None:
    run = address(folder)
    with viewed(folder.parent) as viewer:
        answer = viewer.post(f"{run}/labels", label)
        assert answer.status in {400, 409}
        assert answer.json["problem"]
        assert viewer.ask(f"{run}/labels").json == []


def test_a_label_shows_at_once_to_others(folder: Path) -> None:
    run = address(folder)
    with viewed(folder.parent) as viewer:
        before = viewer.ask(f"{run}/labels")
        place = viewer.ask(f"{run}/news?since=0").json["rows"]["places"][0][0]
        viewer.post(f"{run}/labels", {"row": place, "correct": False, "labeller": "<b>eve</b>"})
        after = viewer.ask(f"{run}/labels", If_None_Match=before.headers["etag"])
        assert after.json == [[place, {"<b>eve</b>": False}]]
