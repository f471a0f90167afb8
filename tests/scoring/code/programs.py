"""Programs scored as the engine scores them, without an engine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

from pytest_llmeval.records import Completion, Sample, Score
from pytest_llmeval.sandbox.choice import present_isolations
from pytest_llmeval.sandbox.isolation import Isolation
from pytest_llmeval.scoring.code.scorer import CodeScorer
from pytest_llmeval.scoring.scorer import ScorerContext

T = TypeVar("T")


class Surroundings:
    """The part of a `ScorerContext` that runs programs."""

    def __init__(self, isolation: Isolation | None = None) -> None:
        """Use an isolation, or the best that there is."""
        self._isolation = isolation or next(iter(present_isolations()), None)
        self._shared: dict[str, asyncio.Task[Any]] = {}

    async def shared(self, key: str, start: Callable[[], Awaitable[T]]) -> T:
        if key not in self._shared:
            self._shared[key] = asyncio.ensure_future(_awaited(start))
        return cast("T", await self._shared[key])

    def setting(self, name: str) -> str | None:
        return {"sandbox": self._isolation}.get(name)


async def _awaited(start: Callable[[], Awaitable[T]]) -> T:
    return await start()


def scorer_for(metadata: Mapping[str, Any]) -> CodeScorer:
    """Return the scorer that knows of the parts of a sample by their own names."""
    parts: dict[str, Any] = {key: key for key in ("entry", "head", "setup") if key in metadata}
    return CodeScorer(tests="tests", timeout=2, **parts)


def sample_of(target: str = "", **metadata: Any) -> Sample:
    return Sample(id="1", input="", target=target, metadata=metadata)


async def scored(scorer: CodeScorer, program: str, sample: Sample, around: Surroundings) -> Score:
    """Return the score of a program."""
    scorer.check_sample(sample)
    completion = Completion(text="", answer=program)
    prepared = await scorer.prepare(sample, completion, cast("ScorerContext", around))
    return scorer.score(program, sample, prepared)


def score(
    program: str, *, isolation: Isolation | None = None, target: str = "", **metadata: Any
) -> Score:
    """Return the score of one program under the options that the metadata gives."""
    scorer, sample = scorer_for(metadata), sample_of(target, **metadata)
    return asyncio.run(scored(scorer, program, sample, Surroundings(isolation)))


def scored_all(
    scorer: CodeScorer, programs: Sequence[tuple[str, Sample]], around: Surroundings
) -> list[Score]:
    """Return the scores of programs, which run beside each other."""

    async def together() -> list[Score]:
        runs = (scored(scorer, program, sample, around) for program, sample in programs)
        return await asyncio.gather(*runs)

    return asyncio.run(together())
