"""The sandbox: limits, replacement of children, threads, order, end of children."""

from __future__ import annotations

import itertools
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.errors import ScorerError
from pytest_llmeval.scoring.eed import Limits, Sandbox, Weights, eed_score_many
from pytest_llmeval.scoring.eed.sandbox import child, worker
from pytest_llmeval.scoring.eed.time_limit import cpu_timer

ROOT = str(Path(__file__).parents[3])
TOWER = "9^{9^{9^9}}"  # in the published mode nothing stops it but the limit


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(cpu_seconds=0.5, memory_mb=600) as sandbox:
        yield sandbox


def test_a_child_scores_as_this_process_does(sandbox: Sandbox) -> None:
    result = sandbox.score("4 m g", "2 m g")
    assert (result.score, [str(edit) for edit in result.edits]) == (
        35,
        ["relabel 4 -> 2 under Mul"],
    )


def test_both_modes_come_together(sandbox: Sandbox) -> None:
    results = sandbox.score_modes("z b c d", "a b c d")
    assert {mode: result.score for mode, result in results.items()} == {
        "corrected": 40,
        "published": 20,
    }


def test_weights_and_scoring_function_reach_the_child(sandbox: Sandbox) -> None:
    result = sandbox.score(
        "4 m g", "2 m g", weights=Weights(relabel=2), score=lambda distance, _size: distance
    )
    assert result.score == 2


def test_too_much_cpu_time_costs_one_result(sandbox: Sandbox) -> None:
    result = sandbox.score(TOWER, "x^2+1", mode="published")
    assert (result.score, result.reason) == (0, "too expensive to evaluate: 0.5 s of CPU time")
    assert sandbox.score("x^2+2", "x^2+1").score == 40


def test_too_much_memory_costs_one_result() -> None:
    with Sandbox(cpu_seconds=30, memory_mb=300) as sandbox:
        result = sandbox.score("((a+b)^{999})^{999}", "x^2+1+y+z", mode="published")
        assert (result.score, result.reason) == (0, "too expensive to evaluate: 300 MB of memory")
        assert sandbox.score("x^2+2", "x^2+1").score == 40


def test_the_wall_limit_stands_behind_the_others() -> None:
    with Sandbox(cpu_seconds=600, wall_seconds=0.5) as sandbox:
        sandbox.score("x", "x")
        result = sandbox.score(TOWER, "x^2+1", mode="published")
        assert result.reason == "too expensive to evaluate: 0.5 s of wall time"


def test_on_macos_the_parent_ends_a_child_that_holds_too_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert child._resident_megabytes(os.getpid()) > 10
    with Sandbox(cpu_seconds=60, memory_mb=600) as sandbox:
        sandbox.score("x", "x")
        monkeypatch.setattr(sys, "platform", "darwin")
        monkeypatch.setattr(child, "_resident_megabytes", lambda _pid: 601.0)
        result = sandbox.score(TOWER, "x^2+1", mode="published")
        assert result.reason == "too expensive to evaluate: 600 MB of memory"


def test_on_windows_only_the_parent_limits_a_child(monkeypatch: pytest.MonkeyPatch) -> None:
    before = resource.getrlimit(resource.RLIMIT_CPU), resource.getrlimit(resource.RLIMIT_AS)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.delattr(signal, "setitimer")
    worker._limit_cpu(1)
    worker._limit_memory(256)
    with cpu_timer(1e-6):
        sum(range(100_000))
    assert before == (
        resource.getrlimit(resource.RLIMIT_CPU),
        resource.getrlimit(resource.RLIMIT_AS),
    )


def test_an_explanation_comes_from_a_child(sandbox: Sandbox) -> None:
    assert "relabel 4 -> 2 under Mul" in sandbox.explain("4 m g", "2 m g")


def test_a_child_that_died_while_idle_costs_no_answer_its_score() -> None:
    with Sandbox() as sandbox:
        sandbox.score("x", "x")
        (idle,) = sandbox._children
        idle._process.kill()
        idle._process.wait()
        assert sandbox.score("x^2+2", "x^2+1").score == 40
        assert idle not in sandbox._children


def test_threads_may_share_a_sandbox() -> None:
    with Sandbox(2) as sandbox, ThreadPoolExecutor(6) as threads:
        results = threads.map(lambda k: sandbox.score(f"{k} x + y", "3 x + y"), range(2, 20))
        assert [result.score for result in results] == [100 if k == 3 else 40 for k in range(2, 20)]


def test_a_closed_sandbox_says_so() -> None:
    sandbox = Sandbox()
    sandbox.score("x", "x")
    sandbox.close()
    with pytest.raises(ScorerError, match="closed"):
        sandbox.score("x", "x")


def test_closing_ends_requests_that_wait() -> None:
    sandbox = Sandbox(cpu_seconds=60)
    sandbox.score("x", "x")
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(sandbox.score, TOWER, "x^2+1", mode="published")
        while not waiting.running():
            pass
        sandbox.close()
        with pytest.raises(ScorerError, match="closed"):
            waiting.result()


@pytest.mark.parametrize("wrong", [{"cpu_seconds": 0}, {"memory_mb": 10}, {"wall_seconds": -1}])
def test_limits_that_leave_nothing_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="Limits"):
        Limits(**wrong)


def test_many_pairs_keep_their_order_and_are_read_only_as_needed() -> None:
    read: list[int] = []
    done: list[int] = []

    def pairs() -> Iterator[tuple[str, str]]:
        for number in itertools.count():  # without end; read no further than is scored
            read.append(number)
            yield f"{number} x", "3 x + y"

    results = eed_score_many(pairs(), processes=2, progress=done.append)
    assert isinstance(results, Generator)
    first = [next(results).answer for _ in range(4)]
    results.close()
    assert first == ["0", "x", "2*x", "3*x"]
    assert done == [1, 2, 3, 4]
    assert len(read) <= 80


def test_an_expensive_pair_does_not_disturb_its_neighbours() -> None:
    limits = Limits(cpu_seconds=0.25)
    pairs = [("x^2+2", "x^2+1"), (TOWER, "x^2+1"), ("x^2+1", "1+x^2")]
    scores = [result.score for result in eed_score_many(pairs, mode="published", limits=limits)]
    assert scores == [40, 0, 100]


def test_a_script_needs_no_main_guard(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from pytest_llmeval.scoring.eed import eed_score_many\n"
        "print([result.score for result in eed_score_many([('4 m g', '2 m g')])])\n"
    )
    run = subprocess.run(
        [sys.executable, "-W", "error", script],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": ROOT},
    )
    assert (run.stdout, run.stderr) == ("[35.0]\n", "")


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_no_child_outlives_a_killed_parent() -> None:
    script = (
        "from pytest_llmeval.scoring.eed import Sandbox\n"
        "sandbox = Sandbox()\n"
        "sandbox.score('x', 'x')\n"
        "print(*(child._process.pid for child in sandbox._children), flush=True)\n"
        "input()\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": ROOT},
    )
    with parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 30
    while _runs(child) and time.monotonic() < deadline:
        os.sched_yield()
    assert not _runs(child)


def _runs(pid: int) -> bool:
    """Return whether a process is alive; a zombie is not."""
    shown = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return bool(shown.stdout.strip()) and not shown.stdout.startswith("Z")


def test_sandbox_and_result_import_no_sympy() -> None:
    code = "import sys, pytest_llmeval.scoring.eed; sys.exit('sympy' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": ROOT})
