"""The prefilter with its child process: decides plain answers without a judge."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Final

from pytest_llmeval.scoring.eed.sandbox import Sandbox
from pytest_llmeval.scoring.judge.prefilter import PlainDecision, decide_plainly

EQUIVALENCE_SECONDS: Final = 5.0
"""CPU seconds that comparing two formulas may take; a judge call costs less than more of them."""


class PlainRules:
    """Decides by `decide_plainly`, formulas in a killable child while the event loop goes on."""

    def __init__(self) -> None:
        """Start no child yet."""
        self._sandbox: Sandbox | None = None
        self._known: dict[tuple[str, str], bool] = {}

    @classmethod
    async def start(cls) -> PlainRules:
        """Return new rules."""
        return cls()

    async def decide(self, answer: str, target: str) -> PlainDecision:
        """Return the decision; only answers of numbers, roots and pi reach the child."""
        plain = decide_plainly(answer, target)
        if plain.answer is None or plain.decision != "undecided":
            return plain
        if self._sandbox is None:
            self._sandbox = Sandbox(cpu_seconds=EQUIVALENCE_SECONDS)
        equivalent = partial(self._equivalent, self._sandbox)
        return await asyncio.to_thread(decide_plainly, answer, target, equivalent=equivalent)

    def close(self) -> None:
        """End the child."""
        if self._sandbox is not None:
            self._sandbox.close()

    def _equivalent(self, sandbox: Sandbox, answer: str, target: str) -> bool:
        # The same pair is asked about again when a test's body repeats the engine's question.
        if (answer, target) not in self._known:
            self._known[answer, target] = sandbox.equivalent(answer, target)
        return self._known[answer, target]
