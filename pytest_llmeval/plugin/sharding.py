"""`--llmeval-shard`: one of several equal parts of the selected samples, for machines that share a run."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from pytest_llmeval.plugin.parameters import parameters_of


class Sharding:
    """Keeps a part of the samples.

    Registered when pytest's own plugins are, it wraps all that selects or reorders.
    """

    def __init__(self, part: int, parts: int) -> None:
        """Keep part number `part`, from 1 on, of `parts`."""
        self._part, self._parts = part, parts

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> Generator[None]:
        """Deselect the samples of the other parts, once everything else has selected; other tests stay in each part.

        Dealt out by node id and not by place: a plugin that shuffles does so differently on each
        machine.
        """
        yield
        samples = sorted(item.nodeid for item in items if parameters_of(item) is not None)
        others = set(samples) - set(samples[self._part - 1 :: self._parts])
        if dropped := [item for item in items if item.nodeid in others]:
            items[:] = [item for item in items if item.nodeid not in others]
            config.hook.pytest_deselected(items=dropped)
