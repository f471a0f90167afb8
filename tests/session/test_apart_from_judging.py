"""A judge that fails, in whatever way, takes nothing from the row, and can be asked later."""

from __future__ import annotations

import socket
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from servers.fixture import ModelServer
from session.judged_run import JudgedRun, transcripts

from pytest_llmeval.engine import gateway, limits
from pytest_llmeval.results.stored_run import read_run
from pytest_llmeval.session.rescore import rescore
from pytest_llmeval.session.rescore_plan import RescorePlan
from pytest_llmeval.session.settings import Settings

SAMPLES = 8


@pytest.fixture(autouse=True)
def _in_haste(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for the server as always, but shortly, and with a key."""
    for module, name in (
        (gateway, "FIRST_BACKOFF"),
        (gateway, "BACKOFF_CAP"),
        (limits, "FIRST_PAUSE"),
    ):
        monkeypatch.setattr(module, name, 0.001)
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    for name in ("JUDGE_DEPLOYMENT", "AZURE_OPENAI_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)


def closed_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


FAULTS: dict[str, dict[str, Any]] = {
    "401": {"lost": {"judge": {"kind": "401"}}},
    "404": {"lost": {"judge": {"kind": "404", "code": "model_not_found"}}},
    "429": {"lost": {"judge": {"kind": "429"}}},
    "500": {"lost": {"judge": {"kind": "500"}}},
    "slow": {"lost": {"judge": {"kind": "stall"}}},
    "reset": {"lost": {"judge": {"kind": "reset"}}},
    "no JSON": {"lost": {"judge": {"kind": "garbage"}}},
    "no verdict": {"says": {"judge": "I would rather not say."}},
    "dies in the middle": {"lost": {"judge": {"kind": "401", "after": 3}}},
}

ADDRESSES = {
    "refused": "http://127.0.0.1:{port}/v1",
    "no such host": "http://judge.invalid/v1",
}


def whole(rows: dict[str, Any], run: Path) -> None:
    """Check that rows have all that solving gave them."""
    assert len(rows) == SAMPLES
    kept = transcripts(run)
    for sample, row in rows.items():
        assert row.answer == f"echo: what is {sample}?"
        assert row.stop_reason == "stop"
        assert row.usage.output_tokens >= 5
        assert row.seconds > 0
        assert kept[sample].calls[0].asked.role == "solver"
        assert kept[sample].calls[0].reply.text == row.answer


def without_verdict(rows: dict[str, Any]) -> list[str]:
    return [sample for sample, row in rows.items() if row.outcome in {"error", "unscored"}]


@pytest.mark.parametrize("fault", [*FAULTS, *ADDRESSES])
def test_whatever_a_judge_fails_by_the_rows_are_whole_and_the_scores_can_be_had_later(
    tmp_path: Path, model_server: ModelServer, fault: str
) -> None:
    bench = JudgedRun(tmp_path, model_server)
    url = ADDRESSES.get(fault, "").format(port=closed_port())
    bench.program(**FAULTS.get(fault, {}))
    run, rows = bench.run(bench.judge(url=url))
    whole(rows, run)
    assert bench.asked["solver"] == SAMPLES
    lost = without_verdict(rows)
    assert len(lost) == (SAMPLES - 3 if "middle" in fault else SAMPLES)
    assert Counter(row.outcome for row in rows.values())["not run"] == 0
    print(fault, Counter((row.outcome) for row in rows.values()), {row.explanation[:150] for row in rows.values()})
    # Later the judge is there: by another name, or where it always was.
    bench.program()
    other = Settings(folder=str(tmp_path), judges=(bench.judge("other"),), report=str(run.parent))
    again = rescore(RescorePlan(read_run(run), other, ()), run.parent, bench.told.append)
    assert [row.outcome for row in again.found.rows] == ["correct"] * SAMPLES
    assert bench.asked == {"other": SAMPLES}
    if not url:
        bench.program()
        _, resumed = bench.run(bench.judge(), resume=str(run))
        assert {row.outcome for row in resumed.values()} == {"correct"}
        whole(resumed, run)
        assert bench.asked == {"judge": len(lost)}
