"""Where Bedrock's models are reached: the region, and the address in messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pytest_llmeval.engine.addresses import check_address
from pytest_llmeval.errors import UsageError
from pytest_llmeval.providers.endpoints import BEDROCK_REGIONS, BEDROCK_URLS
from pytest_llmeval.providers.services import Endpoint

_TOKENS: Final = ("AWS_BEARER_TOKEN_BEDROCK", "AWS_SESSION_TOKEN")
"""Variables with secrets that are sent as they are, so that a server could repeat them."""


def bedrock_region(model: str, options: Mapping[str, str], environ: Mapping[str, str]) -> str:
    """Return a model's region: of the spec, the environment, or AWS's files of configuration.

    Raises:
        UsageError: none is named.
    """
    if region := options.get("region") or _first(environ, BEDROCK_REGIONS) or _configured_region():
        return region
    msg = f"bedrock/{model}: no region; set AWS_REGION, or region=us-east-1 in the spec"
    raise UsageError(msg)


def bedrock_endpoint(
    model: str, options: Mapping[str, str], environ: Mapping[str, str], *, region: str
) -> Endpoint:
    """Return where a ``bedrock/`` model is reached; UsageError when the address is none."""
    own = f"https://bedrock-runtime.{region}.amazonaws.com"
    url = options.get("base_url") or _first(environ, BEDROCK_URLS) or own
    check_address(url, "base URL")
    return Endpoint(
        model=f"bedrock/{model}",
        base_url=url,
        key_name="the AWS credentials",
        key=_first(environ, _TOKENS),
    )


def _first(environ: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((environ[name] for name in names if environ.get(name)), "")


def _configured_region() -> str:
    """Return the region in AWS's files; "" if there is none."""
    import botocore.exceptions  # noqa: PLC0415 - an SDK
    import botocore.session  # noqa: PLC0415 - an SDK

    try:
        return botocore.session.get_session().get_config_variable("region") or ""
    except botocore.exceptions.BotoCoreError:
        return ""
