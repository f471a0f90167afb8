"""Two turns each, rated by a judge."""

import pytest

from pytest_llmeval import assert_correct
from pytest_llmeval.records import Completion, Sample

pytestmark = pytest.mark.llmeval("conversations.yaml")


def test_conversations(sample: Sample, completion: Completion) -> None:
    """The judge rates both replies 7 or better on average."""
    assert_correct(sample, completion)
