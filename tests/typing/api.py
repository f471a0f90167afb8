"""What users write against the public types; checked by mypy, never run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_llmeval import (
    Completion,
    Json,
    Message,
    Provider,
    ProviderSetup,
    Reply,
    Request,
    Row,
    Sample,
    Score,
    Scorer,
    ScorerContext,
    Solver,
    SolverContext,
    assert_correct,
    assert_pddl_equal,
    load_run,
    parse_pddl,
    pddl_diff,
    pddl_equals,
    record_score,
)
from pytest_llmeval.scoring.scorer import PreparingScorer


@dataclass(frozen=True)
class Length:
    """A scorer without models."""

    most: int = 100
    name: str = "length"
    grader: str = "length/1"
    scale: float = 1.0

    def check(self, target: str) -> None:
        if not target:
            raise ValueError(target)

    def score(self, answer: str | None, sample: Sample, prepared: Json) -> Score:
        value = float(answer is not None and len(answer) <= self.most)
        return Score(name=self.name, value=value, correct=value == 1, details={"of": sample.id})


@dataclass(frozen=True)
class Opinion(Length):
    """A scorer that asks a model."""

    models: tuple[str, ...] = ()
    only_incorrect: bool = False

    async def prepare(self, sample: Sample, completion: Completion, context: ScorerContext) -> Json:
        question = [Message.of("user", f"{sample.input}\n{completion.text}")]
        reply = await context.generate(question, model=context.models[0], stage="opinion")
        return reply.text


async def solve(sample: Sample, context: SolverContext) -> Completion:
    reply = await context.generate(context.prompt("generate", hint=sample.id))
    return Completion(text=reply.text, stop_reason=reply.stop_reason)


class Echo:
    """A provider."""

    async def send(self, request: Request) -> Reply:
        return Reply(text=request.messages[-1].text)

    async def close(self) -> None: ...


def open_echo(setup: ProviderSetup) -> Provider:
    assert setup.model
    return Echo()


def mean_length(rows: Sequence[Row], *, least: int = 0) -> float | None:
    lengths = [len(row.answer) for row in rows if row.answer and len(row.answer) >= least]
    return sum(lengths) / len(lengths) if lengths else None


def test_body(sample: Sample, completion: Completion) -> None:
    scores: tuple[Score, ...] = assert_correct(sample, completion)
    kept: Score = record_score(scores[0])
    assert kept.correct


def test_goal(sample: Sample, completion: Completion) -> None:
    score: Score = assert_pddl_equal(
        completion.answer, sample.target, predicates={"in-room": ["room"]}, case_sensitive=False
    )
    same: bool = pddl_equals("(a)", parse_pddl("(and (a))"), case_sensitive=True)
    lines: tuple[str, ...] = pddl_diff("(a)", "(b)")
    assert score.correct
    assert same
    assert lines


scorer: Scorer = Length()
preparing: PreparingScorer = Opinion()
solver: Solver = solve


def of_a_run() -> tuple[float | None, list[str]]:
    """Read a stored run."""
    run = load_run("latest", reports="reports")
    replies = [call.reply.text for row in run.rows for call in run.transcripts[row.key].calls]
    return run.summary.entries[0].figures.accuracy.value, replies
