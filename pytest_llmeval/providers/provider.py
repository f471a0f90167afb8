"""Which provider a model's name on the command line means."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from pytest_llmeval.engine.installed import installed_provider
from pytest_llmeval.engine.ports import ImageStore, Provider, ProviderSetup
from pytest_llmeval.engine.replay import ReplayProvider
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.errors import LLMEvalError, TaskError, UsageError
from pytest_llmeval.providers.endpoints import azure_endpoint, openai_endpoint
from pytest_llmeval.providers.entra import identity_package
from pytest_llmeval.providers.python import PythonProvider
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.task.callables import load_callable


def open_provider(
    spec: ModelSpec,
    settings: Settings,
    *,
    image_store: ImageStore,
    environ: Mapping[str, str] = os.environ,
) -> Provider:
    """Return a model's provider; UsageError for what is missing or wrong, such as a key."""
    setup = ProviderSetup(
        model=spec.name,
        options=_options(spec, settings),
        timeout=settings.timeout,
        image_store=image_store,
        environ=environ,
    )
    # Each SDK is imported only for a model that needs it: openai alone takes over half a second.
    match spec.kind:
        case "openai":
            from pytest_llmeval.providers.openai import open_openai  # noqa: PLC0415 - as above

            return open_openai(setup)
        case "azure":
            from pytest_llmeval.providers.azure import open_azure  # noqa: PLC0415 - as above

            return open_azure(setup)
        case "replay":
            return ReplayProvider(Path(spec.name))
        case "python":
            return _python(spec, settings)
        case _:
            return _installed(spec, setup)


def check_provider(
    spec: ModelSpec, settings: Settings, *, environ: Mapping[str, str] = os.environ
) -> None:
    """Raise the UsageError that opening the provider would end in, as far as that shows without opening anything."""
    match spec.kind:
        case "openai":
            openai_endpoint(spec.name, _options(spec, settings), environ)
        case "azure":
            if not azure_endpoint(spec.name, spec.options, environ).key:
                identity_package(spec.name)
        case "replay":
            pass
        case "python":
            _python(spec, settings)
        case _:
            installed_provider(spec.kind).load()


def _options(spec: ModelSpec, settings: Settings) -> dict[str, str]:
    """Return the spec's options; the run's base URL is for ``openai/`` models that have none of their own."""
    shared = {"base_url": settings.base_url} if settings.base_url and spec.kind == "openai" else {}
    return {**shared, **spec.options}


def _python(spec: ModelSpec, settings: Settings) -> PythonProvider:
    try:
        return PythonProvider(load_callable(spec.name, Path(settings.folder)), name=spec.text)
    except TaskError as error:
        msg = f"model {spec.text}: {error}"
        raise UsageError(msg) from error


def _installed(spec: ModelSpec, setup: ProviderSetup) -> PythonProvider:
    """Return another distribution's provider, of which nothing is taken for granted."""
    provider = installed_provider(spec.kind)
    name = f"{spec.text} (by {provider.told})"
    opener = provider.load()
    try:
        opened = opener(setup)
        return PythonProvider(opened.send, name=name, close=opened.close)
    except LLMEvalError:
        raise
    except Exception as error:
        msg = f"{name} cannot be opened: {type(error).__name__}: {error}"
        raise UsageError(msg) from error
