"""``llmeval validate`` over labelled cases, by judges that need no network."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_llmeval.commands.main import main
from pytest_llmeval.errors import UsageError
from pytest_llmeval.session.validations import read_validations

# Wrong about case "b", without a verdict about "c"; each call leaves a line.
JUDGE = """
import pathlib
from pytest_llmeval import Reply
from pytest_llmeval.records import Usage

def careful(request):
    with (pathlib.Path(__file__).parent / "calls.txt").open("a") as calls:
        calls.write("call\\n")
    text = request.messages[-1].text
    if "case c" in text:
        return "I cannot tell."
    return '{"answer_correct": %d, "reason": "seen"}' % ("right" in text or "case b" in text)

def rates(request):
    text = request.messages[-1].text
    return '{"rating": %d, "reason": "seen"}' % (9 if "right" in text else 5)

def _fails(request, name):
    text = request.messages[-1].text
    case = next(case for case in "abcde" if f"case {case}" in text)
    if case in (pathlib.Path(__file__).parent / name).read_text():
        raise RuntimeError("not this one")
    return '{"answer_correct": 1, "reason": "fine"}'

def first(request):
    return _fails(request, "first.txt")

def second(request):
    return _fails(request, "second.txt")

def lenient(request):
    return '{"answer_correct": 1, "reason": "why not"}'

def broken(request):
    raise RuntimeError("out")

def dear(request):
    usage = Usage(requests=1, input_tokens=900)
    return Reply(text='{"answer_correct": 1, "reason": "paid"}', usage=usage)

def fastidious(request):
    if "case f" not in request.messages[-1].text:
        raise RuntimeError("not this one")
    return '{"answer_correct": 1, "reason": "at last"}'
"""

CASES = """
- {id: a, kind: plain, question: case a, target: "5", answer: right, correct: true}
- {id: b, kind: plain, question: case b, target: "5", answer: wrong, correct: false}
- {id: c, kind: odd, question: case c, target: "5", answer: right, correct: true}
- {id: d, kind: odd, question: case d, target: "5", answer: wrong, correct: false}
- {id: e, kind: odd, question: case e, target: "5", answer: "The answer is 5", correct: true}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "judge.py").write_text(JUDGE)
    (tmp_path / "cases.yaml").write_text(CASES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def validate(*arguments: str) -> int:
    return main(["validate", "--cases", "cases.yaml", "--out", "kept", *arguments])


def kept(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(Path("kept", name).read_text("utf-8"))
    return data


def test_a_judge_that_refuses_all_cases_but_the_last_is_measured_by_that_one(folder: Path) -> None:
    last = CASES.splitlines()[-1].replace("id: e", "id: f").replace("case e", "case f")
    (folder / "cases.yaml").write_text(f"{CASES}{last}\n")
    assert validate("--judge", "python/./judge.py:fastidious") == 0
    data = kept("python-.-judge.py-fastidious-judge-1-prompt-00895f1b.json")
    assert (data["all"]["n"], data["all"]["unscored"]) == (6, 5)


@pytest.mark.usefixtures("folder")
def test_a_judge_that_refuses_all_cases_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert validate("--judge", "python/./judge.py:broken") != 0
    assert "none of 5 cases was judged; " in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_a_judge_is_measured_told_and_kept(capsys: pytest.CaptureFixture[str]) -> None:
    assert validate("--judge", "python/./judge.py:careful") == 0
    data = kept("python-.-judge.py-careful-judge-1-prompt-00895f1b.json")
    assert (data["judge"], data["question"], data["votes"]) == (
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
    [read] = read_validations(Path("kept"))
    assert (read.judge, read.kappa, read.n) == ("python/./judge.py:careful", 0.0, 5)


@pytest.mark.usefixtures("folder")
def test_several_judges_are_measured_each_and_together_and_votes_among_each_other() -> None:
    judges = ["--judge", "python/./judge.py:careful", "--judge", "python/./judge.py:lenient"]
    assert validate(*judges, "--votes", "2") == 0
    found = {one.judge: one for one in read_validations(Path("kept"))}
    together = "python/./judge.py:careful + python/./judge.py:lenient"
    assert set(found) == {"python/./judge.py:careful", "python/./judge.py:lenient", together}
    # together they decide where both agree: a and b
    assert found[together].unscored == 3
    assert {one.votes for one in found.values()} == {2}
    assert (
        kept("python-.-judge.py-careful-judge-1-prompt-00895f1b-votes-2.json")["all"]["votes_kappa"]
        == 1.0
    )


def test_a_judge_whose_replies_were_kept_is_asked_nothing_again(folder: Path) -> None:
    judge = ["--judge", "python/./judge.py:careful"]
    assert validate(*judge, "--keep", "kept_replies") == 0
    assert len((folder / "calls.txt").read_text().split()) == 4 + 4
    first = kept("python-.-judge.py-careful-judge-1-prompt-00895f1b.json")
    assert validate(*judge, "--reuse", "kept_replies", "--keep", "replies.jsonl") == 0
    assert validate("--judge", "replay/replies.jsonl") == 0
    assert len((folder / "calls.txt").read_text().split()) == 4 + 4
    replayed = kept("replay-replies.jsonl-judge-1-prompt-00895f1b.json")
    assert (
        {**replayed, "judge": first["judge"]}
        == first
        == kept("python-.-judge.py-careful-judge-1-prompt-00895f1b.json")
    )


@pytest.mark.usefixtures("folder")
def test_a_judge_that_is_out_leaves_no_validation(capsys: pytest.CaptureFixture[str]) -> None:
    assert validate("--judge", "python/./judge.py:broken") == 2
    assert "raised RuntimeError: out" in capsys.readouterr().err
    assert not Path("kept").exists()


@pytest.mark.usefixtures("folder")
def test_without_a_judge_the_prefilter_alone_is_measured(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert validate() == 0
    assert "name one by --judge SPEC" in capsys.readouterr().out
    assert not Path("kept").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--cases", "none.yaml"], "none.yaml"),
        (["--cases", "bad.yaml"], "bad.yaml:1: correct: row 1: must be true or false"),
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
        "- {id: a, kind: k, target: '1', answer: '1', correct: 'yes'}\n"
    )
    assert validate(*arguments) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "text", ["[]", "{}", '{"schema": 9}', '{"schema": 1, "all": {"kappa_95": 3}}']
)
def test_a_file_that_is_no_validation_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(UsageError, match=r"a\.json"):
        read_validations(tmp_path)


class Answers(BaseHTTPRequestHandler):
    """Finds every answer correct; the model `shut` takes no key, `odd` refuses case b."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        model, text = body["model"], json.dumps(body["messages"])
        status = 401 if model == "shut" else 400 if model == "odd" and "case b" in text else 200
        verdict = '{"answer_correct": 1, "reason": "fine"}'
        found = {"choices": [{"message": {"content": verdict}, "finish_reason": "stop"}]}
        refused = {"error": {"message": f"no answer of {model}", "code": "refused"}}
        sent = json.dumps(found if status == 200 else refused).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, format: str, *_: object) -> None:  # noqa: A002 - the base class's name
        """Print nothing."""


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"base_url=http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


@pytest.mark.usefixtures("folder")
def test_a_judge_that_fails_for_good_is_told_and_the_others_are_measured(
    address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    judges = [f"openai/{name},{address}" for name in ("shut", "open")]
    typed = [word for judge in judges for word in ("--judge", judge)]
    assert validate(*typed) == 2
    [found] = read_validations(Path("kept"))
    assert (found.judge, found.n, found.unscored) == (judges[1], 5, 0)
    told = capsys.readouterr().err
    assert f"{judges[0]}: none of 5 cases was judged; " in told
    assert "no answer of shut" in told


@pytest.mark.usefixtures("folder")
def test_a_failed_call_is_charged_to_the_judge_that_made_it(
    address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    judges = [f"openai/{name},{address}" for name in ("odd", "open", "third")]
    typed = [word for judge in judges for word in ("--judge", judge)]
    assert validate(*typed) == 0
    found = {one.judge: one.unscored for one in read_validations(Path("kept"))}
    assert found == {**dict(zip(judges, (1, 0, 0), strict=True)), " + ".join(judges): 0}
    told = capsys.readouterr().err
    assert f"{judges[0]}: 1 unscored of 5 cases, because of a failure: " in told
    assert "openai/open" not in told


@pytest.mark.usefixtures("folder")
def test_what_was_paid_before_the_budget_was_spent_is_kept(
    capsys: pytest.CaptureFixture[str],
) -> None:
    dear = ["--judge", "python/./judge.py:dear", "--concurrency", "1"]
    assert validate(*dear, "--budget", "2500tok") == 0
    [found] = read_validations(Path("kept"))
    assert (0 < found.n < 5, found.unscored) == (True, 0)
    told = capsys.readouterr().err
    assert f"{5 - found.n} not asked of 5 cases, because of a failure: " in told


@pytest.mark.usefixtures("folder")
def test_another_question_makes_another_validation() -> None:
    """A run finds a validation only if judge, question and votes are the same."""
    judge = ["--judge", "python/./judge.py:careful"]
    assert validate(*judge) == 0
    assert validate(*judge, "--scorer", "judge={votes: 3}") == 0
    assert validate(*judge, "--scorer", "judge={votes: 3}", "--votes", "2") == 0
    assert {one.votes for one in read_validations(Path("kept"))} == {1, 2, 3}


def test_cases_in_the_form_of_verifier_bench_are_read(folder: Path) -> None:
    (folder / "cases.yaml").unlink()
    rows = Path(__file__).with_name("verifier_bench.jsonl").read_text("utf-8")
    (folder / "cases.jsonl").write_text(rows)
    judge = ["--judge", "python/./judge.py:lenient"]
    assert main(["validate", "--cases", "cases.jsonl", "--out", "kept", *judge]) == 0
    data = kept("python-.-judge.py-lenient-judge-1-prompt-00895f1b.json")
    # A is correct; B and C are not, and C has figures of its own.
    assert data["all"]["confusion"] == {
        "true_positives": 3,
        "false_negatives": 0,
        "true_negatives": 0,
        "false_positives": 5,
    }
    assert {kind: figures["n"] for kind, figures in data["kinds"].items()} == {
        "Knowledge": 2,
        "Math": 4,
        "invalid": 2,
    }
    assert data["kinds"]["invalid"]["kappa"] is None


def test_a_row_without_a_label_is_no_case_yet(folder: Path) -> None:
    (folder / "cases.yaml").unlink()
    (folder / "cases.csv").write_text(
        "id,kind,question,target,answer,correct\n"
        "a,random,case a,5,right,true\n"
        "b,random,case b,5,wrong,\n"
        "c,random,case d,5,wrong,False\n"
    )
    judge = ["--judge", "python/./judge.py:lenient"]
    assert main(["validate", "--cases", "cases.csv", "--out", "kept", *judge]) == 0
    data = kept("python-.-judge.py-lenient-judge-1-prompt-00895f1b.json")
    assert (data["all"]["n"], [one["id"] for one in data["differing"]]) == (2, ["c"])


def test_any_question_is_validated_by_its_own_template_and_scale(folder: Path) -> None:
    (folder / "cases.yaml").write_text(
        "- {id: a, kind: k, question: case a, target: '', answer: right, correct: true, "
        "context: the source}\n"
        "- {id: b, kind: k, question: case d, target: '', answer: wrong, correct: false, "
        "context: the source}\n"
    )
    judge = ["--judge", "python/./judge.py:rates"]
    assert validate(*judge, "--scorer", "judge={prompt: helpfulness, minimum: 8}") == 0
    assert validate(*judge, "--scorer", "judge={prompt: helpfulness, minimum: 3}") == 0
    found = {one.options: one for one in read_validations(Path("kept"))}
    assert set(found) == {"votes=1 minimum=8", "votes=1 minimum=3"}
    # It rates the right answer 9 and the wrong one 5.
    assert found["votes=1 minimum=8"].false_positives == 0
    assert found["votes=1 minimum=3"].false_positives == 1
    assert {one.question.split()[0] for one in found.values()} == {"helpfulness/1"}
    faithful = ["--judge", "python/./judge.py:careful", "--scorer", "judge={prompt: faithfulness}"]
    assert validate(*faithful) == 0
    questions = {one.question.split()[0] for one in read_validations(Path("kept"))}
    assert questions == {"helpfulness/1", "faithfulness/1"}


@pytest.mark.parametrize(
    ("scorer", "message"),
    [
        ("exact", "--scorer exact: asks no judge"),
        ("judge={votes: 0}", "--scorer judge: "),
        ("judge={pictures: true}", "labelled cases have no pictures"),
        ("judge={prompt: faithfulness}", "cases.yaml: case 'a': "),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_question_that_cannot_be_asked_is_told_before_a_judge_is(
    scorer: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert validate("--judge", "python/./judge.py:careful", "--scorer", scorer) == 2
    assert message in capsys.readouterr().err
    assert not Path("calls.txt").exists()


@given(st.sets(st.sampled_from("abcde")), st.sets(st.sampled_from("abcde")))
@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_whatever_calls_fail_each_judge_answers_for_its_own(
    folder: Path, one: set[str], other: set[str]
) -> None:
    shutil.rmtree(folder / "kept", ignore_errors=True)
    failing = {"first": one, "second": other}
    for name, cases in failing.items():
        (folder / f"{name}.txt").write_text("".join(cases))
    judges = [f"python/./judge.py:{name}" for name in failing]
    typed = [word for judge in judges for word in ("--judge", judge)]
    status = validate(*typed)
    found = {one.judge: one.n - one.unscored for one in read_validations(folder / "kept")}
    verdicts = dict(zip(judges, (5 - len(cases) for cases in failing.values()), strict=True))
    # Two judges decide where both have a verdict; a judge without any leaves no file.
    verdicts[" + ".join(judges)] = 5 - len(one | other)
    assert found == {judge: n for judge, n in verdicts.items() if n}
    assert status == (0 if all(verdicts.values()) else 2)


@pytest.mark.usefixtures("folder")
def test_figures_that_cannot_be_kept_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    judge = ["--judge", "python/./judge.py:lenient"]
    assert main(["validate", "--cases", "cases.yaml", "--out", "cases.yaml/kept", *judge]) == 2
    shown = capsys.readouterr()
    assert "100.0 %" in shown.out
    assert "the validation cannot be written" in shown.err
