"""Hostile text, whoever wrote it, steers no terminal, breaks no XML and fills no log."""

from __future__ import annotations

import json
import random
import re
import unicodedata
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

SEQUENCES = "\x1b[2J\x1b[31m\x1b]0;title\x07\x1bPq#0\x1b\\\x9b31m\x9d8;;x\x9c\r\n\x08\x08"
SIGNS = (
    "\x00\x01\x0b\x0c\x1b\x7f\x80\x85\x9b\u2028\u2029"
    "\u202e\u2066\u200f\ufeff\ufffe\uffff\ud800\udc00"
)
LONG = "\x1b" * 400_061 + "\u202e" * 1_000 + "x" * 1_000_000

TASK = r"""
name: "sums"
dataset: {path: data.jsonl, fields: {id: id, input: question, target: answer, tags: [kind]}}
prompt:
  - user: "{{ input }}"
answer: last_line
scorer: [./scorer.py:hostile, {exact: {}}]
group_by: [kind]
"""

MODEL = """
import json, pathlib

TEXTS = json.loads(pathlib.Path("texts.json").read_text())

def reply(request):
    number = int(request.messages[-1].text.split()[0])
    if number % 4 == 1:
        raise RuntimeError(TEXTS[number])
    return TEXTS[number]
"""

SCORER = """
from pytest_llmeval import Score

def hostile(answer, sample):
    return Score(name="hostile", value=0.0, correct=False, explanation=answer or "", grader="h/1")
"""

TEST = """
import logging
import pytest
from pytest_llmeval import assert_correct

pytestmark = pytest.mark.llmeval("task.yaml")

def test_sums(sample, completion, request):
    print(completion.text)
    logging.warning("%s", completion.text)
    request.node.user_properties.append(("said " + completion.text[:50], completion.text))
    number = int(sample.input.split()[0])
    if number % 4 == 2:
        raise ValueError(completion.text)
    if number % 4 == 3:
        assert completion.answer == sample.target
    assert_correct(sample, completion)
"""


def hostile_texts(seed: int, count: int) -> list[str]:
    """Return texts of hostile characters and words in random order, some very long."""
    chance = random.Random(seed)
    pieces = [SEQUENCES, *SIGNS, *"abc ", "\n", "line\n" * 3_000]
    texts = ["".join(chance.choices(pieces, k=60)) for _ in range(count)]
    texts[0] = texts[5] = texts[10] = texts[15] = LONG
    return texts


def assert_clean(text: str) -> None:
    """Assert that a text has no control character, no mark of direction and no half pair."""
    wrong = {
        f"U+{ord(sign):04X}"
        for sign in set(text)
        if (unicodedata.category(sign) in {"Cc", "Cs"} and sign not in "\n\t")
        or unicodedata.bidirectional(sign) in {"LRO", "RLO", "LRE", "RLE", "LRI", "RLI", "FSI"}
    }
    assert wrong == set()


@pytest.mark.parametrize("mode", ["-n2", "-n0"])
def test_terminal_and_junit_are_clean_and_bounded(project: Project, mode: str) -> None:
    texts = hostile_texts(seed=13, count=20)
    # A dataset with half a surrogate pair is refused; a model's reply may hold one.
    whole = [text.encode("utf-8", "ignore").decode() for text in texts]
    lines = (
        {"id": f"{n}{text[:40]}", "question": f"{n} ?", "answer": text[:300], "kind": text[:30]}
        for n, text in enumerate(whole)
    )
    project.write_lines("data.jsonl", lines)
    project.write("texts.json", json.dumps(texts))
    for name, text in (("task.yaml", TASK), ("model.py", MODEL), ("test_sums.py", TEST)):
        project.write(name, text)
    project.write("scorer.py", SCORER)
    result = project.run(
        *("--llmeval-model", "python/./model.py:reply", mode, "-vv", "-rA", "--color=no"),
        *("--junitxml", "junit.xml", "-o", "junit_family=xunit1", "-o", "junit_logging=all"),
        *("-o", "log_cli=true", "--log-file=all.log", "--log-file-level=DEBUG"),
    )
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "LLM benchmark results" in result.stdout.str()
    terminal = (project.path / "stdout").read_bytes() + (project.path / "stderr").read_bytes()
    assert_clean(terminal.decode())
    assert len(terminal) < 20 * 300_000
    log = (project.path / "all.log").read_bytes()
    assert log
    assert_clean(log.decode())
    assert len(log) < 20 * 300_000
    document = ET.parse(project.path / "junit.xml")  # noqa: S314 - our own
    assert len(list(document.iter("testcase"))) == 20
    for element in document.iter():
        for text in (element.text or "", *element.attrib.values()):
            assert_clean(text)
            # pytest's own writing of what XML does not allow, which nothing needed.
            assert not re.search(r"#x[0-9A-F]{2,}", text)
