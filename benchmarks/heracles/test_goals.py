"""Heracles: instructions to a robot, turned into goals in PDDL by way of a 3D scene graph."""

import pytest

from pytest_llmeval import assert_pddl_equal
from pytest_llmeval.records import Completion, Sample


@pytest.mark.llmeval("heracles_goals.yaml")
def test_goals_cypher(sample: Sample, completion: Completion) -> None:
    """One query, and its rows refined to a goal, give the solution."""
    assert_pddl_equal(completion.answer, sample.target)


@pytest.mark.llmeval("heracles_goals_agent.yaml")
def test_goals_agent(sample: Sample, completion: Completion) -> None:
    """A model that queries by itself finds the goal."""
    assert_pddl_equal(completion.answer, sample.target)


@pytest.mark.llmeval("heracles_goals_in_context.yaml")
def test_goals_in_context(sample: Sample, completion: Completion) -> None:
    """A model that is given the whole graph as text finds the goal."""
    assert_pddl_equal(completion.answer, sample.target)


@pytest.mark.llmeval("heracles_goals_direct.yaml")
def test_goals_direct(sample: Sample, completion: Completion) -> None:
    """A model that sees the instruction alone finds the goal."""
    assert_pddl_equal(completion.answer, sample.target)
