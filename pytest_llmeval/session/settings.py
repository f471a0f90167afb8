"""The settings of a session: its resolved options, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, cast

from pytest_llmeval.roles import JUDGE

if TYPE_CHECKING:  # imported in every pytest session, and msgspec is not needed there
    from pytest_llmeval.records import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The resolved options of a session. Paths are absolute; secrets are never among them.

    Attributes:
        models: specs of the models under test, as typed.
        judges: specs of the models that judge, as typed.
        roles: by role, specs of the models of other roles, as typed.
        concurrency: requests in flight at most, per model.
        sample_timeout: seconds that a sample may take from its first request.
        seed: base of the seeds of all requests; each epoch and draw has another one.
        shard: number of this part, from 1, and number of parts.
        budget: limit on what the run may spend, such as ``5usd,2Mtok``.
        prices: file of prices per million tokens.
        batch: how requests are sent in batches, such as ``on`` or ``wait=12h``.
        estimate: whether to estimate requests and cost instead of running tests.
        epochs: repetitions of every sample.
        limit: samples per task at most; with a seed, as in ``50,seed=1``, random ones.
        samples: raw ids of the samples to run; () means all.
        overrides: by task name, dotted keys of the task and the texts of their values.
        reuse: place of stored replies to use instead of requests.
        keep: place where every reply is stored.
        resume: run to continue: its name or path, or ``latest``.
        report: folder in which run folders are made.
        traces: where OpenTelemetry spans go: a file, or the name of an exporter.
        baseline: baseline file or run folder to compare with.
        gate: file of rules that the run must meet.
        progress: how progress is shown: ``auto``, ``line``, ``plain`` or ``none``.
        workers: the workers on other machines, as typed.
        groups: whether to print all tables, with groups, instead of a line for each task.
        domain: values of the options of domains, by name.
        folder: the folder where the command was typed.
    """

    models: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    concurrency: int = 64
    sample_timeout: float | None = None
    seed: int | None = None
    shard: tuple[int, int] | None = None
    budget: str | None = None
    prices: str | None = None
    batch: str | None = None
    estimate: bool = False
    epochs: int = 1
    limit: int | str | None = None
    samples: tuple[str, ...] = ()
    overrides: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    reuse: str | None = None
    keep: str | None = None
    resume: str | None = None
    report: str | None = None
    traces: str | None = None
    baseline: str | None = None
    gate: str | None = None
    progress: str = "auto"
    workers: str | None = None
    groups: bool = False
    domain: Mapping[str, str] = field(default_factory=dict)
    folder: str = "."

    @property
    def by_role(self) -> Mapping[str, tuple[str, ...]]:
        """The specs of the models of all roles but ``solver``."""
        judges = {JUDGE: self.judges} if self.judges else {}
        return {**judges, **self.roles}

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form, for ``run.json``."""
        return cast("dict[str, Json]", asdict(self))
