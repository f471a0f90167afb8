"""What the calls of a session came to, below the results and in summary.json."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

SCRIPTED = ["--llmeval-model", "python/./model.py:reply"]
MODES = pytest.mark.parametrize("mode", [["-n0"], ["-n2"]], ids=["-n0", "-n2"])


@MODES
def test_the_calls_are_summed_up_below_the_table_and_in_the_summary(
    project: Project, mode: list[str]
) -> None:
    result = project.run(*SCRIPTED, *mode, "--llmeval-concurrency", "2", "--llmeval-groups")
    causes = "retries: none · failed: 1 python"
    lost = "lost 0.0 s to limits, 0.0 s to back-off"
    result.stdout.fnmatch_lines([f"engine: 12 requests · 0 replies from store · {causes} · {lost}"])
    result.stdout.fnmatch_lines(["*0 tokens · – · latency p50 / p95 * s · at most [12] in flight"])
    engine = project.summary()["engine"]
    assert (engine["requests"], engine["replies"], engine["errors"]) == (12, 11, {"python": 1})
    assert engine["models"]["python/./model.py:reply"]["requests"] == 12
    result = project.run(*SCRIPTED, *mode, "--llmeval-resume")
    result.stdout.fnmatch_lines(["engine: 1 requests · 11 stored replies*"])


def test_a_session_without_a_live_call_says_nothing_of_it(project: Project) -> None:
    project.run(*SCRIPTED, "--llmeval-keep", "replies.jsonl", "-k", "0001")
    result = project.run("--llmeval-model", "replay/replies.jsonl", "-k", "0001")
    result.stdout.no_fnmatch_line("*engine:*")
    assert project.summary()["engine"] is None
