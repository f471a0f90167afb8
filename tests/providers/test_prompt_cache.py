"""Prefixes that repeat are written to the provider's cache once, and read afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from providers.asker import Asker, asker_of_claude, question

from pytest_llmeval.engine.prices import Price
from pytest_llmeval.providers.prompt_cache import LIFETIME, Breakpoint, PromptCache
from pytest_llmeval.records import Message, Usage

LONG = Message.of("system", "Rules of the game. " * 200)
EXAMPLES = (Message.of("user", "2 + 2? " * 300), Message.of("assistant", "4"))


@pytest.fixture
def claude(messages_server: Any, tmp_path: Path) -> Asker:
    return asker_of_claude(messages_server.root, tmp_path)


def test_a_long_shared_prefix_is_written_by_the_second_request_and_read_by_later_ones(
    claude: Asker,
) -> None:
    usages = [one.usage for one in claude.all([question(f"q{n}", LONG) for n in range(4)])]
    assert [usage.cache_write_tokens > 0 for usage in usages] == [False, True, False, False]
    assert [usage.cached_tokens > 0 for usage in usages] == [False, False, True, True]
    assert len({usage.input_tokens for usage in usages}) == 1


def test_examples_as_turns_are_part_of_the_prefix(claude: Asker) -> None:
    usages = [one.usage for one in claude.all([question(f"q{n}", *EXAMPLES) for n in range(3)])]
    assert usages[2].cached_tokens > 400


def test_of_requests_in_flight_one_writes(claude: Asker, messages_server: Any) -> None:
    messages_server.program(latency=0.1)
    requests = [question(f"q{n}", LONG) for n in range(30)]
    replies = claude.all([*requests], together=True)
    assert sum(reply.usage.cache_write_tokens > 0 for reply in replies) == 1


def test_prompts_that_do_not_repeat_are_never_written(claude: Asker) -> None:
    requests = [question("q", Message.of("system", f"{n}" * 3000)) for n in range(3)]
    assert all(reply.usage.cache_write_tokens == 0 for reply in claude.all(requests))


def test_a_conversation_with_tools_is_read_by_its_next_turn(
    claude: Asker, messages_server: Any
) -> None:
    messages_server.program(uses={"name": "add", "input": {}})
    tool = {"type": "function", "function": {"name": "add", "description": "Adds. " * 200}}
    first = question("2 + 3?", tools=[tool])

    def turn(continued: Any) -> Any:
        said = Message(role="assistant", parts=(), tool_calls=continued.tool_calls)
        result = replace(Message.of("tool", "5"), tool_call_id=continued.tool_calls[0].id)
        return replace(first, messages=(*first.messages, said, result))

    reply = claude(first)
    # A provider is opened anew for each request here; the server's cache stays.
    again = claude(turn(reply))
    assert reply.usage.cache_write_tokens > 0
    assert again.usage.cached_tokens == reply.usage.cache_write_tokens


def test_caching_is_left_out_if_the_spec_says_so(claude: Asker, messages_server: Any) -> None:
    claude.all([question(f"q{n}", LONG) for n in range(3)], spec="anthropic/m,cache=off")
    assert "cache_control" not in str(messages_server.report()["seen"])


def test_marks_of_the_tasks_own_are_left_alone(claude: Asker, messages_server: Any) -> None:
    own: Any = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
    claude.all([question(f"q{n}", LONG, **own) for n in range(3)])
    bodies = [one["body"] for one in messages_server.report()["seen"]]
    assert all(str(body).count("cache_control") == 1 for body in bodies)


def test_writing_and_reading_have_prices_of_their_own() -> None:
    price = Price(input=3, output=15, cached_input=0.3, cache_write=3.75)
    usage = Usage(
        input_tokens=1_000_000,
        cached_tokens=600_000,
        cache_write_tokens=200_000,
        output_tokens=100_000,
    )
    assert price.cost(usage) == pytest.approx(0.2 * 3 + 0.6 * 0.3 + 0.2 * 3.75 + 0.1 * 15)
    unpriced = Price(input=3, output=15, cached_input=0.3)
    assert unpriced.cost(usage) == pytest.approx(0.4 * 3 + 0.6 * 0.3 + 0.1 * 15)


class Clock:
    """A clock that is set."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def marks(cache: PromptCache, prefix: str) -> int:
    with cache.marking([Breakpoint(0, prefix)]) as places:
        return len(places)


def test_a_prefix_that_was_not_used_for_long_is_written_by_one_again() -> None:
    clock = Clock()
    cache = PromptCache(clock)
    assert [marks(cache, "a") for _ in range(3)] == [0, 1, 1]
    clock.now += LIFETIME + 1
    with cache.marking([Breakpoint(0, "a")]) as first, cache.marking([Breakpoint(0, "a")]) as other:
        assert (len(first), len(other)) == (1, 0)


def test_a_writer_that_fails_leaves_the_writing_to_another() -> None:
    cache = PromptCache()
    marks(cache, "a")
    with pytest.raises(ConnectionError), cache.marking([Breakpoint(0, "a")]):
        raise ConnectionError
    with cache.marking([Breakpoint(0, "a")]) as one, cache.marking([Breakpoint(0, "a")]) as two:
        assert (len(one), len(two)) == (1, 0)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 400), st.booleans()), max_size=40))
def test_at_most_one_request_writes_a_prefix_at_a_time(
    steps: list[tuple[str, float, bool]],
) -> None:
    clock = Clock()
    cache = PromptCache(clock)
    under_way: dict[str, Any] = {}
    warm: dict[str, float] = {}
    for prefix, pause, ends in steps:
        clock.now += pause
        if ends and prefix in under_way:
            under_way.pop(prefix).__exit__(None, None, None)
            warm[prefix] = clock.now + LIFETIME
            continue
        sending = cache.marking([Breakpoint(0, prefix)])
        marked = bool(sending.__enter__())
        if marked and warm.get(prefix, -1) <= clock.now:
            assert prefix not in under_way  # the only writer
            under_way[prefix] = sending
        else:
            sending.__exit__(None, None, None)
            if marked:
                warm[prefix] = clock.now + LIFETIME
