"""Questions whose two solutions agree: the one computed in Python, and the query's rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_llmeval.domains.heracles.questions.draft import Dice, Draft, UnfitError
from pytest_llmeval.domains.heracles.questions.schema import Schema
from pytest_llmeval.domains.heracles.questions.solutions import (
    MisshapenError,
    copyable,
    sldp_value,
    value_of_rows,
)
from pytest_llmeval.domains.heracles.questions.subject import Subject
from pytest_llmeval.domains.heracles.questions.templates import TEMPLATES, Template
from pytest_llmeval.records import ToolUse
from pytest_llmeval.scoring.sldp import SldpSyntaxError, parse_sldp, render_sldp, sldp_equals

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What questions are wanted.

    Attributes:
        count: how many.
        seed: of the choices; the same one gives the same questions.
        kinds: keys of `TEMPLATES`, asked in turn.
        empty: whether solutions may be 0 or empty.
    """

    count: int
    seed: int = 1
    kinds: Sequence[str] = tuple(TEMPLATES)
    empty: bool = False


class Proposals:
    """Verified questions, and what became of the others.

    Attributes:
        questions: those kept.
        proposed: how many queries were run.
        dropped: of those, why they are not among the kept ones, with numbers.
        unfit: of draws that led to no query, why, with numbers.
    """

    def __init__(self, schema: Schema, ask: Ask, wish: Wish) -> None:
        """Draw nothing yet.

        Args:
            schema: the graph.
            ask: the engine, which holds the same graph.
            wish: what is wanted.
        """
        self.questions: list[Question] = []
        self.proposed = 0
        self.dropped: Counter[str] = Counter()
        self.unfit: Counter[str] = Counter()
        self._ask, self._wish = ask, wish
        self._subject = Subject(schema=schema, dice=Dice(wish.seed), empty=wish.empty)
        self._seen: set[str] = set()

    async def draw(self) -> None:
        """Draw until there are enough, or the graph gives no more.

        Raises:
            ToolError: the engine failed.
        """
        idle: Counter[Template] = Counter()
        kept: Counter[str] = Counter()
        drawn: Counter[Template] = Counter()
        while len(self.questions) < self._wish.count:
            alive = {
                kind: left
                for kind in self._wish.kinds
                if (left := [one for one in TEMPLATES[kind] if idle[one] < _MOST_IDLE])
            }
            if not alive:
                break
            kind = min(alive, key=kept.__getitem__)
            template = min(alive[kind], key=drawn.__getitem__)
            drawn[template] += 1
            question = await self._drawn(kind, template)
            idle[template] = 0 if question else idle[template] + 1
            if question:
                kept[kind] += 1
                self.questions.append(question)

    async def _drawn(self, kind: str, template: Template) -> Question | None:
        """Return a new verified question of a template, or None, with the reason counted."""
        try:
            draft = template(self._subject)
        except UnfitError as unfit:
            self.unfit[str(unfit)] += 1
            return None
        if (reason := self._objection(draft)) is not None:
            self.unfit[reason] += 1
            return None
        self._seen |= {draft.question, draft.cypher}
        self.proposed += 1
        use = await self._ask(draft.cypher)
        if (reason := disagreement(use, draft)) is not None:
            self.dropped[reason] += 1
            return None
        solution = render_sldp(sldp_value(draft.answer))
        return Question(draft=draft, kind=kind, solution=solution, rows=use.output)

    def _objection(self, draft: Draft) -> str | None:
        """Return why a draft is not even run, or None."""
        if {draft.question, draft.cypher} & self._seen:
            return "a question that is there already"
        if not copyable(draft.answer):
            return "a value with control characters"
        if len(draft.question) > _MOST_CHARACTERS:
            return "a question that is too long"
        return None


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
