"""A judge that fails, in whatever way, takes nothing from the row, and can be asked later."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from servers.fixture import ModelServer
from session.judged_run import JudgedRun, transcripts

from pytest_llmeval import assert_sldp_equal
from pytest_llmeval.engine import gateway, limits
from pytest_llmeval.records import Outcome, Row
from pytest_llmeval.results.stored_run import read_run
from pytest_llmeval.session.attempt import Attempt
from pytest_llmeval.session.rescore import rescore
from pytest_llmeval.session.rescore_plan import RescorePlan
from pytest_llmeval.session.scorer_option import read_scorers

SAMPLES = 6


@pytest.fixture(autouse=True)
def _in_haste(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry as always, with short waits; a key is set, and no judge."""
    for module, name in (
        (gateway, "FIRST_BACKOFF"),
        (gateway, "BACKOFF_CAP"),
        (limits, "FIRST_PAUSE"),
    ):
        monkeypatch.setattr(module, name, 0.001)
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    for name in ("JUDGE_DEPLOYMENT", "AZURE_OPENAI_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def bench(tmp_path: Path, model_server: ModelServer) -> JudgedRun:
    return JudgedRun(tmp_path, model_server, samples=SAMPLES)


def closed_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


FAULTS: dict[str, dict[str, Any]] = {
    "401": {"lost": {"judge": {"kind": "401"}}},
    "404": {"lost": {"judge": {"kind": "404", "code": "model_not_found"}}},
    "429 for ever": {"lost": {"judge": {"kind": "429"}}},
    "500 for ever": {"lost": {"judge": {"kind": "500"}}},
    "slow for ever": {"lost": {"judge": {"kind": "stall"}}},
    "reset": {"lost": {"judge": {"kind": "reset"}}},
    "no JSON": {"lost": {"judge": {"kind": "garbage"}}},
    "no verdict": {"says": {"judge": "I would rather not say."}},
    "dies in the middle": {"lost": {"judge": {"kind": "401", "after": 3}}},
}

ADDRESSES = {
    "connection refused": "http://127.0.0.1:{port}/v1",
    "no such host": "http://judge.invalid/v1",
}


def whole(rows: Mapping[str, Row], run: Path) -> None:
    """Check that rows have all that solving gave them."""
    assert len(rows) == SAMPLES
    kept = transcripts(run)
    for sample, row in rows.items():
        assert row.answer == f"what is {sample}?"
        assert row.stop_reason == "stop"
        assert row.usage.output_tokens >= 5
        assert row.seconds > 0
        [solved, *_] = kept[sample].calls
        assert (solved.asked.role, solved.reply.text) == ("solver", f"echo: say\n{row.answer}")


def outcomes(rows: Mapping[str, Row]) -> Counter[Outcome]:
    return Counter(row.outcome for row in rows.values())


def rescored(bench: JudgedRun, run: Path, *judges: str, scorers: tuple[str, ...] = ()) -> Any:
    """Score a run again by other judges, or by other scorers."""
    settings = bench.settings(*judges, models=())
    plan = RescorePlan(read_run(run), settings, read_scorers(scorers))
    return rescore(plan, run.parent, bench.told.append)


@pytest.mark.parametrize("fault", [*FAULTS, *ADDRESSES])
def test_whatever_a_judge_fails_by_the_rows_are_whole_and_only_judges_are_asked_for_the_rest(
    bench: JudgedRun, fault: str
) -> None:
    url = ADDRESSES.get(fault, "").format(port=closed_port())
    bench.program(**FAULTS.get(fault, {}))
    timeout = 0.2 if "slow" in fault else 20
    run, rows = bench.run(bench.judge(url=url, timeout=timeout))
    whole(rows, run)
    assert bench.asked["solver"] == SAMPLES
    scored = 3 if "middle" in fault else 0
    found = outcomes(rows)
    assert (found["correct"], found["not run"]) == (scored, 0)
    # What broke is told by one sample; of the others nobody was asked once the judge was lost.
    assert bool(found["error"]) == ("verdict" not in fault)
    assert found["error"] <= 1 or fault not in {"401", "404", *ADDRESSES}
    # A judge that fails as well; one that does not; and the first one, where it always was.
    if fault == "401":
        bench.program(lost={"third": {"kind": "500"}})
        run = rescored(bench, run, bench.judge("third")).path
        whole({row.sample: row for row in read_run(run).rows}, run)
    bench.program()
    again = rescored(bench, run, bench.judge("other"))
    assert {row.outcome for row in again.found.rows} == {"correct"}
    assert bench.asked == {"other": SAMPLES}
    if not url and fault != "401":
        bench.program()
        _, resumed = bench.run(bench.judge(), resume=str(run))
        whole(resumed, run)
        # Replies that are no verdict are stored too; another judge, or a seed, gets others.
        known = SAMPLES if "verdict" in fault else scored
        assert bench.asked.get("judge", 0) == SAMPLES - known
        assert "solver" not in bench.asked
        assert outcomes(resumed)["correct"] == (0 if "verdict" in fault else SAMPLES)


@pytest.mark.parametrize("fault", [*FAULTS, *ADDRESSES])
def test_a_judge_of_three_that_fails_loses_its_vote_alone(bench: JudgedRun, fault: str) -> None:
    url = ADDRESSES.get(fault, "").format(port=closed_port())
    bench.program(**FAULTS.get(fault, {}))
    timeout = 0.2 if "slow" in fault else 20
    judges = (bench.judge(url=url, timeout=timeout), bench.judge("other"), bench.judge("third"))
    run, rows = bench.run(*judges)
    whole(rows, run)
    assert outcomes(rows) == {"correct": SAMPLES}
    opinions: list[Any] = [row.scores[0].details["opinions"] for row in rows.values()]
    missing = [one for [one, *_] in opinions if one["correct"] is None]
    assert len(missing) == SAMPLES - (3 if "middle" in fault else 0)
    assert all(one["failure"] for one in missing) is ("verdict" not in fault)


def test_where_all_of_three_judges_fail_the_rows_are_whole(bench: JudgedRun) -> None:
    faults = {"judge": {"kind": "401"}, "other": {"kind": "404"}, "third": {"kind": "500"}}
    bench.program(lost=faults)
    run, rows = bench.run(bench.judge(), bench.judge("other"), bench.judge("third"))
    whole(rows, run)
    assert outcomes(rows)["correct"] == 0
    bench.program()
    assert {row.outcome for row in rescored(bench, run, bench.judge()).found.rows} == {"correct"}
    assert bench.asked == {"judge": SAMPLES}


UNOPENED = {
    "no key": (("openai/judge,key=ABSENT_API_KEY",), "ABSENT_API_KEY"),
    "no function": (("python/./judged.yaml:absent",), "absent"),
}


@pytest.mark.parametrize("unopened", UNOPENED)
def test_a_judge_that_cannot_be_opened_is_told_before_anything_is_asked_and_stops_nothing(
    bench: JudgedRun, unopened: str
) -> None:
    bench.program()
    judges, told = UNOPENED[unopened]
    run, rows = bench.run(*judges)
    whole(rows, run)
    assert outcomes(rows) == {"error": 1, "unscored": SAMPLES - 1}
    [remark] = bench.told
    assert remark.startswith(
        f"judge {judges[0].partition(',')[0]} cannot be asked, so answers that"
    )
    assert told in remark
    assert {row.outcome for row in rescored(bench, run, bench.judge()).found.rows} == {"correct"}
    assert bench.asked == {"solver": SAMPLES, "judge": SAMPLES}


NEEDLESS = {
    "the prefilter decides": "scorer: judge\n",
    "the body asserts otherwise": "scorer: {judge: {prefilter: off}}\n",
    "another scorer decides": "scorer: [{includes: {}}, {judge: {prefilter: off}}]\n",
    "any decides": "scorer: [{judge: {prefilter: off}}, {includes: {}}]\ndecides: any\n",
}


@pytest.mark.parametrize("why", NEEDLESS)
@pytest.mark.parametrize("judge", ["lost", "unopened", "none"])
def test_tests_that_need_no_judge_run_without_one(
    tmp_path: Path, model_server: ModelServer, why: str, judge: str
) -> None:
    bench = JudgedRun(tmp_path, model_server, scorer=NEEDLESS[why], samples=SAMPLES, plain=True)
    bench.program(lost={"judge": {"kind": "401"}})
    judges = {"lost": (bench.judge(),), "unopened": UNOPENED["no key"][0], "none": ()}[judge]

    def otherwise(attempt: Attempt) -> None:
        assert attempt.sample is not None
        assert attempt.completion is not None
        assert_sldp_equal(attempt.completion.answer, attempt.sample.target)

    given = {"body": otherwise} if "body" in why else {}
    _, rows = bench.run(*judges, **given)
    assert outcomes(rows) == {"correct": SAMPLES}
    assert len(bench.told) == (judge != "lost")


def test_a_task_whose_judge_is_no_model_is_told_and_the_others_run(
    tmp_path: Path, model_server: ModelServer
) -> None:
    scorer = "scorer: {judge: {models: [nobody/here]}}\n"
    bench = JudgedRun(tmp_path, model_server, scorer=scorer, samples=SAMPLES)
    bench.program()
    _, rows = bench.run()
    assert bench.asked == {}
    told = [row.explanation for row in rows.values() if row.outcome == "error"]
    assert len(told) == 1
    assert "judged.yaml:6: scorer: unknown model spec 'nobody/here'" in told[0]


STRANGER = """
import asyncio
from dataclasses import dataclass
from pytest_llmeval import Score

@dataclass(frozen=True)
class Mine:
    name: str = "mine"
    grader, scale, only_incorrect, models = "mine/1", 1.0, False, ()

    def check(self, target): ...
    async def prepare(self, sample, completion, context):
        {prepare}
    def score(self, answer, sample, prepared):
        {score}
"""

RAISES = {
    "an error": "raise KeyError('mine')",
    "an exit": "raise SystemExit(3)",
    "a cancellation": "raise asyncio.CancelledError",
    "a group": "raise ExceptionGroup('g', [ValueError('v')])",
    "no JSON": "return {1: {2}}",
}


@pytest.mark.parametrize("prepare", RAISES)
def test_whatever_a_strangers_scorer_prepares_the_rows_are_whole(
    tmp_path: Path, model_server: ModelServer, prepare: str
) -> None:
    bench = JudgedRun(tmp_path, model_server, scorer="scorer: ./own.py:Mine\n", samples=SAMPLES)
    own = STRANGER.format(prepare=RAISES[prepare], score="raise ValueError('never called')")
    (tmp_path / "own.py").write_text(own)
    bench.program()
    run, rows = bench.run()
    whole(rows, run)
    assert outcomes(rows) == {"error": SAMPLES}
    again = rescored(bench, run, scorers=("includes",))
    assert outcomes({row.sample: row for row in again.found.rows}) == {"correct": SAMPLES}
    assert bench.asked == {"solver": SAMPLES}


def test_a_scorer_that_fails_in_scoring_leaves_the_row_whole(
    tmp_path: Path, model_server: ModelServer
) -> None:
    bench = JudgedRun(tmp_path, model_server, scorer="scorer: ./own.py:Mine\n", samples=SAMPLES)
    (tmp_path / "own.py").write_text(STRANGER.format(prepare="return 1", score="return 1 / 0"))
    bench.program()
    run, rows = bench.run()
    whole(rows, run)
    assert outcomes(rows) == {"error": SAMPLES}
    assert {row.scores[0].explanation for row in rows.values()} == {
        "ZeroDivisionError: division by zero (own.py, line 15, in score)"
    }


def test_a_budget_that_ends_between_solving_and_judging_leaves_the_answers(
    bench: JudgedRun,
) -> None:
    bench.program()
    run, rows = bench.run(bench.judge(), budget="700tok", concurrency=1)
    found = outcomes(rows)
    assert found["unscored"] > 0
    for row in rows.values():
        assert (row.answer is None) is (row.outcome == "not run")
    before = bench.asked
    _, resumed = bench.run(bench.judge(), resume=str(run), budget="1Mtok")
    whole(resumed, run)
    assert outcomes(resumed) == {"correct": SAMPLES}
    assert before["solver"] < SAMPLES
    assert bench.asked == {"solver": SAMPLES, "judge": SAMPLES}


def test_a_judge_that_a_body_calls_takes_nothing_either(
    tmp_path: Path, model_server: ModelServer
) -> None:
    bench = JudgedRun(tmp_path, model_server, scorer="", samples=SAMPLES)
    bench.program(lost={"judge": {"kind": "401"}})

    def asks(attempt: Attempt) -> None:
        attempt.judge(problem="?", target="other", candidate=f"own words {attempt.nodeid}")

    run, rows = bench.run(bench.judge(), body=asks)
    whole(rows, run)
    assert outcomes(rows) == {"error": 1, "unscored": SAMPLES - 1}
    bench.program()
    run, rows = bench.run(bench.judge(), body=asks)
    whole(rows, run)
    assert {len(one.calls) for one in transcripts(run).values()} == {2}
    assert {row.usage.requests for row in rows.values()} == {2}
