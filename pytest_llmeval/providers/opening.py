"""Opening the provider of a model, and checking beforehand that it can be opened."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

from pytest_llmeval.engine.batches.ports import BatchService, OpenBatches
from pytest_llmeval.engine.batches.settings import BATCH
from pytest_llmeval.engine.ports import (
    CheckProvider,
    ImageStore,
    OpenProvider,
    Provider,
    ProviderSetup,
)
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.errors import LLMEvalError, TaskError, UsageError
from pytest_llmeval.providers.guard import GuardedProvider
from pytest_llmeval.records import Image
from pytest_llmeval.safety.raised import described_with_place
from pytest_llmeval.task.registry import PROVIDERS


def open_provider(  # noqa: PLR0913 - the parts of a run that a provider may need
    spec: ModelSpec,
    *,
    folder: Path,
    image_store: ImageStore,
    environ: Mapping[str, str] = os.environ,
    run_folder: Path | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Provider:
    """Return the provider of a model.

    Code that is not of this package is guarded: what it does wrong is an error that names the
    model and the distribution.

    Args:
        spec: the model.
        folder: where relative paths in specs start.
        image_store: keeps pictures that come in replies.
        environ: the environment's variables.
        run_folder: folder of the run's files; `folder` if None.
        tell: shows a line to the user.

    Raises:
        UsageError: something is missing or wrong, such as a key.
    """
    opener = _opener(spec, folder)
    setup = replace(
        _setup(spec, folder, image_store, environ), run_folder=run_folder or folder, tell=tell
    )
    if spec.kind in PROVIDERS.own:
        return opener(setup)
    name = _guarded_name(spec)
    try:
        opened = opener(setup)
        return GuardedProvider(opened.send, name=name, close=opened.close)
    except LLMEvalError:
        raise
    except Exception as error:
        msg = f"{name} cannot be opened: {described_with_place(error)}"
        raise UsageError(msg) from error


def open_batches(
    spec: ModelSpec,
    *,
    folder: Path,
    image_store: ImageStore,
    environ: Mapping[str, str] = os.environ,
) -> BatchService:
    """Return the batch API of a model, of one of the package's own providers.

    Args:
        spec: the model.
        folder: where relative paths in specs start.
        image_store: keeps pictures that come in replies.
        environ: the environment's variables.

    Raises:
        UsageError: its provider has none, or something is missing, such as a key.
    """
    return _batch_opener(spec, folder).open_batches(_setup(spec, folder, image_store, environ))


def check_batches(spec: ModelSpec, *, folder: Path) -> None:
    """Raise UsageError if the provider of a model has no batch API."""
    _batch_opener(spec, folder)


def has_batches(spec: ModelSpec) -> bool:
    """Return whether the provider of a model is one of the package's own with a batch API."""
    own = spec.kind in PROVIDERS.own
    return own and isinstance(_opener(spec, Path()), OpenBatches)


def _batch_opener(spec: ModelSpec, folder: Path) -> OpenBatches:
    opener = _opener(spec, folder)
    if spec.kind in PROVIDERS.own and isinstance(opener, OpenBatches):
        return opener
    msg = (
        f"{BATCH}: {spec.label} has no batch API (openai/, azure/ and anthropic/ models have one); "
        f"leave the option out ({BATCH}=off), or run this model in a session of its own"
    )
    raise UsageError(msg)


def check_provider(
    spec: ModelSpec, *, folder: Path, environ: Mapping[str, str] = os.environ
) -> None:
    """Raise the UsageError that opening a model's provider would end in, as far as can be known.

    Nothing is opened; an opener without the method `check` is loaded only.
    """
    opener = _opener(spec, folder)
    if not isinstance(opener, CheckProvider):
        return
    try:
        opener.check(_setup(spec, folder, _NoImages(), environ))
    except LLMEvalError:
        raise
    except Exception as error:
        msg = f"{_guarded_name(spec)} cannot be checked: {described_with_place(error)}"
        raise UsageError(msg) from error


def _opener(spec: ModelSpec, folder: Path) -> OpenProvider:
    try:
        return cast("OpenProvider", PROVIDERS.load(spec.kind, folder, confined=False))
    except TaskError as error:
        msg = f"model {spec.label}: {error}"
        raise UsageError(msg) from error


def _setup(
    spec: ModelSpec, folder: Path, image_store: ImageStore, environ: Mapping[str, str]
) -> ProviderSetup:
    return ProviderSetup(
        model=spec.name,
        options=spec.options,
        timeout=spec.timeout,
        image_store=image_store,
        environ=environ,
        folder=folder,
        startup=spec.startup,
    )


def _guarded_name(spec: ModelSpec) -> str:
    origin = PROVIDERS.origin(spec.kind)
    return f"{spec.text} (by {origin})" if origin else spec.text


class _NoImages:
    """The image store of a check, in which nothing is asked and nothing stored."""

    def load(self, path: str) -> Image:
        raise NotImplementedError(path)

    def save(self, data: bytes) -> Image:
        raise NotImplementedError(len(data))
