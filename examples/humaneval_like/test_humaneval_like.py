"""Programs that a model writes, run with their tests."""

import pytest

from pytest_llmeval import assert_correct
from pytest_llmeval.records import Completion, Sample

pytestmark = pytest.mark.llmeval("humaneval_like.yaml")


def test_program(sample: Sample, completion: Completion) -> None:
    """The program passes its tests."""
    assert_correct(sample, completion)
