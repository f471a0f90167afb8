"""Heracles: instructions to a robot, turned into goals in PDDL by way of a 3D scene graph."""

import pytest

from pytest_llmeval import assert_pddl_equal
from pytest_llmeval.records import Completion, Sample


@pytest.mark.llmeval("heracles_goals.yaml")
def test_goals_cypher(sample: Sample, completion: Completion) -> None:
    """One Cypher query, whose rows the model turns into a goal, gives the solution."""
    assert_pddl_equal(completion.answer, sample.target)


@pytest.mark.llmeval("heracles_goals_agent.yaml")
def test_goals_agent(sample: Sample, completion: Completion) -> None:
    """The agent that writes and runs Cypher queries gives the goal."""
    assert_pddl_equal(completion.answer, sample.target)


@pytest.mark.llmeval("heracles_goals_in_context.yaml")
def test_goals_in_context(sample: Sample, completion: Completion) -> None:
    """The model that is given the whole graph as text gives the goal."""
    assert_pddl_equal(completion.answer, sample.target)


@pytest.mark.llmeval("heracles_goals_direct.yaml")
def test_goals_direct(sample: Sample, completion: Completion) -> None:
    """The model that is given only the instruction gives the goal."""
    assert_pddl_equal(completion.answer, sample.target)
