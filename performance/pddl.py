"""Measure goals in PDDL: CPU milliseconds of parsing and equality, also of hostile goals.

Run from the checkout: ``python performance/pddl.py``. Equal pairs are written in another order.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from pytest_llmeval.scoring.pddl import Goal, TooCostlyError, parse_pddl, pddl_equals

ROUNDS = 5


def facts(predicate: str, count: int) -> list[str]:
    """Return facts about objects."""
    return [f"({predicate} O{number})" for number in range(count)]


def joined(word: str, goals: list[str]) -> str:
    """Return a conjunction or disjunction."""
    return f"({word} {' '.join(goals)})"


def usual() -> tuple[str, str]:
    """Return a goal like those of the tasks."""
    rooms = facts("visited-room", 4)
    goal = ["(holding O43)", joined("and", [*rooms, "(not (visited-room R1))"])]
    return joined("or", goal), joined("or", goal[::-1])


def any_of(count: int) -> tuple[str, str]:
    """Return a disjunction of facts."""
    return joined("or", facts("holding", count)), joined("or", facts("holding", count)[::-1])


def pairs(count: int) -> tuple[str, str]:
    """Return a conjunction of disjunctions, whose disjunctive form has 2 ** count clauses."""
    both = [
        joined("or", list(pair)) for pair in zip(facts("a", count), facts("b", count), strict=True)
    ]
    return joined("and", both), joined("and", both[::-1])


def crossed(count: int) -> tuple[str, str]:
    """Return a goal whose facts come in the worst order for a decision diagram."""
    goal = pairs(count)[0].replace("or", "AND").replace("and", "or")
    goal = joined("or", [joined("and", facts("a", count)), goal])
    return goal, goal


def clauses(count: int) -> tuple[str, str]:
    """Return random clauses of three facts, 4.3 for each of `count` facts."""
    noise = random.Random(1)  # noqa: S311 - the same goals each time
    literals = [[fact, f"(not {fact})"] for fact in facts("a", count)]
    parts = [
        joined("or", [noise.choice(noise.choice(literals)) for _ in range(3)])
        for _ in range(int(4.3 * count))
    ]
    return joined("and", parts), joined("and", parts[::-1])


CASES = {
    "a usual goal": usual(),
    "any of 100 facts": any_of(100),
    "any of 300 facts": any_of(300),
    "150 pairs": pairs(150),
    "10 crossed pairs": crossed(10),
    "150 crossed pairs": crossed(150),
    "86 random clauses of 20 facts": clauses(20),
    "430 random clauses of 100 facts": clauses(100),
}


def milliseconds(work: Callable[[], object]) -> float:
    """Return the least CPU time of ROUNDS."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return 1000 * min(times)


def verdict(one: Goal, other: Goal) -> str:
    """Return what equality says."""
    try:
        return "equal" if pddl_equals(one, other) else "different"
    except TooCostlyError:
        return "too costly"


def main() -> None:
    """Print the table."""
    parse_pddl("True")  # compiles the grammar
    print("| goal | characters | parse | equal | |\n|---|---|---|---|---|")
    for name, (one, other) in CASES.items():
        goals = parse_pddl(one), parse_pddl(other)
        parse = milliseconds(partial(parse_pddl, one))
        equal = milliseconds(partial(verdict, *goals))
        print(f"| {name} | {len(one):,} | {parse:.1f} | {equal:.1f} | {verdict(*goals)} |")


if __name__ == "__main__":
    main()
