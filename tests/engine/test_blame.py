"""Requests that are always refused cost their own samples, and a model that is down is told soon.

A model of faults behind scheduler, reply store, gateway and limiter, in virtual time; and the same
requests to a real server.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from engine.requests_and_replies import MODEL, reply, request
from engine.virtual_time import run
from hypothesis import given, settings
from hypothesis import strategies as st
from servers.fixture import ModelServer

from pytest_llmeval.engine.attempts import MAX_ATTEMPTS, MAX_REFUSALS
from pytest_llmeval.engine.budget import Budget
from pytest_llmeval.engine.failures import SEVERAL
from pytest_llmeval.engine.gateway import Gateway
from pytest_llmeval.engine.limits import Limiter
from pytest_llmeval.engine.models import Models
from pytest_llmeval.engine.replies import ReplyStore
from pytest_llmeval.engine.scheduler import Scheduler
from pytest_llmeval.engine.solved import Solved
from pytest_llmeval.engine.spec_settings import PATIENCE
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.engine.statistics import CallStatistics
from pytest_llmeval.engine.tickets import Ticket
from pytest_llmeval.errors import (
    FailedAttempt,
    LLMEvalError,
    ModelLost,
    ModelSilent,
    ProviderError,
    Reach,
    RunStopped,
)
from pytest_llmeval.files.images import ImageFolder
from pytest_llmeval.providers.opening import open_provider
from pytest_llmeval.records import Completion, Reply, Request

Fault = Callable[[], ProviderError | None]
"""Makes the error of one attempt; None for no answer at all."""


def fault(
    cause: str,
    status: int | None = None,
    *,
    reach: Reach = "attempt",
    retry_after: float | None = None,
) -> Fault:
    return lambda: ProviderError(
        f"m: {cause}", reach=reach, status=status, cause=cause, retry_after=retry_after
    )


def refused() -> ProviderError:
    return ProviderError("m: slow down", reach="attempt", status=429, cause="429")


FAULTS: Mapping[str, Fault] = {
    "429": fault("429", 429),
    "429 with Retry-After": fault("429", 429, retry_after=20.0),
    "503": fault("503", 503),
    "500": fault("500", 500),
    "413": fault("413", 413, reach="sample"),
    "400": fault("400", 400, reach="sample"),
    "an error with status 200": fault("served", 200),
    "a redirect to nowhere": fault("redirect"),
    "a reset": fault("reset"),
    "no answer": lambda: None,
}

OUTAGES = sorted(FAULTS.keys() - {"413", "400"})


@dataclass
class Faulty:
    """A provider of echoes after a second.

    Some prompts always have their fault; so many requests per minute are answered, the others are
    refused.
    """

    poisonous: Mapping[str, Fault]
    per_minute: float = math.inf
    asked: Counter[str] = field(default_factory=Counter)

    _minutes: Counter[int] = field(default_factory=Counter)

    async def send(self, request: Request) -> Reply:
        prompt = request.messages[-1].text
        self.asked[prompt] += 1
        minute = int(asyncio.get_running_loop().time() // 60)
        if self._minutes[minute] >= self.per_minute and prompt not in self.poisonous:
            raise refused()
        self._minutes[minute] += 1
        await asyncio.sleep(1)
        if (poison := self.poisonous.get(prompt)) is None:
            return reply(prompt)
        if (error := poison()) is not None:
            raise error
        await asyncio.sleep(1e9)
        raise AssertionError

    async def close(self) -> None:
        """Close nothing."""


@dataclass(frozen=True)
class Ended:
    """What became of a run.

    Attributes:
        outcomes: the text or the error of each sample.
        asked: requests by prompt.
        seconds: how long it took.
        told: seconds until the model was said to be silent or lost; infinite if it never was.
    """

    outcomes: list[str | LLMEvalError]
    asked: Counter[str]
    seconds: float
    told: float

    @property
    def errors(self) -> list[LLMEvalError]:
        """The errors that tests report; the other samples without reply were not run."""
        lost = [one for one in self.outcomes if isinstance(one, LLMEvalError)]
        return [error for error in lost if not isinstance(error, ModelLost | RunStopped)]


def ended(
    faults: Mapping[int, Fault],
    samples: int,
    concurrency: int,
    *,
    draws: int = 1,
    per_minute: float = math.inf,
) -> Ended:
    """Run samples one after the other, as a test session does, with others started ahead.

    Args:
        faults: the fault of each poisonous sample.
        samples: number of samples.
        concurrency: requests in flight, at most.
        draws: equal requests of each sample.
        per_minute: requests that the provider answers in a minute.
    """
    provider = Faulty({f"q{n}": fault for n, fault in faults.items()}, per_minute)
    store = ReplyStore(None)

    def open_gateway(spec: ModelSpec) -> Gateway:
        return Gateway.of(spec, provider, budget=Budget(), concurrency=concurrency)

    models = Models(open_gateway, store)

    async def solve(position: int, ticket: Ticket) -> Solved:
        answers = await asyncio.gather(
            *(
                models.ask(MODEL, request(f"q{position}", draw=draw), ticket)
                for draw in range(draws)
            )
        )
        return Solved(completion=Completion(text=answers[0].reply.text))

    async def main() -> Ended:
        scheduler = Scheduler(
            samples,
            solve,
            window=2 * concurrency,
            fatal=lambda error: isinstance(error, RunStopped) or bool(models.lost),
        )
        start = asyncio.get_running_loop().time()
        outcomes: list[str | LLMEvalError] = []
        told = math.inf
        for position in range(samples):
            try:
                outcomes.append((await scheduler.completion("", position)).completion.text)
            except LLMEvalError as error:
                outcomes.append(error)
                if isinstance(error, ModelSilent):
                    told = asyncio.get_running_loop().time() - start
        seconds = asyncio.get_running_loop().time() - start
        await models.close()
        return Ended(outcomes, provider.asked, seconds, told)

    return run(main())


@st.composite
def poisons(draw: st.DrawFn) -> tuple[dict[int, Fault], int]:
    """Draw a number of samples, and the faults of all but one of them at most."""
    samples = draw(st.integers(1, 40))
    spared = draw(st.integers(0, samples - 1))
    kinds = st.none() | st.sampled_from(sorted(FAULTS))
    one_kind = draw(kinds)
    drawn = [
        one_kind if one_kind is not None and draw(st.booleans()) else draw(kinds)
        for _ in range(samples)
    ]
    faults = {n: FAULTS[kind] for n, kind in enumerate(drawn) if kind and n != spared}
    return faults, samples


@settings(max_examples=60)
@given(poisons(), st.integers(1, 64))
def test_poisonous_requests_never_cost_another_sample_its_score(
    drawn: tuple[dict[int, Fault], int], concurrency: int
) -> None:
    faults, samples = drawn
    result = ended(faults, samples, concurrency)
    for n, outcome in enumerate(result.outcomes):
        assert isinstance(outcome, LLMEvalError) if n in faults else outcome == f"q{n}"
    assert max(result.asked.values()) <= MAX_REFUSALS


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("concurrency", [1, 64])
def test_the_last_sample_has_its_score_behind_poisonous_ones_alone(
    kind: str, concurrency: int
) -> None:
    result = ended(dict.fromkeys(range(59), FAULTS[kind]), 60, concurrency)
    assert result.outcomes[59] == "q59"


@pytest.mark.parametrize("kind", FAULTS)
def test_one_poisonous_request_of_500_is_one_error_and_given_up_in_time(kind: str) -> None:
    result = ended({250: FAULTS[kind]}, 500, 16)
    [error] = [one for one in result.outcomes if isinstance(one, LLMEvalError)]
    assert result.errors == [error]
    assert not isinstance(error, ModelSilent)
    assert result.asked["q250"] <= MAX_ATTEMPTS + 5
    # Its own waits, or its three time-outs of ten minutes.
    assert result.seconds < (1900 if kind == "no answer" else 400)


@pytest.mark.parametrize("kind", OUTAGES)
@pytest.mark.parametrize("concurrency", [1, 64])
def test_a_model_that_is_down_is_told_soon_and_asked_little(kind: str, concurrency: int) -> None:
    result = ended(dict.fromkeys(range(200), FAULTS[kind]), 200, concurrency)
    assert len(result.errors) <= SEVERAL
    assert result.asked.total() <= 2 * 200 + MAX_ATTEMPTS * SEVERAL
    assert min(result.asked.values()) == 1
    if kind != "no answer":
        assert result.told < 5 * PATIENCE


def test_equal_draws_of_one_prompt_are_no_witnesses_for_each_other() -> None:
    result = ended({0: FAULTS["400"]}, 1, 64, draws=SEVERAL + 1)
    [error] = result.errors
    assert not isinstance(error, ModelSilent)


@pytest.mark.parametrize("per_minute", [3, 10, 60])
@pytest.mark.parametrize("concurrency", [1, 8, 64])
def test_a_rate_limit_that_nobody_told_costs_no_sample(per_minute: int, concurrency: int) -> None:
    result = ended({40: FAULTS["429"]}, 150, concurrency, per_minute=per_minute)
    [poisonous] = [n for n, one in enumerate(result.outcomes) if isinstance(one, LLMEvalError)]
    assert poisonous == 40


SERVED = [
    {"kind": "429"},
    {"kind": "429", "retry_after": "5ms"},
    {"kind": "429", "message": "Request too large for m on tokens per min (TPM): Limit 3"},
    {"kind": "413"},
    {"kind": "400", "message": "maximum context length is 3 tokens"},
    {"kind": "403", "message": "<!DOCTYPE html>firewall"},
    {"kind": "500"},
    {"kind": "503"},
    {"kind": "served"},
    {"kind": "redirect", "location": "http://127.0.0.1:9/v1/chat/completions"},
    {"kind": "reset"},
    {"kind": "stall"},
    {"kind": "garbage"},
]
"""Faults of a real server, as `servers.openai_server` knows them."""


@pytest.mark.parametrize("concurrency", [1, 64])
@pytest.mark.parametrize(
    "poisonous",
    [set(range(13)), set(range(29)), set(range(30)) - {17}],
    ids=["first", "all but the last", "all but one"],
)
def test_a_real_server_that_always_refuses_some_requests_answers_all_others(
    model_server: ModelServer, tmp_path: Path, poisonous: set[int], concurrency: int
) -> None:
    # The kinds in turn, so that equal ones stand apart; a stall takes a second of real time.
    faults = {n: SERVED[n % len(SERVED)] for n in poisonous}
    model_server.program(poison={f"q{n}": one for n, one in faults.items()})
    limits = Limiter(concurrency, longest_pause=0.01)

    async def hurried(seconds: float) -> None:
        await asyncio.sleep(seconds / 1000)

    async def main() -> list[tuple[Reply, tuple[FailedAttempt, ...]] | BaseException]:
        gateway = Gateway(
            open_provider(
                MODEL,
                folder=tmp_path,
                image_store=ImageFolder(tmp_path),
                environ={"OPENAI_BASE_URL": model_server.url},
            ),
            name="openai/m",
            limits=limits,
            budget=Budget(),
            timeout=0.4,
            patience=0.2,
            statistics=CallStatistics(),
            sleep=hurried,
        )
        asking = (gateway.ask(request(f"q{n}"), Ticket(n)) for n in range(30))
        try:
            return await asyncio.gather(*asking, return_exceptions=True)
        finally:
            await gateway.close()

    for n, outcome in enumerate(asyncio.run(main())):
        if n in poisonous:
            assert isinstance(outcome, ProviderError)
            assert outcome.reach == "sample"
        else:
            assert isinstance(outcome, tuple), outcome
            assert outcome[0].text == f"echo: q{n}"
    assert max(model_server.report()["attempts"].values()) <= MAX_REFUSALS
