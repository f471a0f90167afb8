"""The samples that flipped, for the script of a page of two runs."""

from __future__ import annotations

from pytest_llmeval.records import Json
from pytest_llmeval.report.address import Addresses, name_in_page
from pytest_llmeval.results.compare import Comparison


def flipped_ids(comparison: Comparison, addresses: Addresses) -> list[Json]:
    """Return for each pair its task, test and models as the page knows them, and what flipped.

    ``gained`` and ``lost`` are ids of samples: those whose outcome changed by the comparison, over
    all epochs, and not others whose target changed too.
    """
    return [
        {
            "task": name_in_page(pair.task),
            "test": addresses.test(pair.task, pair.test),
            "models": [name_in_page(pair.model_a), name_in_page(pair.model_b)],
            "gained": [name_in_page(one) for one in pair.gained],
            "lost": [name_in_page(one) for one in pair.lost],
        }
        for pair in comparison.pairs
    ]
