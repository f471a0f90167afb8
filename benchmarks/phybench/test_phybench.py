"""PHYBench: physics problems answered by a formula, scored by expression edit distance."""

import pytest

from pytest_llmeval import assert_eed_at_least
from pytest_llmeval.records import Completion, Sample

pytestmark = pytest.mark.llmeval("phybench.yaml")


def test_phybench(sample: Sample, completion: Completion) -> None:
    """The answer is the target's formula, in whatever form."""
    assert_eed_at_least(completion.answer, sample.target)
