"""Every stage of a scoring as text, for the command line and for whoever disputes a score."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_llmeval.eed import corrected, published, published_text
from pytest_llmeval.eed.guards import Refused, check_text
from pytest_llmeval.eed.reading import read
from pytest_llmeval.eed.result import EedResult, Mode
from pytest_llmeval.eed.scoring import score_pair
from pytest_llmeval.eed.stages import Stage, unlimited


def explain(answer: str, target: str, *, mode: Mode = "corrected", stage: Stage = unlimited) -> str:
    """Return the stages of scoring one pair, a line each: reading, simplifying, distance, edits, score.

    Runs in this process, like `eed_score`; `Sandbox.explain` asks a child.
    """
    result = score_pair(answer, target, mode=mode, stage=stage)
    lines = [f"mode        {mode} ({result.grader})"]
    for name, text in (("answer", answer), ("target", target)):
        lines.append(f"{name:<12}{text}")
        lines.extend(f"  {line}" for line in _stages(text, mode, stage))
    return "\n".join([*lines, *_outcome(result)])


def _stages(text: str, mode: Mode, stage: Stage) -> Iterator[str]:
    """Yield how one side is read; the last line says where it ended if it did not go through."""
    try:
        check_text(text)
        if mode == "published":
            yield f"cleaned     {published_text.clean_up(text)}"
            expression = published.read(text)
            yield f"read        {expression}"
            yield f"simplified  {published.simplified(expression, stage)}"
        else:
            said = read(text)
            yield f"read        {said.formula}"
            if said.approximation is not None:
                yield f"about       {said.approximation}"
            yield f"simplified  {corrected.simplified(said.formula, stage)}"
    except Refused as refused:
        yield f"refused     {refused}"
    except Exception as error:  # noqa: BLE001 - sympy raises anything, and this tells what
        yield f"failed      {type(error).__name__}: {error}"


def _outcome(result: EedResult) -> Iterator[str]:
    yield from (f"assumed     {assumption}" for assumption in result.assumptions)
    if result.distance and result.tree_size:
        yield f"distance    {result.distance:g} of {result.tree_size} nodes, {result.relative_distance:.3f} relative"
        yield from (f"  {edit} ({edit.cost:g})" for edit in result.edits)
    yield f"score       {result.score:.2f} of 100: {result.reading}, {result.reason}"
