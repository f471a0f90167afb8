"""Where the models of each provider are reached, by options and environment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pytest_llmeval.engine.addresses import check_address
from pytest_llmeval.errors import UsageError
from pytest_llmeval.providers.services import Endpoint, Service

OPENAI: Final = Service(
    kind="openai",
    url="https://api.openai.com/v1",
    url_name="OPENAI_BASE_URL",
    key_names=("OPENAI_API_KEY",),
)
ANTHROPIC: Final = Service(
    kind="anthropic",
    url="https://api.anthropic.com",
    url_name="ANTHROPIC_BASE_URL",
    key_names=("ANTHROPIC_API_KEY",),
)
GOOGLE: Final = Service(
    kind="google",
    url="https://generativelanguage.googleapis.com",
    url_name="GOOGLE_GEMINI_BASE_URL",
    key_names=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
)
SERVICES: Final[Mapping[str, Service]] = {one.kind: one for one in (OPENAI, ANTHROPIC, GOOGLE)}
"""By the provider's name."""

BEDROCK_URLS: Final = ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "AWS_ENDPOINT_URL")
BEDROCK_REGIONS: Final = ("AWS_REGION", "AWS_DEFAULT_REGION")
BEDROCK_PLACES: Final = (*BEDROCK_URLS, *BEDROCK_REGIONS)
"""Environment variables that say where Bedrock's models are reached."""

AZURE_VERSION: Final = "2025-04-01-preview"
"""Version of Azure's API when the variable OPENAI_API_VERSION names none."""


def azure_endpoint(
    deployment: str, options: Mapping[str, str], environ: Mapping[str, str]
) -> Endpoint:
    """Return where an ``azure/`` deployment is reached.

    The address is the option ``base_url``, else AZURE_OPENAI_ENDPOINT. The key is in the variable
    that the option ``key`` names, else in AZURE_OPENAI_API_KEY; it may be missing.

    Raises:
        UsageError: there is no address.
    """
    model = f"azure/{deployment}"
    key_name = options.get("key", "AZURE_OPENAI_API_KEY")
    url = options.get("base_url") or environ.get("AZURE_OPENAI_ENDPOINT")
    if not url:
        msg = (
            f"{model}: AZURE_OPENAI_ENDPOINT is not set; "
            "expected a value such as https://NAME.openai.azure.com"
        )
        raise UsageError(msg)
    check_address(url, "AZURE_OPENAI_ENDPOINT")
    version = environ.get("OPENAI_API_VERSION") or AZURE_VERSION
    return Endpoint(
        model=model, base_url=url, key_name=key_name, key=environ.get(key_name, ""), version=version
    )


def endpoints_by(environ: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return what the environment says about where each kind of provider is reached.

    Stored replies are reused from the same endpoint only (`engine.replies`). A function's file is
    relative to `folder`, so that is its endpoint.
    """
    return {
        **{kind: environ.get(service.url_name, "") for kind, service in SERVICES.items()},
        "azure": environ.get("AZURE_OPENAI_ENDPOINT", ""),
        "bedrock": next((environ[name] for name in BEDROCK_PLACES if environ.get(name)), ""),
        "python": str(folder),
    }
