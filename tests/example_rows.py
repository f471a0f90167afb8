"""Rows for tests of results and reports (tests/ is on the path because of its conftest.py)."""

from __future__ import annotations

from typing import Any

from pytest_llmeval.records import Display, Outcome, Row, Score, Usage
from pytest_llmeval.results.task_info import ScoreInfo

TEST = "benchmarks/demo/test_demo.py::test_demo"


def row(  # noqa: PLR0913 - the fields that tests vary
    sample: str = "1",
    outcome: Outcome = "correct",
    *,
    task: str = "demo",
    model: str = "openai/small",
    epoch: int = 1,
    test: str = TEST,
    **fields: Any,
) -> Row:
    """Return a row that a live model answered, unless `fields` say otherwise."""
    ran: dict[str, Any] = (
        {} if outcome == "not run" else {"usage": Usage(requests=1), "stop_reason": "stop"}
    )
    return Row(
        test=test,
        task=task,
        sample=sample,
        model=model,
        epoch=epoch,
        nodeid=f"{test}[{sample}]",
        outcome=outcome,
        **{**ran, **fields},
    )


def eed(value: float, published: float | None = None) -> tuple[Score, ...]:
    """Return the scores of a formula: EED, and EED published when given."""
    scores = [Score(name="EED", value=value, scale=100.0, correct=value == 100.0)]
    if published is not None:
        scores.append(
            Score(
                name="EED published",
                value=published,
                scale=100.0,
                correct=published == 100.0,
                decides=False,
            )
        )
    return tuple(scores)


FORMULAS = Display(formulas=True, trees="trees", efficiency=True)
EEDS = (
    ScoreInfo(name="EED", scale=100.0, display=FORMULAS),
    ScoreInfo(name="EED published", scale=100.0, decides=False, display=FORMULAS),
)
"""What a task with the scores of `eed` declares of them."""
