"""The table of a task's tokens, cost and time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_llmeval.records import Usage
from pytest_llmeval.report import numbers
from pytest_llmeval.report.entry_name import entry_name
from pytest_llmeval.report.figures_block import trouble_column
from pytest_llmeval.report.sheet import Block, Column, Label, column_of
from pytest_llmeval.results.summary import TaskSummary

_COST = 2
"""The rank of the cost; tokens and seconds are left out first."""


def use_block(entries: Sequence[TaskSummary]) -> Block:
    """Return tokens, cost and time of each entry.

    Tokens of providers' caches, epochs and doubtful rows are shown if there are any.
    """
    sets = [entry.figures for entry in entries]
    costs = [numbers.money(one.usage.cost, at_least=one.unpriced > 0) for one in sets]
    units: list[tuple[Column, ...]] = [
        (
            column_of("tokens in", [token_text(one.usage, one.usage.input_tokens) for one in sets]),
            column_of(
                "tokens out", [token_text(one.usage, one.usage.output_tokens) for one in sets]
            ),
        ),
        *_caching([one.usage for one in sets]),
        *_batching([one.usage for one in sets]),
        (column_of("cost", costs, rank=_COST),),
        (
            column_of("seconds", [numbers.seconds(one.seconds.total) for one in sets]),
            column_of("median s", [numbers.seconds(one.seconds.median) for one in sets]),
            column_of("p95 s", [numbers.seconds(one.seconds.p95) for one in sets]),
        ),
        (trouble_column("cut", [sum(one.cut.values()) for one in sets]),),
    ]
    if any(one.epochs > 1 for one in sets):
        units.append((column_of("epochs", [f"{one.epochs}" for one in sets]),))
    doubtful = {
        "cached": [one.cached for one in sets],
        "reruns": [one.reruns for one in sets],
    }
    units += [(trouble_column(head, counts),) for head, counts in doubtful.items() if any(counts)]
    labels = tuple(Label(text=entry_name(entry, entries)) for entry in entries)
    return Block(labels=labels, units=tuple(units))


def token_text(usage: Usage, tokens: int) -> str:
    """Return some of the tokens; – where requests were made, and no provider told of any."""
    return numbers.NONE if usage.requests and not usage.total_tokens else numbers.count(tokens)


def _batching(usages: Sequence[Usage]) -> Iterator[tuple[Column, ...]]:
    """Yield the requests that were answered in batches, at their price, if any were."""
    if any(usage.batched for usage in usages):
        texts = [f"{usage.batched:,} of {usage.requests:,}" for usage in usages]
        yield (column_of("by batch", texts, rank=_COST),)


def _caching(usages: Sequence[Usage]) -> Iterator[tuple[Column, ...]]:
    """Yield the input tokens that came from a provider's cache, and that went to it, if any did."""
    read = [usage.cached_tokens for usage in usages]
    written = [usage.cache_write_tokens for usage in usages]
    for head, tokens in (("cache read", read), ("cache write", written)):
        if any(tokens):
            yield (column_of(head, [numbers.count(number) for number in tokens]),)
