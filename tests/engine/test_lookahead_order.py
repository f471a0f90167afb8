"""Which sample is started next: each once, nearest first to where the workers are."""

from __future__ import annotations

import random

from pytest_llmeval.engine.lookahead import LookAhead


def take_all(ahead: LookAhead) -> list[int]:
    taken: list[int] = []
    while (position := ahead.next()) is not None:
        taken.append(position)
    return taken


def test_nothing_is_started_before_anybody_asks() -> None:
    assert LookAhead(3).next() is None


def test_one_worker_gets_what_follows_and_at_last_what_lies_behind() -> None:
    ahead = LookAhead(5)
    ahead.asked("", 2)
    assert take_all(ahead) == [3, 4, 0, 1]


def test_the_nearest_position_of_any_worker_comes_first() -> None:
    ahead = LookAhead(10)
    ahead.asked("gw0", 0)
    ahead.asked("gw1", 5)
    assert [ahead.next() for _ in range(4)] == [1, 6, 2, 7]
    # gw1 moved on to 7: 8 is next to it, 3 is three steps from gw0.
    ahead.asked("gw1", 7)
    assert [ahead.next() for _ in range(4)] == [8, 9, 3, 4]


def test_a_worker_that_jumps_is_followed() -> None:
    ahead = LookAhead(100)
    ahead.asked("gw0", 0)
    assert ahead.next() == 1
    ahead.asked("gw0", 50)
    assert ahead.next() == 51


def test_a_position_that_is_over_is_never_started() -> None:
    ahead = LookAhead(4)
    ahead.take(1)
    ahead.asked("", 0)
    assert take_all(ahead) == [2, 3]


def test_a_rerun_starts_nothing_twice() -> None:
    ahead = LookAhead(3)
    ahead.asked("", 0)
    assert ahead.next() == 1
    ahead.asked("", 0)
    assert take_all(ahead) == [2]


def test_however_workers_walk_every_position_is_handed_out_exactly_once() -> None:
    for seed in range(50):
        draw = random.Random(seed)
        count = draw.randint(1, 40)
        ahead, asked, started = LookAhead(count), set[int](), list[int]()
        for _ in range(draw.randint(1, 60)):
            position = draw.randrange(count)
            if position not in asked:
                asked.add(position)
                ahead.asked(f"gw{draw.randrange(3)}", position)
            for _ in range(draw.randrange(3)):
                if (chosen := ahead.next()) is not None:
                    assert chosen not in asked
                    started.append(chosen)
                    asked.add(chosen)
        started += take_all(ahead)
        assert len(started) == len(set(started))
        assert asked | set(started) == set(range(count))
