"""Assembly of a run: the engine's parts, its providers and its files.

The functions are called in the engine's thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_llmeval.engine.batches.gateway import BatchGateway
from pytest_llmeval.engine.completing import KeepTranscript
from pytest_llmeval.engine.gateway import Gateway
from pytest_llmeval.engine.models import Models, Way
from pytest_llmeval.engine.plan import Plan
from pytest_llmeval.engine.replies.place import open_keeper, open_source
from pytest_llmeval.engine.replies.store import IMAGES, REPLIES, ReplyStore
from pytest_llmeval.engine.resources import Resources
from pytest_llmeval.engine.run import Pace, Run
from pytest_llmeval.engine.sample_run import Surroundings
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.files.images import ImageFolder
from pytest_llmeval.files.writes import Writes
from pytest_llmeval.providers.endpoints import endpoints_by
from pytest_llmeval.providers.opening import open_batches, open_provider
from pytest_llmeval.providers.stored_only import StoredOnly
from pytest_llmeval.records import Completion, Image, RowKey
from pytest_llmeval.session.batching import opened_batches, sends_batches
from pytest_llmeval.session.choice import model_choice
from pytest_llmeval.session.places import kept_place, reused_place
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.session.spending import Spending
from pytest_llmeval.task.catalog import Catalog

LOOK_AHEAD = 2
"""Samples started and not yet handed over, as a multiple of the concurrency: 2 keep all requests
in flight while tests score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlace:
    """What a session provides for its run.

    Attributes:
        folder: where replies and pictures are stored.
        started: when the run first began, in seconds since 1970; for a resumed run in an earlier
            session.
        keep_transcript: stores each sample's transcript.
        writes: notes what cannot be written, which ends the run.
        tell: shows a line to the user.
        stops_early: whether the first failure may end the session; fewer samples are then started
            ahead.
        completions: the stored completions that are scored again; None if solvers make them.
        mistakes: by task file, the mistakes because of which no sample of the task is asked.
        pictures: by path, the samples' pictures as they are sent.
    """

    folder: Path
    started: float
    keep_transcript: KeepTranscript
    writes: Writes
    tell: Callable[[str], None]
    stops_early: bool
    completions: Mapping[RowKey, Completion] | None = None
    mistakes: Mapping[str, LLMEvalError] = field(default_factory=dict)
    pictures: Mapping[str, Image] = field(default_factory=dict)


def open_run(settings: Settings, catalog: Catalog, plan: Plan, place: RunPlace) -> Run:
    """Return the run of `plan`; no request is sent yet.

    Raises:
        UsageError: an option is invalid, or a place of replies cannot be opened.
    """
    images = ImageFolder(place.folder / IMAGES, place.writes, place.pictures)
    choice = model_choice(settings, catalog)
    most = max(
        (model.limits.concurrency or settings.concurrency for model in choice.models),
        default=settings.concurrency,
    )
    window = most * (1 if place.stops_early else LOOK_AHEAD)
    if sends_batches(settings):
        # What is not started is in no batch.
        window = max(window, len(plan.tests))
    return Run(
        plan=plan,
        catalog=catalog,
        models=open_models(
            settings,
            place.folder,
            images,
            started=place.started,
            writes=place.writes,
            tell=place.tell,
        ),
        choice=choice,
        around=Surroundings(
            image_store=images,
            resources=Resources(),
            settings=settings.domain.get,
            tell=place.tell,
        ),
        pace=Pace(window=window, sample_timeout=settings.sample_timeout),
        keep_transcript=place.keep_transcript,
        completions=place.completions,
        mistakes=place.mistakes,
    )


def open_models(  # noqa: PLR0913 - the parts of a run's place
    settings: Settings,
    folder: Path,
    images: ImageFolder,
    *,
    started: float,
    writes: Writes,
    tell: Callable[[str], None],
) -> Models:
    """Return the connections to all models, with limits, budget and places of replies.

    Args:
        settings: the session's settings.
        folder: where the run's own replies are stored.
        images: stores pictures in replies.
        started: when the run first began, in seconds since 1970.
        writes: notes replies that cannot be stored.
        tell: shows a line to the user.

    Raises:
        UsageError: an option is invalid, or a place of replies cannot be opened.
    """
    spending = Spending(settings)
    # Before the places: the run's own store may be the one that is reused.
    store = ReplyStore(folder / REPLIES)
    reused, kept = reused_place(settings), kept_place(settings)
    endpoints = endpoints_by(os.environ, Path(settings.folder))

    def open_gateway(spec: ModelSpec) -> Way:
        provider = (
            StoredOnly(f"run {reused.path.name}" if reused.is_run else reused.name)
            if reused is not None and reused.only
            else open_provider(
                spec,
                folder=Path(settings.folder),
                image_store=images,
                run_folder=folder,
                tell=tell,
            )
        )
        budget = spending.budget(spec)
        online = Gateway.of(spec, provider, budget=budget, concurrency=settings.concurrency)
        if batches is None or spec.recorded:
            return online
        service = open_batches(spec, folder=Path(settings.folder), image_store=images)
        return BatchGateway(
            online,
            service,
            batches.desk(spec.label, service, endpoint=endpoints.get(spec.kind, "")),
            batches,
            name=spending.batch_name(spec),
            budget=budget,
        )

    spending.carry_over(store.all(), since=started)
    # Opened before the source: both may be the same folder, which the keeper creates.
    keeper = None if kept is None else open_keeper(kept, endpoints=endpoints)
    batches = opened_batches(settings, folder, reused, kept, tell)
    return Models(
        open_gateway,
        store,
        source=None if reused is None else open_source(reused, endpoints=endpoints),
        keeper=keeper,
        only_stored=reused is not None and reused.only,
        endpoints=endpoints,
        started=started,
        writes=writes,
        batches=batches,
    )
