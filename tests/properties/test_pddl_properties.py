"""Laws of the equality of goals, also against truth tables and the public comparison."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Mapping
from functools import reduce

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmeval.scoring.pddl import (
    And,
    Constant,
    Fact,
    Goal,
    Not,
    Or,
    PddlSyntaxError,
    Variable,
    atoms,
    canonical_pddl,
    parse_pddl,
    pddl_diff,
    pddl_equals,
)

unhurried = settings(deadline=None)  # the first example builds the parser

# Few different facts, so that chance often makes two goals equivalent.
facts: st.SearchStrategy[Goal] = st.sampled_from(
    [Fact("a", ("O1",)), Fact("a", ("O2",)), Fact("b"), Variable("c")]
)
constants: st.SearchStrategy[Goal] = st.booleans().map(Constant)


def goals(leaves: st.SearchStrategy[Goal]) -> st.SearchStrategy[Goal]:
    return st.recursive(
        leaves,
        lambda inner: (
            inner.map(Not)
            | st.lists(inner, max_size=3).map(lambda parts: And(tuple(parts)))
            | st.lists(inner, max_size=3).map(lambda parts: Or(tuple(parts)))
        ),
        max_leaves=8,
    )


any_goal = goals(facts | constants)
World = Mapping[Goal, bool]


def fulfilled(goal: Goal, world: World) -> bool:
    match goal:
        case Constant():
            return goal.value
        case Not():
            return not fulfilled(goal.goal, world)
        case And():
            return all(fulfilled(part, world) for part in goal.goals)
        case Or():
            return any(fulfilled(part, world) for part in goal.goals)
        case _:
            return world[goal]


def worlds(*goals: Goal) -> Iterable[World]:
    """Yield every state of the facts in these goals."""
    known = sorted({atom for goal in goals for atom in atoms(goal)}, key=str)
    for held in itertools.product([False, True], repeat=len(known)):
        yield dict(zip(known, held, strict=True))


def same_table(one: Goal, other: Goal) -> bool:
    return all(fulfilled(one, world) == fulfilled(other, world) for world in worlds(one, other))


# The comparison of the public code, as the reference describes it: negations are pushed in, the
# goal is flattened and distributed to a disjunction of conjunctions, simplified, and compared
# clause by clause. True is the empty conjunction, False the empty disjunction.

Literal = tuple[Goal, bool]
Clauses = frozenset[frozenset[Literal]]


def clauses(goal: Goal, *, holds: bool = True) -> Clauses:
    match goal:
        case Constant():
            return frozenset({frozenset()}) if goal.value == holds else frozenset()
        case Not():
            return clauses(goal.goal, holds=not holds)
        case And() | Or():
            parts = [clauses(part, holds=holds) for part in goal.goals]
            if isinstance(goal, Or) == holds:
                return simplified(frozenset[frozenset[Literal]]().union(*parts))
            whole: Clauses = frozenset({frozenset()})
            return simplified(reduce(distributed, parts, whole))
        case _:
            return frozenset({frozenset({(goal, holds)})})


def distributed(one: Clauses, other: Clauses) -> Clauses:
    return frozenset(left | right for left in one for right in other)


def simplified(found: Clauses) -> Clauses:
    """Drop clauses that contradict themselves, and those that hold all of another one."""
    possible = {
        clause for clause in found if not any((goal, not held) in clause for goal, held in clause)
    }
    return frozenset(one for one in possible if not any(other < one for other in possible))


def rewritten(goal: Goal, noise: random.Random) -> Goal:
    """Return an equivalent goal by laws of logic: order, De Morgan, distribution and others."""
    match goal:
        case And() | Or():
            parts = [rewritten(part, noise) for part in goal.goals]
            noise.shuffle(parts)
            goal = noise.choice([joined, dual, associated, spread])(type(goal), parts)
        case Not():
            goal = Not(rewritten(goal.goal, noise))
    other = Fact("d", (str(noise.randrange(3)),))
    return noise.choice(
        [
            goal,
            Not(Not(goal)),
            And((goal, goal)),
            Or((goal, goal)),
            And((goal, Or((other, goal)))),
            Or((And((goal, other)), goal)),
        ]
    )


Joint = type[And | Or]


def joined(kind: Joint, parts: list[Goal]) -> Goal:
    return kind(tuple(parts))


def dual(kind: Joint, parts: list[Goal]) -> Goal:
    return Not((Or if kind is And else And)(tuple(map(Not, parts))))


def associated(kind: Joint, parts: list[Goal]) -> Goal:
    return kind((kind(tuple(parts[:1])), kind(tuple(parts[1:]))))


def spread(kind: Joint, parts: list[Goal]) -> Goal:
    """Return a join of parts with the first part that is of the other kind distributed."""
    other: Joint = Or if kind is And else And
    inner = next((part for part in parts if isinstance(part, other)), None)
    if inner is None:
        return kind(tuple(parts))
    rest = [part for part in parts if part is not inner]
    return other(tuple(kind((*rest, one)) for one in inner.goals))


@unhurried
@given(any_goal)
def test_reading_what_was_written_gives_the_goal_back(goal: Goal) -> None:
    assert parse_pddl(str(goal)) == goal


@unhurried
@given(any_goal, any_goal)
def test_equality_is_that_of_truth_tables_in_both_directions(one: Goal, other: Goal) -> None:
    equal = same_table(one, other)
    assert pddl_equals(one, other) is equal
    assert pddl_equals(other, one) is equal
    assert (canonical_pddl(one) == canonical_pddl(other)) is equal


@unhurried
@given(any_goal, st.randoms(use_true_random=False))
def test_the_laws_of_logic_change_no_goal(goal: Goal, noise: random.Random) -> None:
    """With the test before: equality is an equivalence relation that the laws do not leave."""
    first, second = rewritten(goal, noise), rewritten(goal, noise)
    assert pddl_equals(goal, goal)
    assert pddl_equals(goal, first)
    assert pddl_equals(first, second)
    assert pddl_equals(goal, second)
    assert pddl_diff(second, str(goal)) == ()


@unhurried
@given(any_goal, st.randoms(use_true_random=False))
def test_the_canonical_text_is_the_same_for_equal_goals_and_stays(
    goal: Goal, noise: random.Random
) -> None:
    text = canonical_pddl(goal)
    assert pddl_equals(text, goal)
    assert canonical_pddl(text) == text
    assert canonical_pddl(rewritten(goal, noise)) == text


@unhurried
@given(any_goal)
def test_no_part_of_the_canonical_text_can_be_spared(goal: Goal) -> None:
    short = parse_pddl(canonical_pddl(goal))
    terms = short.goals if isinstance(short, Or) else (short,)
    for place, term in enumerate(terms):
        before, after = terms[:place], terms[place + 1 :]
        assert not pddl_equals(Or((*before, *after)), goal) or short == Constant(value=False)
        literals = term.goals if isinstance(term, And) else (term,)
        for one in range(len(literals)):
            fewer = And((*literals[:one], *literals[one + 1 :]))
            assert not pddl_equals(Or((*before, fewer, *after)), goal) or isinstance(
                short, Constant
            )


@unhurried
@given(any_goal, any_goal, st.randoms(use_true_random=False))
def test_where_the_public_comparison_says_equal_so_do_we(
    one: Goal, other: Goal, noise: random.Random
) -> None:
    for left, right in [(one, other), (one, rewritten(one, noise))]:
        if clauses(left) == clauses(right):
            assert pddl_equals(left, right)


def test_the_public_comparison_misses_some_that_are_equal() -> None:
    """A clause that follows from two others stays in a disjunctive normal form."""
    one = "(or (and (a) (b)) (and (not (a)) (c)))"
    other = "(or (and (a) (b)) (and (not (a)) (c)) (and (b) (c)))"
    assert clauses(parse_pddl(one)) != clauses(parse_pddl(other))
    assert pddl_equals(one, other)


@unhurried
@given(any_goal, any_goal)
def test_there_are_lines_exactly_when_goals_differ_and_they_are_true(
    answer: Goal, solution: Goal
) -> None:
    lines = pddl_diff(answer, solution)
    assert (lines == ()) is same_table(answer, solution)
    told = [line for line in lines if line.startswith("when ")]
    assert bool(told) is bool(lines)
    for line in told:
        state, _, verdict = line.removeprefix("when ").partition(": ")
        world: World = {
            atom: str(atom) in state for goal in (answer, solution) for atom in atoms(goal)
        }
        assert fulfilled(answer, world) is verdict.startswith("the answer is fulfilled")
        assert fulfilled(solution, world) is verdict.startswith("the solution is fulfilled")


@unhurried
@given(any_goal, any_goal)
def test_the_state_that_tells_two_goals_apart_has_as_few_facts_as_any(
    answer: Goal, solution: Goal
) -> None:
    apart = [
        sum(world.values())
        for world in worlds(answer, solution)
        if fulfilled(answer, world) and not fulfilled(solution, world)
    ]
    told = [line for line in pddl_diff(answer, solution) if ": the answer is ful" in line]
    assert bool(told) is bool(apart)
    for line in told:
        state = line.partition(":")[0]
        assert sum(str(atom) in state for atom in {*atoms(answer), *atoms(solution)}) == min(apart)


@unhurried
@given(st.text(alphabet="()?-_ andornotTrueO12\n", max_size=40) | st.text())
def test_any_text_is_a_goal_or_a_syntax_error_within_it(text: str) -> None:
    outcome = read(text)
    if isinstance(outcome, PddlSyntaxError):
        assert 1 <= outcome.column <= len(text.split("\n")[outcome.line - 1]) + 1
        assert str(outcome).isprintable()
    else:
        assert parse_pddl(str(outcome)) == outcome


def read(text: str) -> Goal | PddlSyntaxError:
    try:
        return parse_pddl(text)
    except PddlSyntaxError as error:
        return error
