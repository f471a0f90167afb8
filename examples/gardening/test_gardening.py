"""Advice to gardeners, rated by a judge on two criteria."""

import pytest

from pytest_llmeval import assert_correct
from pytest_llmeval.records import Completion, Sample

pytestmark = pytest.mark.llmeval("gardening.yaml")


def test_gardening(sample: Sample, completion: Completion) -> None:
    """The judge rates the advice 7 or better."""
    assert_correct(sample, completion)
