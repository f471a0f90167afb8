"""The statistics of a session's calls, as text below the results."""

from __future__ import annotations

from collections import Counter

from pytest_llmeval.engine.statistics import Effort
from pytest_llmeval.report.numbers import count, money, seconds


def effort_line(effort: Effort) -> str:
    """Return requests, tokens and dollars in one line, and what went wrong; "" without requests."""
    total = effort.total
    if not total.requests:
        return ""
    stored = effort.from_store + effort.from_cache
    usage = total.usage
    parts = [
        f"{count(total.requests)} requests{_batched(usage.batched)}",
        *([f"{count(stored)} stored replies"] if stored else []),
        *([f"{count(usage.total_tokens)} tokens"] if usage.total_tokens else []),
        *([money(usage.cost)] if usage.cost is not None else []),
        *([f"retries: {_causes(total.retries)}"] if total.retries else []),
        *([f"failed: {_causes(total.errors)}"] if total.errors else []),
        *([f"{count(total.abandoned)} abandoned"] if total.abandoned else []),
    ]
    return "engine: " + " · ".join(parts)


def effort_lines(effort: Effort) -> list[str]:
    """Return the lines: two, one if all replies came from a store, none without requests."""
    total = effort.total
    if not (total.requests or effort.from_store or effort.from_cache):
        return []
    calls = [
        f"{count(total.requests)} requests{_batched(total.usage.batched)}",
        f"{count(effort.from_store)} replies from store",
        *([f"{count(effort.from_cache)} from the cache"] if effort.from_cache else []),
        f"retries: {_causes(total.retries)}",
        *([f"failed: {_causes(total.errors)}"] if total.errors else []),
        *([f"{count(total.abandoned)} abandoned"] if total.abandoned else []),
        (
            f"lost {seconds(total.limited_seconds)} s to limits, "
            f"{seconds(total.backoff_seconds)} s to back-off"
        ),
    ]
    if not total.requests:
        return ["engine: " + " · ".join(calls)]
    latency = " / ".join(seconds(total.latency_quantile(share)) for share in (0.5, 0.95))
    costs = [
        f"{count(total.usage.total_tokens)} tokens",
        money(total.usage.cost),
        f"latency p50 / p95 {latency} s",
        f"at most {count(total.peak_in_flight)} in flight",
    ]
    return ["engine: " + " · ".join(calls), "        " + " · ".join(costs)]


def _batched(number: int) -> str:
    """Return how many requests were answered in batches, if any were."""
    return f" ({count(number)} answered in batches)" if number else ""


def _causes(counts: Counter[str]) -> str:
    return ", ".join(f"{number} {cause}" for cause, number in counts.most_common()) or "none"
