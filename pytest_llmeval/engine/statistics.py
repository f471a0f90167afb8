"""Statistics of calls: counts, seconds, tokens, cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_llmeval.records import Json, Role, Usage


@dataclass(slots=True, kw_only=True)
class CallStatistics:
    """Running counts of one model's calls.

    Once nothing is in flight, ``requests == replies + retries + errors + abandoned``.

    Attributes:
        requests: attempts that were sent.
        replies: attempts that brought a reply.
        retries: failed attempts that were repeated, by cause.
        errors: failed attempts that ended a sample's request, by cause.
        abandoned: attempts that were cancelled, or failed when no sample waited for them.
        statuses: attempts by HTTP status, 0 where no response came.
        limited_seconds: time in which free slots waited for a rate limit or a provider's pause.
        backoff_seconds: sum of the waits before retries.
        usage: usage of the replies.
        latencies: seconds that each reply took.
        peak_in_flight: most requests in flight at once.
    """

    requests: int = 0
    replies: int = 0
    retries: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    abandoned: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    limited_seconds: float = 0.0
    backoff_seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)
    latencies: list[float] = field(default_factory=list)
    peak_in_flight: int = 0

    @classmethod
    def combined(cls, parts: Iterable[CallStatistics]) -> CallStatistics:
        """Return the sums over several models; `peak_in_flight` is the highest of any one."""
        total = cls()
        for part in parts:
            total.requests += part.requests
            total.replies += part.replies
            total.retries += part.retries
            total.errors += part.errors
            total.abandoned += part.abandoned
            total.statuses += part.statuses
            total.limited_seconds += part.limited_seconds
            total.backoff_seconds += part.backoff_seconds
            total.usage += part.usage
            total.latencies += part.latencies
            total.peak_in_flight = max(total.peak_in_flight, part.peak_in_flight)
        return total

    def latency_quantile(self, share: float) -> float | None:
        """Return a quantile of the latencies (s); None without replies.

        Args:
            share: part of the replies that did not take longer (0..1).
        """
        return quantile(sorted(self.latencies), share) if self.latencies else None

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form; the latencies as their median and 95th percentile."""
        return {
            "requests": self.requests,
            "replies": self.replies,
            "retries": dict(self.retries),
            "errors": dict(self.errors),
            "abandoned": self.abandoned,
            "statuses": {str(status): count for status, count in sorted(self.statuses.items())},
            "limited_seconds": self.limited_seconds,
            "backoff_seconds": self.backoff_seconds,
            "usage": self.usage.to_json(),
            "latency_p50": self.latency_quantile(0.5),
            "latency_p95": self.latency_quantile(0.95),
            "peak_in_flight": self.peak_in_flight,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """The calls to the live models of a session.

    Attributes:
        models: statistics by the model's name.
        from_store: replies that an earlier session of the same run had stored.
        from_cache: replies of other runs.
        roles: the roles in which any model was asked.
    """

    models: Mapping[str, CallStatistics]
    from_store: int
    from_cache: int = 0
    roles: frozenset[Role] = frozenset()

    @property
    def total(self) -> CallStatistics:
        """The sums over all models."""
        return CallStatistics.combined(self.models.values())

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        models: dict[str, Json] = {name: part.to_json() for name, part in self.models.items()}
        stored: dict[str, Json] = {"from_store": self.from_store, "from_cache": self.from_cache}
        return {**stored, **self.total.to_json(), "models": models}


def quantile(ordered: Sequence[float], level: float) -> float:
    """Return the quantile at `level` in 0..1 of sorted values (at least one).

    Linear between neighbours.
    """
    place = level * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
