"""Every stage of a scoring as text, for the command line and for whoever disputes a score."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_llmeval.scoring.eed import corrected, published, published_text
from pytest_llmeval.scoring.eed.expression import published_tree
from pytest_llmeval.scoring.eed.guards import Refused, check_text
from pytest_llmeval.scoring.eed.reading import Reading, formula_tokens, read
from pytest_llmeval.scoring.eed.result import EedResult, Mode
from pytest_llmeval.scoring.eed.scoring import score_pair
from pytest_llmeval.scoring.eed.stages import Stage, unlimited
from pytest_llmeval.scoring.eed.tokens import latex_of


def explain(answer: str, target: str, *, mode: Mode = "corrected", stage: Stage = unlimited) -> str:
    """Return the stages of scoring one pair, a line each: clean-up, reading, simplifying, tree, edits, score.

    Runs in this process, like `eed_score`; `Sandbox.explain` asks a child.
    """
    result = score_pair(answer, target, mode=mode, stage=stage)
    lines = [f"mode        {mode} ({result.grader})"]
    pair = corrected.with_shared_subscripts(answer, target)
    for side, (name, text) in enumerate((("answer", answer), ("target", target))):
        lines.append(f"{name:<12}{text}")
        stages = _published(text, stage) if mode == "published" else _corrected(pair, side, stage)
        lines.extend(f"  {line}" for line in _until_it_fails(stages))
    return "\n".join([*lines, *_outcome(result)])


def _until_it_fails(stages: Iterator[str]) -> Iterator[str]:
    """Yield the lines; the last says where it ended if it did not go through."""
    try:
        yield from stages
    except Refused as refused:
        yield f"refused     {refused}"
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - sympy raises anything, and this tells what
        yield f"failed      {type(error).__name__}: {error}"


def _published(text: str, stage: Stage) -> Iterator[str]:
    check_text(text)
    yield f"cleaned     {published_text.clean_up(text)}"
    expression = published.read(text)
    yield f"read        {expression}"
    simplified = published.simplified(expression, stage)
    yield f"simplified  {simplified}"
    yield f"tree        {published_tree(simplified).prefix()}"


def _corrected(pair: tuple[str, str], side: int, stage: Stage) -> Iterator[str]:
    """Tell of one side; the other decides what its letters mean, and the order in which the trees are compared."""
    yield f"cleaned     {latex_of(formula_tokens(pair[side]))}"
    said = read(pair[side])
    other = _reading(pair[1 - side]) or said
    answer, target, _ = corrected.settled(*((said, other) if side == 0 else (other, said)))
    said = (answer, target)[side]
    yield f"read        {said.formula}"
    if said.approximation is not None:
        yield f"about       {said.approximation}"
    compared = corrected.simplified_pair(answer, target, stage)
    yield f"simplified  {(compared.answer, compared.target)[side].xreplace(compared.symbols)}"
    yield f"tree        {corrected.trees(answer, target, stage)[side].prefix()}"


def _reading(text: str) -> Reading | None:
    try:
        return read(text)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - as in score_pair; its own lines tell why
        return None


def _outcome(result: EedResult) -> Iterator[str]:
    yield from (f"assumed     {assumption}" for assumption in result.assumptions)
    if result.distance and result.tree_size:
        yield f"distance    {result.distance:g} of {result.tree_size} nodes, {result.relative_distance:.3f} relative"
        yield from (f"  {edit} ({edit.cost:g})" for edit in result.edits)
    yield f"score       {result.score:.2f} of 100: {result.reading}, {result.reason}"
