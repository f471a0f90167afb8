"""Several judges of one answer: asked at the same time, noted in their order."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field, replace

import pytest
from engine.requests_and_replies import MODEL, reply
from engine.virtual_time import run

from pytest_llmeval.engine.budget import Budget
from pytest_llmeval.engine.calls import Calls
from pytest_llmeval.engine.gateway import Gateway
from pytest_llmeval.engine.limits import Limiter
from pytest_llmeval.engine.models import Models
from pytest_llmeval.engine.replies import ReplyStore
from pytest_llmeval.engine.resources import Resources
from pytest_llmeval.engine.scoring_run import ScoringRun
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.engine.statistics import CallStatistics
from pytest_llmeval.engine.tickets import Ticket
from pytest_llmeval.errors import ProviderError
from pytest_llmeval.records import Completion, FailedCall, ModelCall, Reply, Request, Sample
from pytest_llmeval.scoring.judge.judgement import Judgement
from pytest_llmeval.scoring.judge.scorer import JudgeScorer

SAMPLE = Sample(id="1", input="How long?", target="5")
COMPLETION = Completion(text="five", answer="five")
TWO_VOTES = JudgeScorer(votes=2, prefilter=False)


class Judge:
    """Answers after the seconds that its name says; "0" fails."""

    async def send(self, request: Request) -> Reply:
        await asyncio.sleep(int(request.model))
        if request.model == "0":
            problem = "refused"
            raise ProviderError(problem, reach="sample")
        return reply(json.dumps({"answer_correct": 1, "reason": request.model}))

    async def close(self) -> None: ...


def open_gateway(spec: ModelSpec) -> Gateway:
    statistics = CallStatistics()
    return Gateway(
        Judge(),
        name=spec.name,
        limits=Limiter(9, statistics=statistics),
        budget=Budget(),
        timeout=60,
        statistics=statistics,
    )


@dataclass
class Judged:
    """What came of asking: transcript, seconds, and the judgement or the failure."""

    events: list[tuple[str, type, int]] = field(default_factory=list)
    seconds: float = 0.0
    judgement: Judgement | None = None
    failure: str = ""


def spec(name: str, label: str = "") -> ModelSpec:
    return replace(MODEL, name=name, label=label or name)


def judged(*judges: ModelSpec, scorer: JudgeScorer = TWO_VOTES) -> Judged:
    """Ask the judges about one answer."""
    found = Judged()

    async def main() -> None:
        models = Models(open_gateway, ReplyStore(None))
        calls, resources = Calls(models, Ticket(0)), Resources()
        context = ScoringRun(judges, calls, resources)
        start = asyncio.get_running_loop().time()
        try:
            prepared = await scorer.prepare(SAMPLE, COMPLETION, context)
            found.judgement = Judgement.from_json(prepared)
        except ProviderError as error:
            found.failure = str(error)
        found.seconds = asyncio.get_running_loop().time() - start
        await models.close()
        await resources.close()
        for event in calls.transcript.events:
            assert isinstance(event, ModelCall | FailedCall)
            name = event.asked.model.removeprefix("openai/")
            found.events.append((name, type(event), event.asked.draw))

    run(main())
    return found


def test_judges_are_asked_at_the_same_time_and_noted_in_their_order() -> None:
    found = judged(spec("3"), spec("1"), spec("2"))
    assert found.events == [(name, ModelCall, draw) for name in ("3", "1", "2") for draw in (0, 1)]
    assert found.seconds == pytest.approx(6)  # two votes of the slowest, not of all
    assert found.judgement is not None
    assert found.judgement.explanation == "3 of 3 judges: 3"
    assert found.judgement.judge == "3 + 1 + 2"


def test_a_judge_that_fails_loses_its_vote_and_what_the_others_said_stays() -> None:
    found = judged(spec("0"), spec("1"), spec("2"))
    assert found.events == [
        ("0", FailedCall, 0),
        *((name, ModelCall, draw) for name in ("1", "2") for draw in (0, 1)),
    ]
    assert found.judgement is not None
    assert [one.failure for one in found.judgement.opinions] == ["refused", "", ""]
    assert found.judgement.explanation == "2 of 3 judges: 1"


def test_a_failure_of_all_judges_is_raised() -> None:
    found = judged(spec("0"))
    assert (found.failure, found.judgement) == ("refused", None)
    assert found.events == [("0", FailedCall, 0)]


def test_judges_of_one_label_are_told_apart_by_their_models() -> None:
    found = judged(spec("1", "mine"), spec("2", "mine"))
    assert found.judgement is not None
    assert [opinion.judge for opinion in found.judgement.opinions] == ["openai/1", "openai/2"]
    assert {name for name, _, _ in found.events} == {"1", "2"}


def test_without_a_judge_the_answer_is_undecided_and_nothing_is_asked() -> None:
    found = judged()
    assert found.events == []
    assert found.judgement is not None
    assert found.judgement.verdict is None
    assert "no judge is configured: pass --llmeval-judge SPEC" in found.judgement.explanation
