"""A run of a task with variants: its tests, its table, its gates, and what is compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

TASK = """
name: sums
dataset: {path: data.jsonl, fields: {input: question, target: answer}}
prompt: "{{ input }}"
answer: last_line
scorer: exact
variants:
  terse: {prompt: "Tersely: {{ input }}"}
  long: {generate: {max_tokens: 100}}
"""

# Terse replies are right from 8 on, the others from 4 on.
MODEL = """
import re
from pytest_llmeval import Reply

def reply(request):
    text = request.messages[-1].text
    number = int(re.search(r"what is (\\d+)", text)[1])
    return str(number + 1) if number >= (8 if "Tersely" in text else 4) else "?"
"""

SCRIPTED = ("--llmeval-model", "python/./model.py:reply")

GATE = """
rules:
  sums[long].accuracy: {min: 0.6, point: true}
  sums[terse].accuracy: {min: 0.6, point: true}
"""


@pytest.fixture
def varied(project: Project) -> Project:
    """Return a project of one task in two variants over the questions 0 to 11."""
    project.write("task.yaml", TASK)
    project.write("model.py", MODEL)
    numbers = range(12)
    project.write_lines(
        "data.jsonl",
        ({"id": n, "question": f"what is {n} + 1?", "answer": str(n + 1)} for n in numbers),
    )
    project.write(
        "test_sums.py",
        "import pytest\n"
        "from pytest_llmeval import assert_correct\n\n"
        '@pytest.mark.llmeval("task.yaml")\n'
        "def test_sums(sample, completion):\n"
        "    assert_correct(sample, completion)\n",
    )
    return project


def test_ids_name_the_variant_and_k_selects_it(varied: Project) -> None:
    listed = varied.run(*SCRIPTED, "--co", "-q", "--llmeval-limit", "2").outlines[:4]
    assert listed == [
        f"test_sums.py::test_sums[{sample:04}-{variant}]"
        for variant in ("terse", "long")
        for sample in (0, 1)
    ]
    several = (*SCRIPTED, "--llmeval-model", "python/./model.py:reply,temperature=1")
    result = varied.run(*several, "--co", "-q", "--llmeval-limit", "1", "--llmeval-epochs", "2")
    assert "test_sums.py::test_sums[0000-long-python-model-py-reply-e2]" in result.outlines
    varied.run(*SCRIPTED, "--co", "-q", "-k", "terse").stdout.fnmatch_lines(["12/24 tests*"])


@pytest.mark.parametrize("mode", [["-n0"], ["-n2"]], ids=["-n0", "-n2"])
def test_variants_stand_side_by_side_and_are_gated_apart(varied: Project, mode: list[str]) -> None:
    varied.write("gate.yaml", GATE)
    override = ("--llmeval-set", "sums.variants.long.generate.max_tokens=7")
    result = varied.run(
        *SCRIPTED, *mode, *override, "--llmeval-gate", "gate.yaml", "--llmeval-groups"
    )
    result.stdout.fnmatch_lines(["A sums[[]long] *66.7 %*12 of 12*", "B sums[[]terse] *33.3 %*"])
    result.stdout.fnmatch_lines(["accuracy: paired differences", "B - A *-33.3*"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    (found,) = varied.summary()["pipelines"]
    assert [one["task"] for one in found["pipelines"]] == ["sums[long]", "sums[terse]"]
    assert found["differences"][0]["n"] == 12
    rows = (varied.path / "reports/latest/rows.csv").read_text()
    assert rows.count("sums[terse]") >= 12
    failed = [line for line in result.outlines if "accuracy" in line and "FAIL" in line.upper()]
    assert any("sums[terse]" in line for line in failed)
    assert not any("sums[long]" in line for line in failed)


def test_one_variant_is_resumed(varied: Project) -> None:
    varied.run(*SCRIPTED, "-k", "terse", "-x")
    varied.run(*SCRIPTED, "-k", "terse", "--llmeval-resume").assert_outcomes(passed=4, failed=8)
    assert {row["task"] for row in varied.rows()} == {"sums[terse]"}
