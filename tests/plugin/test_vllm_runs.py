"""Runs on a `vllm serve` of their own: one server, whoever asks, from however many processes."""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

STAND_IN = Path(__file__).parents[1] / "servers" / "vllm_stand_in.py"

TWO_ROLES = """
import pytest
from pytest_llmeval import assert_sldp_equal

@pytest.mark.llmeval("task.yaml")
def test_sums(sample, completion, llm):
    assert llm.generate("what is 1+1", role="user").text == "what is 1+1"
    assert_sldp_equal(completion.answer, sample.target)
"""


@pytest.fixture
def vllm(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Return the project on a machine where `vllm` is installed."""
    program = project.write("bin/vllm", f'#!/bin/sh\nexec {sys.executable} -S {STAND_IN} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    return project


def test_roles_and_workers_share_one_server_and_its_log_is_the_run_s(vllm: Project) -> None:
    vllm.write("test_sums.py", TWO_ROLES)
    starts = vllm.path / "starts"
    served = f"serve=--starts {starts} --load 0.3"
    user = f"user=vllm/acme/tiny,temperature=1,{served}"
    models = ("--llmeval-model", f"vllm/acme/tiny,startup=60,{served}", "--llmeval-model", user)
    found = vllm.run("-n2", *models)
    found.assert_outcomes(failed=12)  # it repeats the question
    assert {row["outcome"] for row in vllm.rows()} == {"incorrect"}
    assert len(starts.read_text().split()) == 1
    log = vllm.path / "reports" / "latest" / "vllm-acme-tiny.log"
    assert log.read_text().startswith("loading acme/tiny")
    with pytest.raises(ProcessLookupError):
        os.kill(int(starts.read_text()), 0)


def test_a_server_that_does_not_start_is_one_error_and_the_rest_is_not_run(vllm: Project) -> None:
    found = vllm.run("-n0", "--llmeval-model", "vllm/acme/tiny,serve=--die-loading")
    assert "ValueError: acme/tiny is no model that vLLM knows" in found.stdout.str()
    assert Counter(vllm.outcomes().values()) == {"error": 1, "not run": 11}


def test_without_the_program_nothing_is_asked_and_one_line_names_the_fix(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(project.path))
    found = project.run("-n0", "--llmeval-model", "vllm/acme/tiny")
    assert found.ret == pytest.ExitCode.USAGE_ERROR
    found.stderr.fnmatch_lines(
        ["*vllm/acme/tiny: there is no program `vllm` on the PATH; install*"]
    )
