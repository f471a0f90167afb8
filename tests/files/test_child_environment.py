"""Child processes get what Python and Java need, and no key."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from pytest_llmeval.files.child_environment import child_environment


@pytest.mark.parametrize(
    "name",
    ["OPENAI_API_KEY", "HF_TOKEN", "PYTHON_KEYRING_PASSWORD", "CONDA_TOKEN", "HOMEBREW_API_TOKEN"],
)
def test_no_variable_with_the_name_of_a_key_is_inherited(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "the-secret")
    assert "the-secret" not in child_environment().values()


def test_a_child_finds_this_package_and_the_users_own_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    code = "import sys, pytest_llmeval; print(sys.argv[1] in sys.path)"
    found = subprocess.run(
        [sys.executable, "-P", "-c", code, str(tmp_path)],
        env=child_environment(),
        cwd=os.sep,
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == "True"
