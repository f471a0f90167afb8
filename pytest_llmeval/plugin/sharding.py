"""The option ``--llmeval-shard``: one of several equal parts of the selected samples."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from pytest_llmeval.plugin.parameters import parameters_of


class Sharding:
    """A plugin that deselects the samples of the other parts.

    It is registered after pytest's own plugins, so that its hook wraps theirs.
    """

    def __init__(self, part: int, parts: int) -> None:
        """Keep part number `part`, from 1, of `parts`."""
        self._part, self._parts = part, parts

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> Generator[None]:
        """Deselect the samples of the other parts, after all other selection.

        Tests without samples belong to every part. Samples are distributed by the order of their
        node ids, because a plugin that shuffles tests does so differently on each machine.
        """
        yield
        samples = sorted(item.nodeid for item in items if parameters_of(item) is not None)
        others = set(samples) - set(samples[self._part - 1 :: self._parts])
        if dropped := [item for item in items if item.nodeid in others]:
            items[:] = [item for item in items if item.nodeid not in others]
            config.hook.pytest_deselected(items=dropped)
