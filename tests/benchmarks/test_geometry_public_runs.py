"""The public Geometry3K test set, against a server that checks the pictures that it is sent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks.benchmark_session import newest_rows, run_pytest
from servers.fixture import ModelServer, running

SAMPLES = 60


@pytest.fixture(scope="module")
def rows(shared: Path) -> Path:
    """Return the public test set of 583 problems."""
    return shared / "data/geometry3k/hiyouga_style_test_583.json"


@pytest.fixture(scope="module")
def server(rows: Path) -> Iterator[ModelServer]:
    """Serve the scripted model."""
    with running("vision_server.py", str(rows)) as server:
        yield server


def run(
    folder: Path, server: ModelServer, rows: Path, test: str, *options: str
) -> tuple[str, dict[str, Any]]:
    """Run 60 problems of one test; return what pytest says and what the server saw."""
    task = {"test_direct": "geometry3k", "test_visual_cot": "geometry3k_visual_cot"}[test]
    eye = f"openai/eye,base_url={server.url}"
    models = [f"--llmeval-model={eye}", f"--llmeval-judge={eye}"]
    what = ["-k", test, f"--llmeval-set={task}.dataset.path={rows}", f"--llmeval-limit={SAMPLES}"]
    done = run_pytest(
        "benchmarks/geometry3k", "-q", *what, *models, f"--llmeval-report={folder}", *options
    )
    return done.stdout + done.stderr, server.report()


def test_problems_are_asked_with_their_diagrams_and_judged(
    tmp_path: Path, server: ModelServer, rows: Path
) -> None:
    output, seen = run(tmp_path, server, rows, "test_direct")
    assert f"{SAMPLES} passed" in output, output[-3000:]
    assert seen["wrong"] == []
    assert seen["kinds"]["direct"] == SAMPLES
    deciders = [row["scores"][0]["details"]["decided_by"] for row in newest_rows(tmp_path)]
    assert deciders.count("judge") == seen["kinds"].get("judge", 0)
    # nearly all targets are numbers or radicals, and the scripted model states them plainly
    assert deciders.count("symbolic") > 0.95 * SAMPLES


@pytest.mark.parametrize("mode", ["draw", "edit", "chat"])
def test_both_stages_see_the_diagram_first_in_each_image_mode(
    tmp_path: Path, server: ModelServer, rows: Path, mode: str
) -> None:
    output, seen = run(
        tmp_path,
        server,
        rows,
        "test_visual_cot",
        f"--llmeval-set=geometry3k_visual_cot.solver.visual_cot.image_mode={mode}",
    )
    assert f"{SAMPLES} passed" in output, output[-3000:]
    assert seen["wrong"] == []
    assert (seen["kinds"][mode], seen["kinds"]["question"]) == (SAMPLES, SAMPLES)
    details = [row["details"] for row in newest_rows(tmp_path)]
    assert {(one["image_mode"], one["image_problem"]) for one in details} == {(mode, None)}
    kept = {file.stem for file in (tmp_path / "latest").parent.glob("*/images/*")}
    assert {one["auxiliary_image"] for one in details} <= kept
