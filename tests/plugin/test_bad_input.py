"""Bad input gets an error that names the thing, the value and the fix, before anything is asked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

SCRIPTED = ["--llmeval-model", "python/./model.py:reply"]

ALIAS_BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join(['*' + before] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def rows(*entries: dict[str, object]) -> str:
    return "".join(json.dumps(entry) + "\n" for entry in entries)


ROW = {"id": 1, "question": "what is 1+1", "answer": "2", "kind": "odd"}

TASKS = {
    "unknown key": ("solvr: direct\n", ["*task.yaml:12: solvr:*"]),
    "wrong type": ("version: soon\n", ["*task.yaml:12: version:*'soon'*"]),
    "alias bomb": (ALIAS_BOMB, ["*task.yaml:*alias*"]),
    "not YAML": ("a: [\n", ["*task.yaml:1*"]),
    "unknown solver": ("solver: magic\n", ["*task.yaml:12: solver:*magic*direct*"]),
}


@pytest.mark.parametrize(("addition", "lines"), TASKS.values(), ids=TASKS.keys())
@pytest.mark.parametrize("mode", [["-n0"], ["-n2"]], ids=["-n0", "-n2"])
def test_a_wrong_task_is_an_error_with_file_line_and_key(
    project: Project, mode: list[str], addition: str, lines: list[str]
) -> None:
    project.write("task.yaml", (project.path / "task.yaml").read_text() + addition)
    result = project.run(*SCRIPTED, *mode)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(lines)
    assert "Traceback" not in result.stdout.str()
    assert project.calls() == []


DATA = {
    "duplicate id": (rows(ROW, ROW), ["*data.jsonl:2*id*1*"]),
    "missing target": (rows({**ROW, "answer": ""}), ["*data.jsonl:1*answer*"]),
    "empty dataset": ("", ["*data.jsonl*has no samples*"]),
    "not JSON": ("{'id': 1}\n", ["*data.jsonl:1*"]),
    "no SLDP": (rows({**ROW, "answer": "<a, "}), ["*data.jsonl:1*SLDP*"]),
}


@pytest.mark.parametrize(("data", "lines"), DATA.values(), ids=DATA.keys())
def test_a_wrong_dataset_is_an_error_with_file_and_row(
    project: Project, data: str, lines: list[str]
) -> None:
    project.write("data.jsonl", data)
    result = project.run(*SCRIPTED)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(lines)
    assert project.calls() == []


IMAGES = {
    "missing": ("images/none.png", "*data.jsonl:1*images/none.png*"),
    "outside": ("../../etc/passwd", "*data.jsonl:1*../../etc/passwd*folder*"),
    "absolute": ("/etc/passwd", "*data.jsonl:1*/etc/passwd*folder*"),
}


@pytest.mark.parametrize(("image", "line"), IMAGES.values(), ids=IMAGES.keys())
def test_an_image_that_is_missing_or_outside_is_an_error(
    project: Project, image: str, line: str
) -> None:
    task = (
        (project.path / "task.yaml")
        .read_text()
        .replace("tags: [kind]", "tags: [kind], images: [images]")
    )
    project.write("task.yaml", task)
    project.write("data.jsonl", rows({**ROW, "images": [image]}))
    result = project.run(*SCRIPTED)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([line])


OPTIONS = {
    "unknown model": (["--llmeval-model", "gpt-5"], "*unknown model spec 'gpt-5'*openai/NAME*"),
    "no such file": (["--llmeval-model", "replay/none.jsonl"], "*replay/none.jsonl*no file*"),
    "no such function": (["--llmeval-model", "python/./model.py"], "*names no callable*"),
    "concurrency": (
        [*SCRIPTED, "--llmeval-concurrency", "0"],
        "*--llmeval-concurrency: '0' is not a whole number*",
    ),
    "time-out": (
        [*SCRIPTED, "--llmeval-sample-timeout", "nan"],
        "*--llmeval-sample-timeout: 'nan' is not a number above 0*",
    ),
    "set": (
        [*SCRIPTED, "--llmeval-set", "sums"],
        "*--llmeval-set: 'sums' is not of the form TASK.KEY=VALUE*",
    ),
    "set task": (
        [*SCRIPTED, "--llmeval-set", "sum.version=2"],
        "*'sum'*tasks collected here: sums*",
    ),
    "limit of a model": (
        ["--llmeval-model", "openai/m,timeout=nan"],
        "*model spec 'openai/m,timeout=nan': timeout is 'nan'; expected a number above 0*",
    ),
    "budget": ([*SCRIPTED, "--llmeval-budget", "5"], "*the budget is '5'*5usd,500ktok*"),
    "keep": (
        [*SCRIPTED, "--llmeval-model", "openai/x", "--llmeval-keep", "r.jsonl"],
        "*--llmeval-keep r.jsonl takes one --llmeval-model*name a folder*",
    ),
    "report": (
        [*SCRIPTED, "--llmeval-report", "data.jsonl"],
        "*--llmeval-report*data.jsonl is not a folder*",
    ),
    "gate": ([*SCRIPTED, "--llmeval-gate", "none.yaml"], "*none.yaml*"),
}


@pytest.mark.parametrize(("arguments", "line"), OPTIONS.values(), ids=OPTIONS.keys())
@pytest.mark.parametrize("mode", [["-n0"], ["-n2"]], ids=["-n0", "-n2"])
def test_a_wrong_option_is_a_usage_error(
    project: Project, mode: list[str], arguments: list[str], line: str
) -> None:
    result = project.run(*arguments, *mode)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([line])
    assert project.calls() == []


def test_a_wrong_override_names_the_option(project: Project) -> None:
    result = project.run(*SCRIPTED, "--llmeval-set", "sums.version=soon")
    result.stdout.fnmatch_lines(["*--llmeval-set sums.version=soon: *soon*"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_neither_model_nor_recorded_replies_is_a_usage_error_if_named(project: Project) -> None:
    result = project.run("test_sums.py")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*task 'sums' has no recorded replies, and no model is configured*--llmeval-model*"]
    )


def test_a_missing_key_is_one_clear_message(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    result = project.run("--llmeval-model", "openai/gpt-5.1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: openai/gpt-5.1: no key; set OPENAI_API_KEY, or *base_url=*"]
    )
    assert project.run("--llmeval-model", "openai/gpt-5.1", "--co").ret == pytest.ExitCode.OK
    assert not (project.path / "reports").exists()


def test_a_function_that_is_not_there_is_a_usage_error_before_any_test(project: Project) -> None:
    result = project.run("--llmeval-model", "python/./model.py:nothing", "-n2")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: model python/./model.py:nothing: *model.py: has no 'nothing', which *"]
    )
    assert not (project.path / "reports").exists()


@pytest.mark.parametrize("mode", [["-n0"], ["-n2"]], ids=["-n0", "-n2"])
def test_workers_that_collect_different_data_get_a_clear_error(
    project: Project, mode: list[str]
) -> None:
    project.write(
        "conftest.py",
        """
import os, json, pathlib, pytest

@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    # Each process sees a dataset of its own: same ids, other questions.
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    data = pathlib.Path(f"data{worker}.jsonl")
    rows = (
        {"id": n, "question": f"what is {n}+1 {worker}", "answer": str(n + 1), "kind": "odd"}
        for n in range(4)
    )
    data.write_text("".join(json.dumps(row) + chr(10) for row in rows))
    config.option.llmeval_set = [f"sums.dataset.path={data}"]
""",
    )
    result = project.run(*SCRIPTED, *mode)
    if mode == ["-n0"]:
        result.assert_outcomes(passed=3, failed=1)
    else:
        result.stdout.fnmatch_lines(["*collected other samples than the first worker*"])
