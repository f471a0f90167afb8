"""Whatever a batch API does, each request gets its own reply once, or fails with a reason."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from engine.batches.bench import QUICK, Bench, echoes, prompts, session, texts
from servers.fixture import ModelServer

from pytest_llmeval.engine.batches.settings import BatchSettings
from pytest_llmeval.engine.budget import Budget
from pytest_llmeval.engine.prices import Price
from pytest_llmeval.providers.anthropic.batches import AnthropicBatches
from pytest_llmeval.providers.openai.batches import OpenAIBatches

DIALECTS = pytest.mark.parametrize("dialect", ["openai", "azure", "anthropic"])


def asked(number: int) -> Any:
    """Return work that asks so many prompts and returns the texts."""

    async def work(bench: Bench) -> list[str]:
        return texts(await bench.ask(*prompts(number)))

    return work


@DIALECTS
def test_requests_that_come_together_are_one_batch(
    batch_server: ModelServer, tmp_path: Path, dialect: str
) -> None:
    assert session(batch_server, tmp_path, asked(30), dialect=dialect) == echoes(30)
    report = batch_server.report()
    assert report["sizes"] == [30]
    assert set(report["paid"].values()) == {1}


def test_the_responses_api_has_batches_too(batch_server: ModelServer, tmp_path: Path) -> None:
    found = session(batch_server, tmp_path, asked(3), api=",api=responses")
    assert found == echoes(3)
    assert batch_server.report()["sizes"] == [3]


@DIALECTS
@pytest.mark.parametrize(
    "damage",
    [["shuffle"], ["duplicate"], ["garbage"], ["foreign"], ["shuffle", "garbage", "foreign"]],
    ids="-".join,
)
def test_damaged_results_change_no_reply_and_cost_nothing_more(
    batch_server: ModelServer, tmp_path: Path, dialect: str, damage: list[str]
) -> None:
    batch_server.program(lines=damage)
    assert session(batch_server, tmp_path, asked(9), dialect=dialect) == echoes(9)
    assert set(batch_server.report()["paid"].values()) == {1}


def test_a_line_longer_than_memory_should_take_is_left_out(
    batch_server: ModelServer, tmp_path: Path
) -> None:
    batch_server.program(lines=["long"])
    assert session(batch_server, tmp_path, asked(3)) == echoes(3)


@DIALECTS
def test_requests_without_a_line_are_sent_again_and_no_others(
    batch_server: ModelServer, tmp_path: Path, dialect: str
) -> None:
    batch_server.program(lines=["missing"])
    assert session(batch_server, tmp_path, asked(9), dialect=dialect) == echoes(9)
    report = batch_server.report()
    assert report["sizes"] == [9, 3]
    assert sorted(report["paid"].values()) == [1] * 6 + [2] * 3


@DIALECTS
def test_what_expired_is_sent_again_and_what_was_answered_is_not(
    batch_server: ModelServer, tmp_path: Path, dialect: str
) -> None:
    batch_server.program(expiring=2)
    assert session(batch_server, tmp_path, asked(8), dialect=dialect) == echoes(8)
    report = batch_server.report()
    assert report["sizes"] == [8, 4, 2]
    assert set(report["paid"].values()) == {1}


def test_a_request_that_always_expires_fails_after_some_batches(
    batch_server: ModelServer, tmp_path: Path
) -> None:
    batch_server.program(expiring=99)
    found = session(batch_server, tmp_path, asked(2))
    assert found[0] == "echo: q0"
    assert found[1] == "echo: q1"  # alone in its second batch, it is the first one there
    assert batch_server.report()["sizes"] == [2, 1]


@DIALECTS
def test_a_failed_line_is_repeated_or_an_error_as_its_kind_says(
    batch_server: ModelServer, tmp_path: Path, dialect: str
) -> None:
    anthropic = dialect == "anthropic"
    busy = {"type": "overloaded_error"} if anthropic else {"status": 503, "message": "busy"}
    wrong = {"type": "invalid_request_error"} if anthropic else {"status": 400, "message": "no"}
    batch_server.program(fails={"q1": [busy], "q2": [wrong] * 9, "q3": [busy] * 9})
    found = session(batch_server, tmp_path, asked(5), dialect=dialect)
    assert (found[0], found[1], found[4]) == ("echo: q0", "echo: q1", "echo: q4")
    assert found[2].startswith("ProviderError: ")
    assert found[3].startswith("ProviderError: gave up after 5 batches")
    assert batch_server.report()["sizes"] == [5, 2, 1, 1, 1]


@pytest.mark.parametrize("dialect", ["openai", "azure"])
def test_what_a_policy_filter_refuses_is_a_reply(
    batch_server: ModelServer, tmp_path: Path, dialect: str
) -> None:
    refusal = {"status": 400, "code": "content_filter", "message": "filtered"}
    batch_server.program(fails={"q1": [refusal] * 9})

    async def work(bench: Bench) -> list[str]:
        answers: list[Any] = await bench.ask(*prompts(2))
        return [one.reply.stop_reason for one in answers]

    assert session(batch_server, tmp_path, work, dialect=dialect) == ["stop", "filter"]
    assert batch_server.report()["sizes"] == [2]


@DIALECTS
def test_what_somebody_cancelled_is_not_sent_again_until_the_next_session(
    batch_server: ModelServer, tmp_path: Path, dialect: str
) -> None:
    batch_server.program(cancelled=1)
    found = session(batch_server, tmp_path, asked(4), dialect=dialect)
    assert found[:2] == echoes(2)
    assert all("was cancelled" in one for one in found[2:])
    assert session(batch_server, tmp_path, asked(4), dialect=dialect) == echoes(4)
    report = batch_server.report()
    assert report["sizes"] == [4, 2]
    assert set(report["paid"].values()) == {1}


@DIALECTS
def test_a_batch_past_its_deadline_is_cancelled_and_what_it_brought_counts(
    batch_server: ModelServer, tmp_path: Path, dialect: str
) -> None:
    batch_server.program(delay=3600)
    settings = BatchSettings(poll=0.05, deadline=0.2)
    found = session(batch_server, tmp_path, asked(4), dialect=dialect, settings=settings)
    assert found[:2] == echoes(2)
    assert all("was cancelled" in one for one in found[2:])


def test_a_file_that_is_refused_is_told_once_and_loses_the_model(
    batch_server: ModelServer, tmp_path: Path
) -> None:
    batch_server.program(create=["refused"])
    found = session(batch_server, tmp_path, asked(4))
    (told,) = [one for one in found if one.startswith("ProviderError")]
    assert "the batch was refused: line 3: This line is no JSON" in told
    assert sum(one.startswith("ModelLost") for one in found) == 3
    assert batch_server.report()["paid"] == {}


def test_an_account_with_too_much_waiting_gets_smaller_batches_one_after_the_other(
    batch_server: ModelServer, tmp_path: Path
) -> None:
    batch_server.program(most=3, delay=0.2)
    assert session(batch_server, tmp_path, asked(10)) == echoes(10)
    report = batch_server.report()
    assert set(report["paid"].values()) == {1}
    assert [size for size in report["sizes"] if size > 3] == [10, 5]


@DIALECTS
@pytest.mark.parametrize("fault", [429, 500, "reset", "lost"])
def test_a_creation_that_fails_in_any_way_is_paid_once(
    batch_server: ModelServer, tmp_path: Path, dialect: str, fault: Any
) -> None:
    batch_server.program(create=[fault, fault])
    assert session(batch_server, tmp_path, asked(4), dialect=dialect) == echoes(4)
    report = batch_server.report()
    assert report["sizes"] == [4]
    assert set(report["paid"].values()) == {1}


@DIALECTS
def test_questions_that_fail_are_asked_again(
    batch_server: ModelServer, tmp_path: Path, dialect: str
) -> None:
    faults = [429, 500, "reset", 503]
    batch_server.program(poll=faults, read=faults, list=faults, create=["lost"])
    assert session(batch_server, tmp_path, asked(4), dialect=dialect) == echoes(4)
    assert batch_server.report()["sizes"] == [4]


def test_a_wrong_key_loses_the_model_at_once(batch_server: ModelServer, tmp_path: Path) -> None:
    batch_server.program(create=[401])
    found = session(batch_server, tmp_path, asked(3))
    assert sum(one.startswith("ProviderError") for one in found) == 1
    assert sum(one.startswith("ModelLost") for one in found) == 2


@DIALECTS
def test_a_session_that_leaves_pays_nothing_twice_when_it_comes_back(
    batch_server: ModelServer, tmp_path: Path, dialect: str
) -> None:
    batch_server.program(delay=1.5)
    leaving = BatchSettings(wait=0, poll=0.05)
    found = session(batch_server, tmp_path, asked(4), dialect=dialect, settings=leaving)
    assert all(one.startswith("RunStopped: batches are left") for one in found)
    assert session(batch_server, tmp_path, asked(6), dialect=dialect) == echoes(6)
    report = batch_server.report()
    assert sorted(report["sizes"]) == [2, 4]
    assert set(report["paid"].values()) == {1}


def test_a_batch_that_the_provider_has_forgotten_is_made_again(
    batch_server: ModelServer, tmp_path: Path
) -> None:
    batch_server.program(delay=60)
    leaving = BatchSettings(wait=0, poll=0.05)
    session(batch_server, tmp_path, asked(3), settings=leaving)
    batch_server.program()  # nothing is left of it
    assert session(batch_server, tmp_path, asked(3)) == echoes(3)


def test_requests_cost_what_batches_cost(batch_server: ModelServer, tmp_path: Path) -> None:
    budget = Budget(prices={"in batches": Price(input=1e5, output=1e5).in_batches})

    async def work(bench: Bench) -> Any:
        answers: list[Any] = await bench.ask(*prompts(2))
        return [one.reply.usage for one in answers]

    usages = session(batch_server, tmp_path, work, budget=budget)
    # Ten tokens in and five out, at half of ten cents each.
    assert [usage.cost for usage in usages] == [0.75, 0.75]
    assert [usage.batched for usage in usages] == [1, 1]
    assert budget.spent_usd == 1.5


def test_a_budget_makes_batches_as_large_as_it_bears_and_then_none(
    batch_server: ModelServer, tmp_path: Path
) -> None:
    # A first request is expected to take about 1,000 tokens, and takes 15.
    found = session(batch_server, tmp_path, asked(9), budget=Budget(max_tokens=3100))
    assert found == echoes(9)
    assert batch_server.report()["sizes"][0] == 3
    stopped = session(batch_server, tmp_path / "b", asked(9), budget=Budget(max_tokens=500))
    assert all(one.startswith("RunStopped: limit of 500 tokens") for one in stopped)
    assert sum(batch_server.report()["sizes"]) == 9


def test_what_cannot_wait_is_asked_alone(batch_server: ModelServer, tmp_path: Path) -> None:
    async def work(bench: Bench) -> Any:
        from pytest_llmeval.engine.tickets import Ticket  # noqa: PLC0415 - for this alone

        ticket = Ticket(0, online=True)
        answer = await bench.models.ask(bench.spec.bare, bench.request("q0"), ticket)
        return answer.reply.usage.batched, answer.reply.text

    assert session(batch_server, tmp_path, work) == (0, "echo: q0")
    assert batch_server.report()["sizes"] == []


def test_draws_and_epochs_of_one_prompt_are_requests_of_one_batch(
    batch_server: ModelServer, tmp_path: Path
) -> None:
    async def work(bench: Bench) -> Any:
        await asyncio.gather(
            bench.ask("a", "a", draw=0), bench.ask("a", draw=1), bench.ask("a", epoch=2)
        )

    session(batch_server, tmp_path, work)
    assert batch_server.report()["sizes"] == [3]


def test_an_endless_trickle_of_requests_does_not_hold_up_the_first_ones(
    batch_server: ModelServer, tmp_path: Path
) -> None:
    async def work(bench: Bench) -> Any:
        first = asyncio.create_task(bench.ask("first"))
        others: list[asyncio.Task[Any]] = []
        while not first.done() and len(others) < 400:
            others.append(asyncio.create_task(bench.ask(f"q{len(others)}")))
            await asyncio.sleep(0.02)
        assert first.done()
        await asyncio.gather(*others)

    session(batch_server, tmp_path, work, settings=QUICK)


@DIALECTS
def test_a_batch_of_others_with_as_many_requests_is_not_taken_for_a_lost_one(
    batch_server: ModelServer, tmp_path: Path, dialect: str
) -> None:
    async def others(bench: Bench) -> None:
        await bench.ask("a", "b", "c", "d")

    batch_server.program(create=[None, 500, "lost"])
    session(batch_server, tmp_path / "others", others, dialect=dialect)
    assert session(batch_server, tmp_path / "own", asked(4), dialect=dialect) == echoes(4)
    report = batch_server.report()
    assert report["sizes"] == [4, 4]
    assert set(report["paid"].values()) == {1}


def test_what_another_run_left_is_gone_on_with_from_its_store(
    batch_server: ModelServer, tmp_path: Path
) -> None:
    batch_server.program(delay=1.5)
    leaving = BatchSettings(wait=0, poll=0.05)
    session(batch_server, tmp_path / "a", asked(4), settings=leaving)
    for _ in range(2):  # a third run finds the results, too
        place = tmp_path / f"b{_}"
        assert session(batch_server, place, asked(4), others=[tmp_path / "a"]) == echoes(4)
    report = batch_server.report()
    assert report["sizes"] == [4]
    assert set(report["paid"].values()) == {1}


@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
def test_more_than_a_batch_may_hold_become_several(
    batch_server: ModelServer, tmp_path: Path, dialect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for service in (OpenAIBatches, AnthropicBatches):
        monkeypatch.setattr(service, "form", service.form._replace(requests=4))
    assert session(batch_server, tmp_path / "a", asked(10), dialect=dialect) == echoes(10)
    assert sorted(batch_server.report()["sizes"]) == [2, 4, 4]
    for service in (OpenAIBatches, AnthropicBatches):
        monkeypatch.setattr(service, "form", service.form._replace(requests=99, size=500))

    async def work(bench: Bench) -> list[str]:
        return texts(await bench.ask("x", "y", "z", "long " * 100))

    *short, refused = session(batch_server, tmp_path / "b", work, dialect=dialect)
    assert short == ["echo: x", "echo: y", "echo: z"]
    assert "bytes, and a batch 500 at most" in refused


def test_a_schema_that_is_refused_is_left_out_of_the_next_batch(
    batch_server: ModelServer, tmp_path: Path
) -> None:
    refusal = {"status": 400, "message": "response_format of type json_schema is not supported"}
    batch_server.program(fails={"q0": [refusal], "q1": [refusal]})
    schema = {"response_format": {"type": "json_schema", "json_schema": {"name": "v"}}}

    async def work(bench: Bench) -> list[str]:
        return texts(await bench.ask(*prompts(2), role="judge", parameters=schema))

    assert session(batch_server, tmp_path, work) == echoes(2)
    assert batch_server.report()["sizes"] == [2, 2]
