"""Heracles: questions about a 3D scene graph, answered through Cypher or Python, or from the graph as text."""

import pytest

from pytest_llmeval import assert_sldp_equal
from pytest_llmeval.records import Completion, Sample


@pytest.mark.llmeval("heracles.yaml")
def test_cypher(sample: Sample, completion: Completion) -> None:
    """One query, and its rows refined to an answer, give the solution."""
    assert_sldp_equal(completion.answer, sample.target)


@pytest.mark.llmeval("heracles_agent.yaml")
def test_agent(sample: Sample, completion: Completion) -> None:
    """A model that queries by itself finds the solution."""
    assert_sldp_equal(completion.answer, sample.target)


@pytest.mark.llmeval("heracles_in_context.yaml")
def test_in_context(sample: Sample, completion: Completion) -> None:
    """A model that is given the whole graph as text finds the solution."""
    assert_sldp_equal(completion.answer, sample.target)


@pytest.mark.llmeval("heracles_python.yaml")
def test_python(sample: Sample, completion: Completion) -> None:
    """A program over the graph, and its result refined to an answer, give the solution."""
    assert_sldp_equal(completion.answer, sample.target)
