"""Several judges of one answer: asked at the same time, noted in their order."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest
from requests_and_replies import MODEL, reply
from virtual_time import run

from pytest_llmeval.engine.budget import Budget
from pytest_llmeval.engine.calls import Calls
from pytest_llmeval.engine.completions import CompletionStore
from pytest_llmeval.engine.gateway import Gateway
from pytest_llmeval.engine.judging import Case, ask_judges
from pytest_llmeval.engine.limits import Limiter
from pytest_llmeval.engine.models import Models
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.engine.statistics import CallStatistics
from pytest_llmeval.engine.tickets import Ticket
from pytest_llmeval.errors import ProviderError
from pytest_llmeval.records import FailedCall, ModelCall, Reply, Request

CASE = Case(problem="How long?", target="5", candidate="five", votes=2, prefilter=False)


class Judge:
    """Answers after the seconds that its name says; "0" fails."""

    async def send(self, request: Request) -> Reply:
        await asyncio.sleep(int(request.model))
        if request.model == "0":
            problem = "refused"
            raise ProviderError(problem, reach="sample")
        return reply(json.dumps({"answer_correct": 1, "reason": request.model}))

    async def close(self) -> None: ...


def judged(*names: str) -> tuple[list[tuple[str, type, int]], float, str]:
    """Return the transcript, the seconds that it took, and the explanation or the failure."""

    async def main() -> None:
        nonlocal seconds, told
        store = CompletionStore(None)
        models = Models(open_gateway, store, None)
        calls = Calls(models, Ticket(0))
        start = asyncio.get_running_loop().time()
        try:
            told = (
                await ask_judges(
                    CASE, [replace(MODEL, name=name, label=name) for name in names], calls
                )
            ).explanation
        except ProviderError as error:
            told = str(error)
        seconds = asyncio.get_running_loop().time() - start
        await models.close()
        for event in calls.transcript.events:
            assert isinstance(event, ModelCall | FailedCall)
            events.append(
                (event.asked.model.removeprefix("openai/"), type(event), event.asked.draw)
            )

    def open_gateway(spec: ModelSpec) -> Gateway:
        statistics = CallStatistics()
        limits = Limiter(9, statistics=statistics)
        return Gateway(
            Judge(),
            name=spec.name,
            limits=limits,
            budget=Budget(),
            timeout=60,
            statistics=statistics,
        )

    events: list[tuple[str, type, int]] = []
    seconds, told = 0.0, ""
    run(main())
    return events, seconds, told


def test_judges_are_asked_at_the_same_time_and_noted_in_their_order() -> None:
    events, seconds, told = judged("3", "1", "2")
    assert events == [(name, ModelCall, draw) for name in ("3", "1", "2") for draw in (0, 1)]
    assert seconds == pytest.approx(6)  # two votes of the slowest, not of all
    assert told == "3 of 3 judges: 3"


def test_a_judges_failure_leaves_what_the_others_said_in_the_transcript() -> None:
    events, _, told = judged("0", "2")
    assert events == [("0", FailedCall, 0), ("2", ModelCall, 0), ("2", ModelCall, 1)]
    assert told == "refused"
