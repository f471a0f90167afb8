"""Azure's batch API: OpenAI's protocol at Azure's addresses."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_llmeval.engine.ports import ProviderSetup
from pytest_llmeval.providers.azure.entra import EntraCredential
from pytest_llmeval.providers.batch_wire import BatchWire
from pytest_llmeval.providers.endpoints import azure_endpoint
from pytest_llmeval.providers.openai.batches import OpenAIBatches
from pytest_llmeval.providers.openai.provider import NEW_CHAT, RESPONSES


def azure_batches(setup: ProviderSetup) -> OpenAIBatches:
    """Return the batch API of a deployment, which must be of the kind "global batch".

    Raises:
        UsageError: the address is missing, or both ways to sign in.
    """
    endpoint = azure_endpoint(setup.model, setup.options, setup.environ)
    credential = None if endpoint.key else EntraCredential(setup.model)
    base, version = endpoint.base_url.rstrip("/"), endpoint.version

    def url(path: str) -> str:
        return f"{base}/openai{path}{'&' if '?' in path else '?'}api-version={version}"

    async def headers() -> Mapping[str, str]:
        if credential is None:
            return {"api-key": endpoint.key}
        return {"Authorization": f"Bearer {await credential.token()}"}

    api = RESPONSES if setup.options.get("api") == "responses" else NEW_CHAT
    ends = () if credential is None else (credential.close,)
    wire = BatchWire(url, headers, timeout=setup.timeout, ends=ends)
    return OpenAIBatches(wire, endpoint, api=api, path=api.path, image_store=setup.image_store)
