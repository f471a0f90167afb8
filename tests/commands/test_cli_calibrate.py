"""``llmeval calibrate`` over labelled cases, by judges that need no network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.commands.main import main
from pytest_llmeval.errors import UsageError
from pytest_llmeval.session.calibrations import read_calibrations

# Wrong about case "b", without a verdict about "c"; each call leaves a line.
JUDGE = """
import pathlib

def careful(request):
    with (pathlib.Path(__file__).parent / "calls.txt").open("a") as calls:
        calls.write("call\\n")
    text = request.messages[-1].text
    if "case c" in text:
        return "I cannot tell."
    return '{"answer_correct": %d, "reason": "seen"}' % ("right" in text or "case b" in text)

def lenient(request):
    return '{"answer_correct": 1, "reason": "why not"}'

def broken(request):
    raise RuntimeError("out")

def fastidious(request):
    if "case f" not in request.messages[-1].text:
        raise RuntimeError("not this one")
    return '{"answer_correct": 1, "reason": "at last"}'
"""

CASES = """
- {id: a, kind: plain, problem: case a, target: "5", candidate: right, equivalent: true}
- {id: b, kind: plain, problem: case b, target: "5", candidate: wrong, equivalent: false}
- {id: c, kind: odd, problem: case c, target: "5", candidate: right, equivalent: true}
- {id: d, kind: odd, problem: case d, target: "5", candidate: wrong, equivalent: false}
- {id: e, kind: odd, problem: case e, target: "5", candidate: "The answer is 5", equivalent: true}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "judge.py").write_text(JUDGE)
    (tmp_path / "cases.yaml").write_text(CASES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def calibrate(*arguments: str) -> int:
    return main(["calibrate", "--cases", "cases.yaml", "--out", "kept", *arguments])


def kept(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(Path("kept", name).read_text("utf-8"))
    return data


def test_a_judge_that_refuses_all_cases_but_the_last_is_measured_by_that_one(folder: Path) -> None:
    last = CASES.splitlines()[-1].replace("id: e", "id: f").replace("case e", "case f")
    (folder / "cases.yaml").write_text(f"{CASES}{last}\n")
    assert calibrate("--judge", "python/./judge.py:fastidious") == 0
    data = kept("python-.-judge.py-fastidious-judge-1-prompt-00895f1b.json")
    assert (data["all"]["n"], data["all"]["unscored"]) == (6, 5)


@pytest.mark.usefixtures("folder")
def test_a_judge_that_refuses_all_cases_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert calibrate("--judge", "python/./judge.py:broken") != 0
    assert "none of 5 cases was judged; " in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_a_judge_is_measured_told_and_kept(capsys: pytest.CaptureFixture[str]) -> None:
    assert calibrate("--judge", "python/./judge.py:careful") == 0
    data = kept("python-.-judge.py-careful-judge-1-prompt-00895f1b.json")
    assert (data["judge"], data["prompt"], data["votes"]) == (
        "python/./judge.py:careful",
        "judge/1 prompt 00895f1b",
        1,
    )
    # e holds neither word and is refused: scored are a, b, d, e, right about a and d
    assert {
        name: data["all"][name]
        for name in ("n", "unscored", "accuracy", "false_positives", "kappa")
    } == {
        "n": 5,
        "unscored": 1,
        "accuracy": 0.5,
        "false_positives": 1,
        "kappa": 0.0,
    }
    low, high = data["all"]["accuracy_95"]
    assert low < 0.5 < high
    assert list(data["kinds"]) == ["odd", "plain"]
    assert [(one["id"], one["verdict"]) for one in data["differing"]] == [
        ("b", True),
        ("c", None),
        ("e", False),
    ]
    assert data["prefilter"] == {"version": "prefilter/4", "decided": 1, "wrong": 0}
    output = capsys.readouterr().out
    assert "prefilter/4 decides 1 of 5 cases without a judge (20%), 0 of them wrongly" in output
    assert "kept in kept/python-.-judge.py-careful-judge-1-prompt-00895f1b.json" in output
    [read] = read_calibrations(Path("kept"))
    assert (read.judge, read.kappa, read.n) == ("python/./judge.py:careful", 0.0, 5)


@pytest.mark.usefixtures("folder")
def test_several_judges_are_measured_each_and_together_and_votes_among_each_other() -> None:
    judges = ["--judge", "python/./judge.py:careful", "--judge", "python/./judge.py:lenient"]
    assert calibrate(*judges, "--votes", "2") == 0
    found = {one.judge: one for one in read_calibrations(Path("kept"))}
    together = "python/./judge.py:careful + python/./judge.py:lenient"
    assert set(found) == {"python/./judge.py:careful", "python/./judge.py:lenient", together}
    # together they decide where both agree: a and b
    assert found[together].unscored == 3
    assert {one.votes for one in found.values()} == {2}
    assert (
        kept("python-.-judge.py-careful-judge-1-prompt-00895f1b-2-votes.json")["all"]["votes_kappa"]
        == 1.0
    )


def test_a_judge_whose_replies_were_kept_is_asked_nothing_again(folder: Path) -> None:
    judge = ["--judge", "python/./judge.py:careful"]
    assert calibrate(*judge, "--keep", "kept_replies") == 0
    assert len((folder / "calls.txt").read_text().split()) == 4 + 4
    first = kept("python-.-judge.py-careful-judge-1-prompt-00895f1b.json")
    assert calibrate(*judge, "--reuse", "kept_replies", "--keep", "replies.jsonl") == 0
    assert calibrate("--judge", "replay/replies.jsonl") == 0
    assert len((folder / "calls.txt").read_text().split()) == 4 + 4
    replayed = kept("replay-replies.jsonl-judge-1-prompt-00895f1b.json")
    assert (
        {**replayed, "judge": first["judge"]}
        == first
        == kept("python-.-judge.py-careful-judge-1-prompt-00895f1b.json")
    )


@pytest.mark.usefixtures("folder")
def test_a_judge_that_is_out_leaves_no_calibration(capsys: pytest.CaptureFixture[str]) -> None:
    assert calibrate("--judge", "python/./judge.py:broken") == 2
    assert "raised RuntimeError: out" in capsys.readouterr().err
    assert not Path("kept").exists()


@pytest.mark.usefixtures("folder")
def test_without_a_judge_the_prefilter_alone_is_measured(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert calibrate() == 0
    assert "name one by --judge SPEC" in capsys.readouterr().out
    assert not Path("kept").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--cases", "none.yaml"], "none.yaml"),
        (["--cases", "bad.yaml"], "bad.yaml:1: equivalent: row 1: must be true or false"),
        (["--judge", "gpt"], "unknown model spec 'gpt'"),
        (
            ["--judge", "openai/a", "--judge", "openai/b", "--keep", "x.jsonl"],
            "--llmeval-keep x.jsonl takes one --llmeval-judge",
        ),
        (["--concurrency", "0"], "--llmeval-concurrency: '0' is not a whole number from 1 on"),
        (
            ["--judge", "python/./judge.py:careful", "--budget", "5 euros"],
            "the budget is '5 euros'",
        ),
    ],
)
def test_what_cannot_be_measured_is_told(
    folder: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "bad.yaml").write_text(
        "- {id: a, kind: k, target: '1', candidate: '1', equivalent: 'yes'}\n"
    )
    assert calibrate(*arguments) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "text", ["[]", "{}", '{"schema": 9}', '{"schema": 1, "all": {"kappa_95": 3}}']
)
def test_a_file_that_is_no_calibration_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(UsageError, match=r"a\.json"):
        read_calibrations(tmp_path)
