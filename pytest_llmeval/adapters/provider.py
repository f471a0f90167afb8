"""Which provider a model's name on the command line means."""

from __future__ import annotations

import os
from collections.abc import Mapping

from pytest_llmeval.engine.ports import ImageStore, Provider
from pytest_llmeval.errors import UsageError


def open_provider(
    spec: str,
    *,
    image_store: ImageStore,
    timeout: float,
    base_url: str | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Provider:
    """Return the provider of ``openai/NAME`` or ``azure/DEPLOYMENT``; UsageError when `spec` is neither.

    A missing key or a wrong URL is a UsageError too. `timeout` is the provider's patience between bytes, in seconds.
    """
    kind, _, model = spec.partition("/")
    # Each SDK is imported only for a model that needs it: openai alone takes over half a second.
    match kind:
        case "openai" if model:
            from pytest_llmeval.adapters.openai import open_openai  # noqa: PLC0415 - as above

            return open_openai(model, base_url=base_url, timeout=timeout, image_store=image_store, environ=environ)
        case "azure" if model:
            from pytest_llmeval.adapters.azure import open_azure  # noqa: PLC0415 - as above

            return open_azure(model, base_url=base_url, timeout=timeout, image_store=image_store, environ=environ)
        case _:
            msg = f"model {spec!r} is unknown; expected openai/NAME or azure/DEPLOYMENT"
            raise UsageError(msg)
