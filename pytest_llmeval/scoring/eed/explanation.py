"""Each step of a scoring as text, for the command line and for checking a score."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from pytest_llmeval.scoring.eed.metric.comparison import nearest_distance
from pytest_llmeval.scoring.eed.metric.expression import published_tree
from pytest_llmeval.scoring.eed.published import published
from pytest_llmeval.scoring.eed.published import text as published_text
from pytest_llmeval.scoring.eed.reader.guards import FormulaError, check_text
from pytest_llmeval.scoring.eed.reader.pair import (
    read_one,
    read_pair,
    with_shared_subscripts,
)
from pytest_llmeval.scoring.eed.reader.tokens import latex_of, tokens_of
from pytest_llmeval.scoring.eed.result import EedResult, Mode
from pytest_llmeval.scoring.eed.scoring import compared_forms, score_pair
from pytest_llmeval.scoring.eed.time_limit import TimeLimit, unlimited


def explain(
    answer: str, target: str, *, mode: Mode = "corrected", time_limit: TimeLimit = unlimited
) -> str:
    """Return the steps of scoring one pair, a line each.

    The steps are: clean-up, reading, simplification, tree, edits, score. Runs in this process, like
    `eed_score`; `Sandbox.explain` runs in a child.
    """
    result = score_pair(answer, target, mode=mode, time_limit=time_limit)
    lines = [f"mode        {mode} ({result.grader})"]
    pair = with_shared_subscripts(answer, target)
    for side, (name, text) in enumerate((("answer", answer), ("target", target))):
        lines.append(f"{name:<12}{text}")
        if mode == "published":
            steps = _published_steps(text, time_limit)
        else:
            steps = _corrected_steps(pair, side)
        lines.extend(f"  {line}" for line in _with_failure(steps))
    return "\n".join([*lines, *_result_lines(result)])


def _with_failure(steps: Iterator[str]) -> Iterator[str]:
    """Yield the steps, and a last line for the error if one fails."""
    try:
        yield from steps
    except FormulaError as error:
        yield f"refused     {error}"
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - sympy raises anything; the line shows it
        yield f"failed      {type(error).__name__}: {error}"


def _published_steps(text: str, time_limit: TimeLimit) -> Iterator[str]:
    check_text(text)
    yield f"cleaned     {published_text.clean_up(text)}"
    expression = published.read(text)
    yield f"read        {expression}"
    simplified = published.simplified(expression, time_limit)
    yield f"simplified  {simplified}"
    yield f"tree        {published_tree(simplified).prefix()}"


def _corrected_steps(texts: tuple[str, str], side: int) -> Iterator[str]:
    """Yield the steps of one side; the other decides on the meaning and order of its symbols."""
    yield f"cleaned     {latex_of(tokens_of(texts[side]))}"
    reading = read_one(texts[side])
    forms = (reading.answer.form, reading.answer.form)
    with suppress(FormulaError):
        pair = read_pair(*texts)
        reading, forms = (
            (pair.answer, pair.target)[side],
            compared_forms(pair.answer.answer, pair.target.answer),
        )
    yield f"type        {type(reading.answer).__name__.lower()}"
    yield f"read        {reading.answer.form}"
    yield from (f"defined     {name} = {value}" for name, value in reading.definitions)
    found = nearest_distance(*forms)
    yield f"tree        {(found.source, found.target)[side].nodes[-1].prefix()}"


def _result_lines(result: EedResult) -> Iterator[str]:
    yield from (f"assumed     {assumption}" for assumption in result.assumptions)
    if result.distance and result.tree_size:
        yield (
            f"distance    {result.distance:g} of {result.tree_size} nodes, "
            f"{result.relative_distance:.3f} relative"
        )
        yield from (f"  {edit} ({edit.cost:g})" for edit in result.edits)
    yield f"score       {result.score:.2f} of 100: {result.reading}, {result.reason}"
