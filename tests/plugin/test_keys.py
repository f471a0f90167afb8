"""A key stands in no byte that a run writes, and in no environment but the engine's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

VALUES = {
    "OPENAI_API_KEY": "sk-proj-Planted1Planted2Planted3Planted4",
    "OWN_API_KEY": "planted5without-any-shape-at-all",
    "UNRELATED_PASSWORD": "planted6unrelated",
}
"""Keys by the variables that they come from."""

SHAPED = {
    "aws": "AKIAPLANTED789ABCDEF",
    "google": "AIza" + "Planted7" * 4 + "abc",
    "groq": "gsk_" + "Planted7" * 6,
    "hugging face": "hf_" + "Planted7" * 4,
    "github": "ghp_" + "Planted7" * 5,
    "token": "eyJhbGciOiJIUzI1NiJ9.eyJwbGFudGVkIjo3fQ.planted7planted7",
    "anthropic": "sk-ant-api03-" + "Planted7" * 8,
}
"""Keys that come from nowhere in particular, such as a dataset: only their shape shows them."""

LEGACY = ("-o", "junit_family=xunit1")
"""The form of JUnit XML that has properties of tests."""

TELLING = (
    "Authorization: Bearer planted8planted8planted8, api-key: 0123456789abcdef0123456789abcdef"
)
HIDDEN = ("planted8planted8", "0123456789abcdef0123456789abcdef")

TEST = """
import logging, os, pathlib, warnings
import pytest
from pytest_llmeval import assert_correct

pytestmark = pytest.mark.llmeval("task.yaml")

def test_sums(sample, completion, record_property):
    here = os.environ.get("PYTEST_XDIST_WORKER", "main")
    proc = pathlib.Path("/proc/self/environ")
    held = proc.read_bytes() if proc.exists() else b""
    pathlib.Path(os.environ["SEEN"], here).write_bytes(repr(dict(os.environ)).encode() + held)
    print(completion.text)
    logging.warning(completion.text)
    record_property("said", completion.text)
    assert completion.text == "nothing of the kind"
    assert_correct(sample, completion)
"""

SPEAKING = """
import os

def reply(request):
    said = os.environ["OPENAI_API_KEY"] + " " + os.environ["OWN_API_KEY"] + " " + SHAPED
    if "what is 7+" in request.messages[-1].text:
        raise RuntimeError(said)
    if "what is 8+" in request.messages[-1].text:
        raise SystemExit(said)
    return said
"""


def written(folder: Path, inputs: set[str]) -> dict[str, bytes]:
    """Return the bytes of every file in a folder but the user's own."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and file.name not in inputs and file.suffix != ".pyc"
    }


def no_key_in(texts: dict[str, bytes], keys: list[str]) -> None:
    """Assert that no text holds a key."""
    found = [(name, key) for name, text in texts.items() for key in keys if key.encode() in text]
    assert found == []


@pytest.fixture
def quick_sessions() -> None:
    """Start Python itself: `/proc/PID/environ` shows what a process started with."""


@pytest.fixture
def seen(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Plant the keys; return the folder in which tests store the environment they see."""
    for name, value in VALUES.items():
        monkeypatch.setenv(name, value)
    folder = tmp_path_factory.mktemp("seen")
    monkeypatch.setenv("SEEN", str(folder))
    return folder


@pytest.mark.parametrize("mode", ["-n2", "-n0"])
@pytest.mark.usefixtures("seen")
def test_no_byte_that_a_run_writes_holds_a_key(project: Project, mode: str) -> None:
    said = " ".join(SHAPED.values()) + " " + TELLING
    project.write("model.py", SPEAKING.replace("SHAPED", repr(said)))
    project.write("test_sums.py", TEST)
    inputs = {file.name for file in project.path.iterdir()}
    written_by = [
        "--llmeval-keep",
        "replies.jsonl",
        "--junitxml",
        "junit.xml",
        "-vv",
        "-rA",
        *LEGACY,
    ]
    result = project.run("--llmeval-model", "python/./model.py:reply", mode, *written_by)
    assert len(project.outcomes()) == 12
    texts = written(project.path, inputs)
    assert {"replies.jsonl", "junit.xml"} < texts.keys()
    assert any(name.endswith("replies.sqlite3") for name in texts)
    texts["terminal"] = (result.stdout.str() + result.stderr.str()).encode()
    no_key_in(texts, [*VALUES.values(), *SHAPED.values(), *HIDDEN])
    assert b"[OPENAI_API_KEY]" in texts["terminal"]
    assert b"[OPENAI_API_KEY]" in texts["junit.xml"]


def test_workers_start_without_the_keys_of_models_and_with_all_else(
    project: Project, seen: Path, model_server: Any
) -> None:
    project.write("test_sums.py", TEST)
    model_server.program(reply={"content": "1"})
    model = f"openai/m,base_url={model_server.url},key=OWN_API_KEY"
    project.run("--llmeval-model", model, "-n2")
    assert model_server.report()["requests"] == 12
    environments = {file.name: file.read_bytes() for file in seen.iterdir()}
    assert environments.keys() <= {"gw0", "gw1"}
    no_key_in(environments, [VALUES["OPENAI_API_KEY"], VALUES["OWN_API_KEY"]])
    for environment in environments.values():
        assert VALUES["UNRELATED_PASSWORD"].encode() in environment


@pytest.mark.parametrize(
    "setting",
    [
        f"api_key={VALUES['OPENAI_API_KEY']}",
        f"token={VALUES['OWN_API_KEY']}",
        f"key={VALUES['OWN_API_KEY']}",
        f"base_url=http://user:{VALUES['OWN_API_KEY']}@localhost/v1",
        f"temperature=,seed={VALUES['OPENAI_API_KEY']}",
    ],
    ids=["api_key", "token", "key", "base_url", "elsewhere"],
)
def test_a_key_in_a_models_spec_is_refused_and_not_repeated(project: Project, setting: str) -> None:
    inputs = {file.name for file in project.path.iterdir()}
    result = project.run("--llmeval-model", f"openai/m,{setting}", "-p", "no:xdist")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    texts = written(project.path, inputs)
    texts["terminal"] = (result.stdout.str() + result.stderr.str()).encode()
    del texts["stdout"]  # pytester's own, with the command
    no_key_in(texts, list(VALUES.values()))
