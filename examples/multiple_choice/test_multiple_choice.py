"""Multiple choice with shuffled choices."""

import pytest

from pytest_llmeval import assert_correct
from pytest_llmeval.records import Completion, Sample

pytestmark = pytest.mark.llmeval("multiple_choice.yaml")


def test_multiple_choice(sample: Sample, completion: Completion) -> None:
    """The letter is that of the right choice."""
    assert_correct(sample, completion)
