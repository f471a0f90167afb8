"""Tickets, sold in a conversation."""

import pytest

from pytest_llmeval import assert_correct
from pytest_llmeval.records import Completion, Sample

pytestmark = pytest.mark.llmeval("simulated_user.yaml")


def test_simulated_user(sample: Sample, completion: Completion) -> None:
    """Pass if the model's last reply contains the booking number that is the target."""
    assert_correct(sample, completion)
