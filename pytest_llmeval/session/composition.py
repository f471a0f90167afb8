"""Puts a run together: the engine's parts with the adapters that serve them.

Called in the engine's thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pytest_llmeval.domains.heracles.graphs import Graphs
from pytest_llmeval.engine.cache import COMPLETIONS, IMAGES, Cache
from pytest_llmeval.engine.choice import ModelChoice
from pytest_llmeval.engine.completions import CompletionStore
from pytest_llmeval.engine.gateway import Gateway
from pytest_llmeval.engine.limits import Limiter
from pytest_llmeval.engine.models import Models
from pytest_llmeval.engine.plan import Plan
from pytest_llmeval.engine.ports import Graph
from pytest_llmeval.engine.replay import Recorder, StoredOnly
from pytest_llmeval.engine.run import KeepTranscript, Run
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.engine.statistics import CallStatistics
from pytest_llmeval.files.images import ImageFolder
from pytest_llmeval.providers.provider import open_provider
from pytest_llmeval.results.store import StoredRun
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.session.spending import Spending
from pytest_llmeval.task.catalog import Catalog

LOOK_AHEAD = 2
"""Samples started and not yet handed over, in units of the concurrency: enough to keep it full
while tests score."""

PAUSES_OF_PATIENCE = 6
"""The share of our patience with a server that one pause takes at most: it has to be tried several
times meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a run is given by the session: where files go, how notes reach the user, and how far to look ahead.

    `started`: when the run first began (s since 1970), which for a resumed one was in an earlier
    session. `replayed`: the run whose stored replies are all that there is.
    """

    folder: Path
    started: float
    keep_transcript: KeepTranscript
    tell: Callable[[str], None]
    stops_early: bool
    replayed: StoredRun | None = None


def open_run(settings: Settings, catalog: Catalog, plan: Plan, around: Surroundings) -> Run:
    """Return the run of `plan`, nothing of it started."""
    images = ImageFolder(around.folder / IMAGES)

    async def open_scene(scene: Path) -> Graph:
        from pytest_llmeval.domains.heracles.graph import open_graph  # noqa: PLC0415 - the driver is for runs with a graph

        return await open_graph(
            settings.graph, scene, reset=settings.graph_reset, progress=around.tell
        )

    return Run(
        plan=plan,
        catalog=catalog,
        models=open_models(
            settings, around.folder, images, started=around.started, replayed=around.replayed
        ),
        graphs=Graphs(open_scene),
        choice=ModelChoice(settings, catalog),
        image_store=images,
        window=settings.concurrency * (1 if around.stops_early else LOOK_AHEAD),
        keep_transcript=around.keep_transcript,
        sample_timeout=settings.sample_timeout,
    )


def open_models(
    settings: Settings,
    folder: Path,
    images: ImageFolder,
    *,
    started: float,
    replayed: StoredRun | None = None,
) -> Models:
    """Return the way to all models, with their limits, budget, store in `folder`, cache and recording.

    Of a `replayed` run the replies are in the store, and no other way to a model is open.
    """
    recorder = Recorder(Path(settings.record)) if settings.record else None
    spending = Spending(settings)

    def open_gateway(spec: ModelSpec) -> Gateway:
        statistics = CallStatistics()
        limits = Limiter(
            settings.concurrency,
            rpm=settings.rpm,
            tpm=settings.tpm,
            statistics=statistics,
            longest_pause=settings.patience / PAUSES_OF_PATIENCE,
        )
        return Gateway(
            StoredOnly(replayed.path.name)
            if replayed
            else open_provider(spec, settings, image_store=images),
            name=spec.label,
            limits=limits,
            budget=spending.budget(spec),
            timeout=settings.timeout,
            patience=settings.patience,
            statistics=statistics,
        )

    store = CompletionStore(folder / COMPLETIONS)
    spending.carry_over(store.kept(), since=started)
    if replayed is not None:
        store.absorb(replayed.path / COMPLETIONS)
    return Models(open_gateway, store, recorder, cache=_cache(settings), started=started)


def _cache(settings: Settings) -> Cache | None:
    if settings.cache is None:
        return None
    endpoints = {
        "openai": settings.base_url or os.environ.get("OPENAI_BASE_URL", ""),
        "azure": os.environ.get("AZURE_OPENAI_ENDPOINT", ""),
        "python": settings.folder,
    }
    return Cache(Path(settings.cache), max_age=settings.cache_max_age, endpoints=endpoints)
