"""Questions whose two solutions agree: the one computed in Python, and the query's rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from pytest_llmeval.domains.heracles.questions.draft import Dice, Draft, UnfitError
from pytest_llmeval.domains.heracles.questions.schema import Schema
from pytest_llmeval.domains.heracles.questions.solutions import (
    MisshapenError,
    sldp_value,
    value_of_rows,
)
from pytest_llmeval.domains.heracles.questions.subject import Subject
from pytest_llmeval.domains.heracles.questions.templates import TEMPLATES, Template
from pytest_llmeval.records import ToolUse
from pytest_llmeval.scoring.sldp import SldpSyntaxError, parse_sldp, render_sldp, sldp_equals

_MOST_DRAWS: Final = 60
"""Draws for each question asked for, after which the graph gives no more."""
_MOST_IDLE: Final = 40
"""Draws of one template without a new question, after which it is left alone."""
_AGREEMENT: Final = 0.001
"""Largest difference of numbers in the two solutions: a tenth of what answers may be off."""
_MOST_CHARACTERS: Final = 1_000
"""Longest question."""

Ask = Callable[[str], Awaitable[ToolUse]]
"""Runs a query as a model's is run, with the guard before it and the limits around it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A verified question.

    Attributes:
        draft: its text and query.
        kind: the kind of its template.
        solution: SLDP text.
        rows: the rows of the query, as a model is shown them.
    """

    draft: Draft
    kind: str
    solution: str
    rows: str

    @property
    def tags(self) -> tuple[str, ...]:
        """The kind, and what else it is about."""
        return tuple(dict.fromkeys((self.kind, *self.draft.tags)))


@dataclass(kw_only=True)
class Proposals:
    """Verified questions, and what became of the others.

    Attributes:
        questions: those kept.
        proposed: how many queries were run.
        dropped: of those, why they are not among the kept ones, with numbers.
        unfit: of draws that led to no query, why, with numbers.
    """

    questions: list[Question] = field(default_factory=list)
    proposed: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    unfit: Counter[str] = field(default_factory=Counter)


async def propose(
    schema: Schema, ask: Ask, *, count: int, seed: int, kinds: Sequence[str], empty: bool
) -> Proposals:
    """Return up to `count` questions, from all kinds in turn; the same for the same arguments.

    Args:
        schema: the graph.
        ask: the engine, which holds the same graph.
        count: how many are wanted.
        seed: of the choices.
        kinds: keys of `TEMPLATES`.
        empty: whether solutions may be 0 or empty.

    Raises:
        ToolError: the engine failed.
    """
    subject = Subject(schema=schema, dice=Dice(seed), empty=empty)
    found, seen = Proposals(), set[str]()
    idle: Counter[Template] = Counter()
    turns = Counter[str]()
    for draw in range(count * _MOST_DRAWS):
        alive = {
            kind: left
            for kind in kinds
            if (left := [one for one in TEMPLATES[kind] if idle[one] < _MOST_IDLE])
        }
        if len(found.questions) == count or not alive:
            break
        kind = min(alive, key=lambda one: (turns[one], [*alive].index(one)))
        template = min(alive[kind], key=lambda one: turns[f"{kind} {one.__name__}"])
        turns[f"{kind} {template.__name__}"] += 1
        question = await _drawn(subject, kind, template, ask, found, seen)
        idle[template] = 0 if question else idle[template] + 1
        if question:
            turns[kind] += 1
            found.questions.append(question)
    return found


async def _drawn(  # noqa: PLR0913, PLR0917 - the state of `propose`
    subject: Subject, kind: str, template: Template, ask: Ask, found: Proposals, seen: set[str]
) -> Question | None:
    """Return a new verified question of a template, or None, with the reason counted."""
    try:
        draft = template(subject)
    except UnfitError as reason:
        found.unfit[str(reason)] += 1
        return None
    if {draft.question, draft.cypher} & seen:
        found.unfit["a question that is there already"] += 1
        return None
    if len(draft.question) > _MOST_CHARACTERS:
        found.unfit["a question that is too long"] += 1
        return None
    seen |= {draft.question, draft.cypher}
    found.proposed += 1
    use = await ask(draft.cypher)
    solution = sldp_value(draft.answer)
    reason = disagreement(use, draft)
    if reason is not None:
        found.dropped[reason] += 1
        return None
    return Question(draft=draft, kind=kind, solution=render_sldp(solution), rows=use.output)


def disagreement(use: ToolUse, draft: Draft) -> str | None:
    """Return why a query's rows do not confirm the solution computed in Python, or None."""
    if use.error is not None:
        return "the query is refused, or fails"
    if use.cut is not None:
        return "the rows are cut to a limit"
    solution = sldp_value(draft.answer)
    try:
        if parse_sldp(render_sldp(solution)) != solution:
            return "the solution cannot be written in SLDP"
        rows = value_of_rows(use.output, draft.answer)
        agree = sldp_equals(rows, solution, tolerance=_AGREEMENT, case_sensitive=True)
    except (MisshapenError, SldpSyntaxError):
        agree = False
    return None if agree else "rows and Python disagree"
