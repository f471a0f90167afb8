"""CMPhysBench: condensed-matter physics, answered by formulas of several types."""

import pytest

from pytest_llmeval import assert_correct
from pytest_llmeval.records import Completion, Sample

pytestmark = pytest.mark.llmeval("cmphysbench.yaml")


def test_cmphysbench(sample: Sample, completion: Completion) -> None:
    """The answer is the target's, in whatever form."""
    assert_correct(sample, completion)
