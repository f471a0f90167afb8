"""``llmeval label``: answers of a run to label, and their labels."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_llmeval.commands.main import main
from pytest_llmeval.records import Row, Score
from pytest_llmeval.results.answer_labels import read_labels
from pytest_llmeval.session.labelled_cases import read_cases

SAMPLES = 60

TASK = """
name: demo
dataset:
  path: data.jsonl
  fields: {id: id, input: question, target: answer, metadata: {context: context}}
prompt: [{user: "{{ input }}"}]
answer: last_line
scorer: exact
"""


def answer_of(number: int) -> str:
    return f"-{number}"


def outcome_of(number: int) -> str:
    return "correct" if number < 40 else "incorrect" if number < 55 else "unscored"


def row(number: int) -> Row:
    outcome: Any = outcome_of(number)
    correct = None if outcome == "unscored" else outcome == "correct"
    value = None if correct is None else float(correct)
    return Row(
        test="test_demo.py::test",
        task="demo",
        sample=str(number),
        model="openai/a",
        epoch=1,
        nodeid=f"test_demo.py::test[{number}]",
        outcome=outcome,
        scores=(Score(name="exact", value=value, correct=correct, explanation="as scored"),),
        answer=answer_of(number),
        target=f"-{number}",
        stop_reason="stop",
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a run of 60 answers: 40 correct, 15 incorrect, 5 unscored."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "task.yaml").write_text(TASK)
    data = [
        {"id": str(n), "question": f"what is {n}?", "answer": f"-{n}", "context": "c"}
        for n in range(SAMPLES)
    ]
    (tmp_path / "data.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in data))
    run = tmp_path / "reports" / "20261123T000000Z-abc"
    run.mkdir(parents=True)
    info = {
        "schema": 1,
        "started": "2026-11-23T00:00:00+00:00",
        "planned": SAMPLES,
        "settings": {"folder": str(tmp_path)},
        "tasks": {str(tmp_path / "task.yaml"): {"name": "demo", "info": {"title": "demo"}}},
    }
    (run / "run.json").write_text(json.dumps(info))
    rows = (json.dumps(row(number).to_json()) for number in range(SAMPLES))
    (run / "rows.jsonl").write_text("".join(f"{line}\n" for line in rows))
    return run


def label(*arguments: str) -> int:
    return main(["label", "20261123T000000Z-abc", *arguments])


def exported(file: str) -> list[dict[str, Any]]:
    text = Path(file).read_text("utf-8")
    if file.endswith(".csv"):
        return list(csv.DictReader(text.splitlines()))
    if file.endswith(".yaml"):
        found: list[dict[str, Any]] = yaml.safe_load(text)
        return found
    return [json.loads(line) for line in text.splitlines()]


def fill(file: str, labels: dict[str, Any], **more: Any) -> None:
    """Write labels by sample into an exported file, as a person would."""
    rows = [{**one, **more} for one in exported(file)]
    for one in rows:
        one["correct"] = labels.get(one["sample"].lstrip("'"), one["correct"])
    if file.endswith(".csv"):
        with Path(file).open("w", newline="") as out:
            writer = csv.DictWriter(out, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    elif file.endswith(".yaml"):
        Path(file).write_text(yaml.safe_dump(rows))
    else:
        Path(file).write_text("".join(f"{json.dumps(one)}\n" for one in rows))


@pytest.mark.usefixtures("folder")
def test_a_random_and_an_uncertain_part_are_exported_blind() -> None:
    assert label("--out", "labels.jsonl", "--count", "42") == 0
    rows = exported("labels.jsonl")
    parts = {one["sample"]: one["kind"] for one in rows}
    drawn = {one["sample"] for one in rows if one["drawn"]}
    assert drawn == {sample for sample, part in parts.items() if part == "random"}
    assert len(drawn) == 28
    # The unscored ones that were not drawn anyway.
    uncertain = {sample for sample, part in parts.items() if part == "uncertain"}
    assert uncertain == {str(n) for n in range(55, 60)} - drawn
    assert all({"outcome", "reason"}.isdisjoint(one) for one in rows)
    assert "as scored" not in Path("labels.jsonl").read_text()
    one = next(one for one in rows if one["sample"] == "7") if "7" in parts else rows[0]
    number = one["sample"]
    assert (one["question"], one["target"], one["answer"], one["correct"]) == (
        f"what is {number}?",
        f"-{number}",
        f"-{number}",
        None,
    )


@pytest.mark.usefixtures("folder")
def test_the_random_part_is_that_of_the_seed_and_the_order_tells_nothing() -> None:
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        assert label("--out", f"{name}.jsonl", "--seed", seed) == 0
    a, b, c = ([one["sample"] for one in exported(f"{name}.jsonl")] for name in "abc")
    assert a == b != c
    kinds = [one["kind"] for one in exported("a.jsonl")]
    assert kinds != sorted(kinds)


@pytest.mark.usefixtures("folder")
def test_the_verdict_is_shown_on_demand() -> None:
    assert label("--out", "labels.jsonl", "--show-verdict") == 0
    for one in exported("labels.jsonl"):
        assert one["outcome"] == outcome_of(int(one["sample"]))


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "yaml"])
def test_labels_come_back_in_every_format_and_correct_the_accuracy(
    folder: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = f"labels.{suffix}"
    assert label("--out", file) == 0
    fill(file, {str(n): n < 50 for n in range(SAMPLES)})
    assert label("--read", file) == 0
    assert "have no label yet" not in capsys.readouterr().out
    kept = read_labels(folder)
    assert {one.sample: one.verdict for one in kept if one.drawn}.items() <= {
        str(n): n < 50 for n in range(SAMPLES)
    }.items()
    assert main(["report", folder.name]) == 0
    summary = json.loads((folder / "summary.json").read_text())
    found = summary["entries"][0]["tally"]["accuracy_corrected"]
    scored = [one for one in kept if one.drawn and int(one.sample) < 55]
    assert (found["method"], found["labels"]) == ("labels", len(scored))
    # 40 of 55 are scored correct, and rightly; of the others 10 of 15 are correct as well.
    missed = [int(one.sample) < 50 for one in scored if int(one.sample) >= 40]
    assert found["value"] == pytest.approx(40 / 55 + 15 / 55 * sum(missed) / len(missed))
    assert found["low"] < 50 / 55 < found["high"]
    text = capsys.readouterr().out
    assert "accuracy corrected" in text
    assert f"accuracy corrected by {len(scored)} labels of its own answers" in text


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "yaml"])
@pytest.mark.usefixtures("folder")
def test_a_labelled_file_is_one_of_cases_too(suffix: str) -> None:
    file = f"labels.{suffix}"
    assert label("--out", file) == 0
    rows = exported(file)
    samples = [one["sample"].lstrip("'") for one in rows][:12]
    fill(file, {sample: int(sample) < 50 for sample in samples})
    cases = read_cases(Path(file))
    assert [case.answer for case in cases] == [answer_of(int(sample)) for sample in samples]
    assert [case.correct for case in cases] == [int(sample) < 50 for sample in samples]
    assert {case.sample.metadata["context"] for case in cases} == {"c"}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"sample": "99"}, "sample: row 2: the run has no sample '99' of the task 'demo'"),
        ({"digest": "sha256:0000"}, "digest: row 2: sha256:0000 is of no answer that this run has"),
        ({"correct": "perhaps"}, "correct: row 2: must be true or false, not 'perhaps'"),
        ({"correct": 1}, "correct: row 2: must be true or false, not 1"),
        ({"drawn": "today"}, "drawn: row 2: is not what llmeval label wrote"),
    ],
)
def test_a_label_that_is_wrong_is_told_with_its_line_and_none_is_kept(
    folder: Path, change: dict[str, Any], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert label("--out", "labels.jsonl") == 0
    rows = [{**one, "correct": True} for one in exported("labels.jsonl")]
    rows[1] |= change
    Path("labels.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in rows))
    assert label("--read", "labels.jsonl") == 2
    told = capsys.readouterr().err
    assert f"labels.jsonl:2: {problem}" in told
    assert told.count("labels.jsonl:") == 1
    assert not (folder / "labels.jsonl").exists()


def test_of_several_labellers_the_majority_counts_and_their_kappa_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert label("--out", "one.jsonl") == 0
    assert label("--out", "two.jsonl") == 0
    fill("one.jsonl", {str(n): n % 2 == 0 for n in range(SAMPLES)}, labeller="ann")
    fill("two.jsonl", {str(n): n % 2 == 0 and n != 4 for n in range(SAMPLES)}, labeller="bob")
    assert label("--read", "one.jsonl") == 0
    assert label("--read", "two.jsonl") == 0
    assert "the two labellers agree by kappa 0.9" in capsys.readouterr().out
    verdicts = {one.sample: one.verdict for one in read_labels(folder)}
    assert {verdict for sample, verdict in verdicts.items() if int(sample) % 2} == {False}
    assert verdicts.get("4") is None
    # Who labels again corrects the label that he gave.
    fill("two.jsonl", {"4": True}, labeller="bob")
    assert label("--read", "two.jsonl") == 0
    assert {one.sample: one.verdict for one in read_labels(folder)}.get("4") in {True, None}


def test_answers_to_another_question_are_not_shown_with_the_new_one(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]
    lines = (json.dumps({**one, "question": "0123456789abcdef"}) for one in rows)
    (folder / "rows.jsonl").write_text("".join(f"{line}\n" for line in lines))
    assert label("--out", "labels.jsonl") == 2
    assert "asks something else by now" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_rows_without_a_label_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert label("--out", "labels.jsonl", "--count", "42") == 0
    rows = exported("labels.jsonl")
    fill("labels.jsonl", {one["sample"]: True for one in rows[:9]})
    assert label("--read", "labels.jsonl") == 0
    told = capsys.readouterr().out
    assert "9 labels read" in told
    assert f"{len(rows) - 9} rows of labels.jsonl have no label yet" in told


@pytest.mark.usefixtures("folder")
def test_what_cannot_be_exported_or_read_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    Path("there.jsonl").write_text("")
    wanted = {
        ("--out", "there.jsonl"): "is there already",
        ("--out", "labels.txt"): "name a file that ends in .jsonl, .csv",
        ("--out", "x.jsonl", "--task", "other"): "no rows of the task 'other' (in it: demo)",
        ("--read", "none.jsonl"): "none.jsonl",
    }
    for arguments, message in wanted.items():
        assert label(*arguments) == 2
        assert message in capsys.readouterr().err
    assert label("--out", "empty.jsonl") == 0
    assert label("--read", "empty.jsonl") == 2
    assert "no row has a label" in capsys.readouterr().err


def test_a_run_that_is_scored_again_keeps_the_labels(folder: Path) -> None:
    assert label("--out", "labels.jsonl") == 0
    fill("labels.jsonl", {str(n): n < 50 for n in range(SAMPLES)})
    assert label("--read", "labels.jsonl") == 0
    assert main(["rescore", folder.name]) == 0
    [again] = [one for one in folder.parent.glob("*Z-*") if one != folder]
    assert read_labels(again) == read_labels(folder)
    summary = json.loads((again / "summary.json").read_text())
    # Scored exactly, all 60 answers are correct; the labels know better of ten.
    found = summary["entries"][0]["tally"]
    assert found["accuracy"]["value"] == 1.0
    assert found["accuracy_corrected"]["labels"] == 40
    assert found["accuracy_corrected"]["value"] < 1.0
