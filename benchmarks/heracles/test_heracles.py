"""Heracles: questions about a 3D scene graph, answered by Cypher, Python or the graph as text."""

import os

import pytest

from pytest_llmeval import assert_sldp_equal
from pytest_llmeval.records import Completion, Sample
from pytest_llmeval.sandbox.choice import present_isolations

needs_sandbox = pytest.mark.skipif(
    not present_isolations() and "LLMEVAL_SANDBOX" not in os.environ,
    reason="programs of models cannot be isolated here: install bubblewrap (Linux), or trust them "
    "with your files and network by LLMEVAL_SANDBOX=limits",
)


@pytest.mark.llmeval("heracles.yaml")
def test_cypher(sample: Sample, completion: Completion) -> None:
    """One Cypher query, whose rows the model turns into an answer, gives the solution."""
    assert_sldp_equal(completion.answer, sample.target)


@pytest.mark.llmeval("heracles_agent.yaml")
def test_agent(sample: Sample, completion: Completion) -> None:
    """The agent that writes and runs Cypher queries gives the solution."""
    assert_sldp_equal(completion.answer, sample.target)


@pytest.mark.llmeval("heracles_in_context.yaml")
def test_in_context(sample: Sample, completion: Completion) -> None:
    """The model that is given the whole graph as text gives the solution."""
    assert_sldp_equal(completion.answer, sample.target)


@pytest.mark.llmeval("heracles_in_context_no_places.yaml")
def test_in_context_no_places(sample: Sample, completion: Completion) -> None:
    """The model that is given the graph as text, without its places, gives the solution."""
    assert_sldp_equal(completion.answer, sample.target)


@needs_sandbox
@pytest.mark.llmeval("heracles_python.yaml")
def test_python(sample: Sample, completion: Completion) -> None:
    """One Python program, whose result the model turns into an answer, gives the solution."""
    assert_sldp_equal(completion.answer, sample.target)


@needs_sandbox
@pytest.mark.llmeval("heracles_python_agent.yaml")
def test_python_agent(sample: Sample, completion: Completion) -> None:
    """The agent that writes and runs Python programs gives the solution."""
    assert_sldp_equal(completion.answer, sample.target)
