"""What a run was asked to do: the options, resolved once, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal, TypeAlias, cast

from pytest_llmeval.records import Json

ImageMode: TypeAlias = Literal["draw", "edit", "chat"]
"""How a task in two stages gets its picture: a text model tells what to draw, the provider's image
endpoint edits the diagram, or a chat reply carries the picture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options of a run. Paths are absolute; secrets are never among them.

    `timeout` is one request's seconds, `sample_timeout` a sample's, `patience` a server's
    absence's, `cache_max_age` a reply's; `overrides` holds, per task name, dotted keys and their
    values; `budget` is in US dollars; `shard` is this one's number from 1 on, and of how many.
    """

    models: tuple[str, ...] = ()
    base_url: str | None = None
    judges: tuple[str, ...] = ()
    concurrency: int = 64
    rpm: float | None = None
    tpm: float | None = None
    timeout: float = 600.0
    sample_timeout: float | None = None
    patience: float = 180.0
    seed: int | None = None
    shard: tuple[int, int] | None = None
    budget: float | None = None
    prices: str | None = None
    max_tokens_total: int | None = None
    estimate: bool = False
    epochs: int = 1
    limit: int | None = None
    samples: tuple[str, ...] = ()
    datasets: Mapping[str, str] = field(default_factory=dict)
    overrides: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    graph: str | None = None
    graph_reset: bool = False
    taxonomy: bool = False
    image_mode: ImageMode | None = None
    cache: str | None = None
    cache_max_age: float | None = None
    record: str | None = None
    resume: str | None = None
    replay_run: str | None = None
    report: str | None = None
    baseline: str | None = None
    gate: str | None = None
    folder: str = "."

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form, for ``run.json``."""
        return cast("dict[str, Json]", asdict(self))
