"""``llmeval rescore`` over the run of a small project with recorded replies."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from pytest_llmeval.commands.main import main
from pytest_llmeval.results.stored_run import read_info, read_run, read_transcripts

Output: TypeAlias = pytest.CaptureFixture[str]

SUMS = """
name: sums
dataset: {path: data.jsonl, fields: {id: id, input: question, target: answer, tags: [kind]}}
prompt: [{user: "Q: {{ input }}"}]
answer: last_line
scorer: {sldp: {tolerance: 0.01}}
group_by: [kind]
replay: sums.jsonl
"""

JUDGED = """
name: judged
dataset: {path: data.jsonl, fields: {id: id, input: question, target: answer}}
prompt: [{user: "Q: {{ input }}"}]
answer: last_line
scorer: {judge: {prefilter: false}}
"""

TESTS = """
import pytest
from pytest_llmeval import assert_correct

@pytest.mark.llmeval("sums.yaml")
def test_sums(sample, completion):
    assert_correct(sample, completion)

@pytest.mark.llmeval("judged.yaml")
def test_judged(sample, completion):
    assert_correct(sample, completion)
"""

# Off by one in multiples of 3, no number for 4, broken for 5. A judge's call leaves a line.
MODELS = """
import pathlib, re
from pytest_llmeval import Reply

def solve(request):
    number = int(re.search(r"what is (\\d+)", request.messages[-1].text)[1])
    if number == 5:
        raise RuntimeError("the model is out")
    if number == 4:
        return Reply(text="", stop_reason="length")
    return f"Let me think.\\n{number if number % 3 == 0 else number + 1}"

def strict(request):
    with (pathlib.Path(__file__).parent / "judged.txt").open("a") as calls:
        calls.write("call\\n")
    return '{"answer_correct": %d, "reason": "strict"}' % (request.messages[-1].text.count("2") > 1)

def lenient(request):
    with (pathlib.Path(__file__).parent / "judged.txt").open("a") as calls:
        calls.write("call\\n")
    return '{"answer_correct": 1, "reason": "lenient"}'
"""

LIVE = (
    "--llmeval-model",
    "python/./models.py:solve",
    "--llmeval-judge",
    "python/./models.py:strict",
)


def run_pytest(python: str, folder: Path, *arguments: str) -> str:
    command = [python, "-m", "pytest", "-q", "-p", "pytest_llmeval.plugin", *arguments]
    environment = {**os.environ, "PYTEST_ADDOPTS": "-p no:cacheprovider -p no:xdist"}
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, warm_python: str) -> Path:
    """Return a project whose run `recorded` has one task, and `live` both."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "pytest.ini").write_text("[pytest]\nllmeval_report = runs\n")
    lines = [
        {"id": str(n), "question": f"what is {n}+1", "answer": str(n + 1), "kind": f"k{n % 2}"}
        for n in range(1, 6)
    ]
    (folder / "data.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    for name, text in (("sums.yaml", SUMS), ("judged.yaml", JUDGED), ("models.py", MODELS)):
        (folder / name).write_text(text)
    (folder / "test_all.py").write_text(TESTS)
    run_pytest(warm_python, folder, *LIVE[:2], "-k", "sums", "--llmeval-keep", "sums.jsonl")
    (folder / "runs" / "latest").resolve().rename(folder / "runs" / "kept")
    run_pytest(warm_python, folder, "-k", "sums")
    (folder / "runs" / "latest").resolve().rename(folder / "runs" / "recorded")
    run_pytest(warm_python, folder, *LIVE)
    (folder / "runs" / "latest").resolve().rename(folder / "runs" / "live")
    (folder / "runs" / "latest").unlink()
    (folder / "runs" / "latest").symlink_to("recorded")
    return folder


@pytest.fixture
def project(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the project, as if its runs had been made there."""
    folder = tmp_path / "copy"
    shutil.copytree(made, folder, symlinks=True)
    for file in folder.glob("runs/*/run.json"):
        file.write_text(file.read_text().replace(str(made), str(folder)))
    (folder / "judged.txt").unlink()
    monkeypatch.chdir(folder)
    for name in ("LLMEVAL_REPORT", "LLMEVAL_JUDGE", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    return folder


def rescore(*arguments: str) -> Path:
    """Score a run again and return the folder of the new run."""
    before = set(Path("runs").iterdir())
    assert main(["rescore", *arguments]) == 0
    [new] = set(Path("runs").iterdir()) - before
    return new


def results(folder: Path) -> dict[str, tuple[str, list[tuple[str, float | None]]]]:
    """Return outcome and scores by sample."""
    return {
        row.sample: (row.outcome, [(one.name, one.value) for one in row.scores])
        for row in read_run(folder).rows
    }


def judge_calls() -> int:
    file = Path("judged.txt")
    return len(file.read_text().split()) if file.exists() else 0


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files of a run."""
    return {str(file): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_a_run_scored_as_before_has_the_same_rows(project: Path, capsys: Output) -> None:
    old = contents(project / "runs" / "recorded")
    new = rescore("latest")
    out = " ".join(capsys.readouterr().out.split())
    assert "scored again from recorded: 0 changed, 5 the same" in out
    assert f"report: {new / 'report.html'}" in out
    before, after = (read_run(Path("runs") / name).rows for name in ("recorded", new.name))
    for one, other in zip(before, after, strict=True):
        assert one.key == other.key
        same = (
            "nodeid",
            "outcome",
            "scores",
            "answer",
            "explanation",
            "details",
            "usage",
            "groups",
        )
        assert {name: getattr(one, name) for name in (*same, "versions", "recorded")} == {
            name: getattr(other, name) for name in (*same, "versions", "recorded")
        }
    assert dict(read_transcripts(new)) == dict(read_transcripts(project / "runs" / "recorded"))
    assert (Path("runs") / "latest").resolve().name == "recorded"
    assert contents(project / "runs" / "recorded") == old


def test_another_tolerance_changes_scores_outcomes_and_figures(
    project: Path, capsys: Output
) -> None:
    assert results(Path("runs/recorded"))["3"] == ("incorrect", [("SLDP", 0.0)])
    file = project / "sums.yaml"
    file.write_text(file.read_text().replace("tolerance: 0.01", "tolerance: 1.5"))
    new = rescore("recorded")
    out = " ".join(capsys.readouterr().out.split())
    assert "sums 3 incorrect correct SLDP 0 → 1 grader" in out
    found = results(new)
    assert found["3"] == ("correct", [("SLDP", 1.0)])
    assert found["4"] == ("incorrect", [("SLDP", 0.0)])
    assert found["5"][0] == "error"
    assert read_info(new)["rescored"] == {"run": "recorded", "scorers": []}
    assert json.loads((new / "summary.json").read_text())["rescoring"]["run"] == "recorded"
    assert {"report.html", "rows.csv", "summary.md"} <= {one.name for one in new.iterdir()}
    assert main(["compare", "recorded", str(new)]) == 0
    told = capsys.readouterr().out
    assert "gained (graders differ): 1 (3)" in told
    assert "GRADERS DIFFER: SLDP by sldp/1 tolerance=0.01 case_sensitive=false in a" in told


@pytest.mark.usefixtures("project")
def test_scorers_given_by_hand_take_the_place_of_the_tasks() -> None:
    new = rescore("recorded", "--scorer", "number={absolute: 2}", "--scorer", "includes")
    assert results(new)["3"] == ("correct", [("number", 1.0), ("includes", 0.0)])
    # A reply without an answer gets the lowest value of the new scorers: no mean leaves it out.
    assert results(new)["4"] == ("incorrect", [("number", 0.0), ("includes", 0.0)])
    scorers = [{"number": {"absolute": 2}}, {"includes": {}}]
    assert read_info(new)["rescored"] == {"run": "recorded", "scorers": scorers}


def test_without_a_judge_the_stored_verdicts_are_used(
    project: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLMEVAL_JUDGE", "python/./models.py:lenient")  # no order to spend
    rescore("live")
    assert "scored again from live: 0 changed, 10 the same" in capsys.readouterr().out
    assert judge_calls() == 0
    file = project / "judged.yaml"
    file.write_text(file.read_text().replace("prefilter: false", "prefilter: false, votes: 3"))
    new = rescore("live")
    assert judge_calls() == 0
    rows = {row.sample: row for row in read_run(new).rows if row.task == "judged"}
    assert rows["1"].outcome == "error"
    assert rows["1"].answer == "2"
    assert "has no reply to this request" in rows["1"].explanation
    assert "cause no score now: 3" in capsys.readouterr().out


@pytest.mark.usefixtures("project")
def test_another_judge_is_asked_and_its_calls_are_kept(capsys: Output) -> None:
    judge = ("--judge", "python/./models.py:lenient", "--keep", "verdicts")
    new = rescore("live", *judge)
    assert judge_calls() == 3  # answers of 1, 2 and 3: 4 has none, 5 is an error
    rows = {row.sample: row for row in read_run(new).rows if row.task == "judged"}
    assert {sample: row.outcome for sample, row in rows.items()} == {
        "1": "correct",
        "2": "correct",
        "3": "correct",
        "4": "incorrect",
        "5": "error",
    }
    assert not rows["1"].cached
    info: dict[str, Any] = read_info(new)
    assert {one["judge"] for one in info["judges"]} == {"python/./models.py:lenient"}
    [asked] = [
        [(call.asked.role, call.asked.model) for call in transcript.calls]
        for key, transcript in read_transcripts(new)
        if (key.task, key.sample) == ("judged", "1")
    ]
    assert [role for role, _ in asked] == ["solver", "judge"]
    assert asked[1][1].endswith("models.py:lenient")
    capsys.readouterr()
    # The replies of the new run, and those that were kept, are not asked for again.
    rescore(new.name, "--judge", "python/./models.py:lenient")
    rescore("live", "--judge", "python/./models.py:lenient", "--reuse", "verdicts")
    assert judge_calls() == 3
    assert "0 changed, 10 the same" in capsys.readouterr().out


ASIDE = """
from dataclasses import dataclass
from pytest_llmeval import Message, Score

@dataclass(frozen=True)
class Aside:
    name: str = "aside"
    grader = "aside/1"
    scale = 1.0
    models = ()
    only_incorrect = True

    def check(self, target):
        pass

    async def prepare(self, sample, completion, context):
        [model] = context.models
        reply = await context.generate([Message.of("user", sample.input)], model=model, stage="why")
        return reply.text

    def score(self, answer, sample, prepared):
        return Score(name="aside", value=1.0, correct=None, decides=False, explanation=prepared)
"""


def test_a_scorer_of_incorrect_answers_asks_about_those_alone(project: Path) -> None:
    (project / "aside.py").write_text(ASIDE)
    scorers = ("--scorer", "sldp", "--scorer", "./aside.py:Aside")
    new = rescore("recorded", *scorers, "--judge", "python/./models.py:lenient")
    scores = {sample: [name for name, _ in found] for sample, (_, found) in results(new).items()}
    assert scores["1"] == ["SLDP"]
    assert scores["3"] == ["SLDP", "aside"]
    # Of an incorrect answer, and of a reply that holds none.
    assert judge_calls() == 2
    calls = {key.sample: len(found.calls) for key, found in read_transcripts(new)}
    assert (calls["1"], calls["3"]) == (1, 2)


def test_a_run_without_its_replies_is_scored_by_scorers_that_ask_nothing(project: Path) -> None:
    (project / "runs" / "recorded" / "replies.sqlite3").unlink()
    assert results(rescore("recorded"))["1"][0] == "correct"


def test_a_run_from_elsewhere_finds_its_task_in_this_folder(project: Path) -> None:
    file = project / "runs" / "recorded" / "run.json"
    file.write_text(file.read_text().replace(str(project), "/somewhere/else"))
    assert results(rescore("recorded"))["1"][0] == "correct"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "nowhere: no such run"),
        (["recorded", "--scorer", "eedd"], "--scorer eedd: is 'eedd'; did you mean 'eed'?"),
        (["recorded", "--scorer", "eed=5"], "--scorer eed=5: options are a mapping"),
        (["recorded", "--scorer", "eed={mode: best}"], "--scorer eed: "),
        (["live", "--judge", "gpt"], "unknown model spec 'gpt'"),
        (["recorded", "--budget", "free", "--judge", "python/./models.py:strict"], "'free'"),
    ],
)
@pytest.mark.usefixtures("project")
def test_what_cannot_be_scored_again_is_a_message(
    arguments: list[str], said: str, capsys: Output
) -> None:
    before = set(Path("runs").iterdir())
    assert main(["rescore", *arguments]) == 2
    assert said in capsys.readouterr().err
    assert set(Path("runs").iterdir()) == before


def test_samples_that_left_the_dataset_or_ask_something_else_are_told_and_lose_their_score(
    project: Path, capsys: Output
) -> None:
    _, second, *rest = (project / "data.jsonl").read_text().splitlines(keepends=True)
    new = second.replace('"2"', '"6"')
    lines = [second.replace("what is", "What is"), *rest, new]
    (project / "data.jsonl").write_text("".join(lines))
    found = rescore("recorded")
    said = capsys.readouterr().err
    assert (
        "not scored again: not in the dataset of sums.yaml any more (1 of the run's rows)" in said
    )
    assert "not scored again: sums.yaml asks something else by now (1 of the run's rows)" in said
    assert "samples of the datasets that the run has no row of: 1" in said
    rows = {row.sample: row for row in read_run(found).rows}
    assert {sample: row.outcome for sample, row in rows.items()} == {
        "1": "unscored",
        "2": "unscored",
        "3": "incorrect",
        "4": "incorrect",
        "5": "error",
    }
    assert (rows["1"].scores, rows["1"].answer) == ((), "2")
    assert rows["2"].explanation == "not scored again: sums.yaml asks something else by now"


@pytest.mark.usefixtures("project")
def test_old_against_new_is_paired_by_sample_in_every_output(capsys: Output) -> None:
    old = contents(Path("runs"))
    new = rescore("live", "--judge", "python/./models.py:lenient", "--groups")
    told = " ".join(capsys.readouterr().out.split())
    assert "judged · python/./models.py:solve" in told
    summary = json.loads((new / "summary.json").read_text())
    [judged] = [one for one in summary["rescoring"]["parts"] if one["task"] == "judged"]
    [step] = judged["steps"]
    assert (step["n"], judged["lost"]) == (4, 0)
    assert f"{100 * step['before']:.1f} % {100 * step['after']:.1f} %" in told
    # Neither the old runs nor what the newest is called have changed.
    assert {name: contents(Path("runs"))[name] for name in old} == old
    assert (Path("runs") / "latest").resolve().name == "recorded"
    assert main(["report", str(new), "--groups"]) == 0
    assert f"{100 * step['before']:.1f} % {100 * step['after']:.1f} %" in " ".join(
        capsys.readouterr().out.split()
    )
    assert main(["compare", "live", str(new), "--groups"]) == 0
    compared = " ".join(capsys.readouterr().out.split())
    assert f"accuracy {100 * step['before']:.1f} % {100 * step['after']:.1f} % 4" in compared


@pytest.mark.usefixtures("project")
def test_a_judge_is_given_options_and_a_model_at_once() -> None:
    scorer = ("--scorer", "judge={prefilter: false, votes: 3}")
    new = rescore("recorded", *scorer, "--judge", "python/./models.py:lenient")
    assert [score.value for row in read_run(new).rows for score in row.scores] == [1, 1, 1, 0]
    assert judge_calls() == 2 * 3  # two of three votes decide about the answers of 1, 2 and 3
    [grader] = {score.grader for row in read_run(new).rows for score in row.scores}
    assert "no prefilter votes=3 by python/./models.py:lenient" in grader
