"""The public Geometry3K test set end to end, against a server that checks the pictures it is sent."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SAMPLES = 200
SERVER = ROOT / "tests/servers/vision_server.py"


@pytest.fixture(scope="module")
def rows(shared: Path) -> Path:
    """Return the public test set of 583 problems."""
    return shared / "data/geometry3k/hiyouga_style_test_583.json"


@pytest.fixture(scope="module")
def address(rows: Path) -> Iterator[str]:
    """Serve the scripted model; it ends when its standard input closes."""
    command = [sys.executable, str(SERVER), str(rows)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield f"http://127.0.0.1:{json.loads(process.stdout.readline())['port']}"
        process.stdin.close()


def run(folder: Path, address: str, rows: Path, test: str, *options: str) -> tuple[str, dict[str, Any]]:
    """Run 200 problems of one test; return what pytest says and what the server saw."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "benchmarks/geometry3k",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
    ]
    task = {"test_direct": "geometry3k", "test_visual_cot": "geometry3k_visual_cot"}[test]
    command += [
        "-k",
        test,
        f"--llmeval-dataset={task}={rows}",
        f"--llmeval-limit={SAMPLES}",
        "--llmeval-model=openai/eye",
    ]
    command += [
        f"--llmeval-base-url={address}/v1",
        "--llmeval-judge=openai/eye",
        f"--llmeval-report={folder}",
        *options,
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    with urllib.request.urlopen(f"{address}/admin/report", timeout=30) as response:  # noqa: S310 - loopback
        return done.stdout + done.stderr, json.load(response)


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "latest/rows.jsonl").read_text("utf-8").splitlines()]


def test_problems_are_asked_with_their_diagrams_and_judged(tmp_path: Path, address: str, rows: Path) -> None:
    output, seen = run(tmp_path, address, rows, "test_direct")
    assert f"{SAMPLES} passed" in output, output[-3000:]
    assert seen["wrong"] == []
    assert seen["kinds"]["direct"] == SAMPLES
    deciders = [row["scores"][0]["details"]["decided_by"] for row in rows_of(tmp_path)]
    assert deciders.count("judge") == seen["kinds"].get("judge", 0)
    # nearly all targets are numbers or radicals, and the scripted model states them plainly
    assert deciders.count("symbolic") > 0.95 * SAMPLES


@pytest.mark.parametrize("mode", ["draw", "edit", "chat"])
def test_both_stages_see_the_diagram_first_in_each_image_mode(
    tmp_path: Path, address: str, rows: Path, mode: str
) -> None:
    output, seen = run(tmp_path, address, rows, "test_visual_cot", f"--llmeval-image-mode={mode}")
    assert f"{SAMPLES} passed" in output, output[-3000:]
    assert seen["wrong"] == []
    assert (seen["kinds"][mode], seen["kinds"]["question"]) == (SAMPLES, SAMPLES)
    details = [row["details"] for row in rows_of(tmp_path)]
    assert {(one["image_mode"], one["image_problem"]) for one in details} == {(mode, None)}
    kept = {file.stem for file in (tmp_path / "latest").parent.glob("*/images/*")}
    assert {one["auxiliary_image"] for one in details} <= kept
