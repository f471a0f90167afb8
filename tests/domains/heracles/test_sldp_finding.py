"""Whether a reply's answer is SLDP is found out beside the engine's loop, and within limits."""

from __future__ import annotations

import asyncio

import pytest

from pytest_llmeval.domains.heracles.findings import is_sldp
from pytest_llmeval.scoring.sldp import LONGEST_ANSWER


@pytest.mark.parametrize(
    ("answer", "valid"),
    [
        (None, False),
        ("<O1, O2>", True),
        ("<O1, O2", False),
        ('"' + "a" * (LONGEST_ANSWER - 2) + '"', True),
        ('"' + "a" * LONGEST_ANSWER + '"', False),
    ],
    ids=["none", "a set", "cut", "as long as allowed", "too long"],
)
def test_an_answer_is_sldp_or_not(answer: str | None, *, valid: bool) -> None:
    assert asyncio.run(is_sldp(answer)) is valid


def test_the_loop_goes_on_while_a_long_answer_is_parsed() -> None:
    async def turns() -> int:
        parsing = asyncio.create_task(is_sldp(f"[{'0, ' * 30_000}0]"))
        count = 0
        while not parsing.done():
            await asyncio.sleep(0)
            count += 1
        assert await parsing
        return count

    assert asyncio.run(turns()) > 10
