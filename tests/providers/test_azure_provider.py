"""Azure's endpoints, and both ways to sign in there, against a real server on loopback."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest
from providers.loopback import failure, question

from pytest_llmeval.errors import ProviderError, UsageError
from pytest_llmeval.providers.azure.entra import EntraCredential

VERSION = {"OPENAI_API_VERSION": "2025-06-01-preview"}
KEY = {"AZURE_OPENAI_API_KEY": "azure-key-1234"}


@pytest.fixture
def azure(ask: Any, model_server: Any) -> Any:
    """Return a function that asks the deployment `dep`; OPENAI_BASE_URL is set, and not used."""

    def azure(request: Any = "q", *, spec: str = "azure/dep", **environ: str) -> Any:
        environ = VERSION | {"AZURE_OPENAI_ENDPOINT": model_server.root} | environ
        return ask(request, spec=spec, url="http://127.0.0.1:9/v1", **environ)

    return azure


def test_azure_asks_its_deployment_with_key_and_version(azure: Any, model_server: Any) -> None:
    assert azure(question("q", max_tokens=7), **KEY).text == "echo: q"
    (seen,) = model_server.report()["seen"]
    assert seen["path"] == "/openai/deployments/dep/chat/completions?api-version=2025-06-01-preview"
    assert seen["headers"]["api-key"] == "azure-key-1234"
    assert "authorization" not in seen["headers"]
    assert seen["body"]["max_completion_tokens"] == 7
    assert "max_tokens" not in seen["body"]


def test_azure_needs_no_version(azure: Any, model_server: Any) -> None:
    azure(OPENAI_API_VERSION="", **KEY)
    path = "/openai/deployments/dep/chat/completions?api-version=2025-04-01-preview"
    assert model_server.report()["seen"][0]["path"] == path


def test_azure_serves_responses_beside_its_deployments(azure: Any, model_server: Any) -> None:
    assert azure(spec="azure/dep,api=responses", **KEY).text == "echo: q"
    (seen,) = model_server.report()["seen"]
    assert seen["path"] == "/openai/responses?api-version=2025-06-01-preview"
    # The name that a deployment has in a request's body is the one of the request's model.
    assert seen["body"]["model"] == "m"


def test_a_spec_may_name_another_resource_and_its_key(azure: Any, model_server: Any) -> None:
    spec = f"azure/dep,base_url={model_server.root},key=SECOND_API_KEY"
    azure(
        spec=spec,
        AZURE_OPENAI_ENDPOINT="http://127.0.0.1:9",
        SECOND_API_KEY="azure-key-5678",
        **KEY,
    )
    assert model_server.report()["seen"][0]["headers"]["api-key"] == "azure-key-5678"


def test_failures_name_azures_key(azure: Any, model_server: Any) -> None:
    model_server.program(always={"kind": "401"})
    error = failure(azure, **KEY)
    assert str(error).startswith("azure/dep at 127.0.0.1")
    assert "AZURE_OPENAI_API_KEY" in str(error)


@pytest.fixture
def identity() -> Any:
    return pytest.importorskip("azure.identity.aio", reason="the extra `azure` is not installed")


@pytest.mark.usefixtures("identity")
def test_without_a_key_entra_id_signs_in(
    azure: Any, model_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A machine at Azure asks its own host for tokens; ours is the loopback server, all else is the
    # real package.
    monkeypatch.setenv("IDENTITY_ENDPOINT", f"{model_server.root}/msi/token")
    monkeypatch.setenv("IDENTITY_HEADER", "here-i-am")
    assert azure().text == "echo: q"
    report = model_server.report()
    (seen,) = report["seen"]
    assert seen["headers"]["authorization"] == "Bearer entra-token"
    assert "api-key" not in seen["headers"]
    assert report["attempts"]["token"] == 1


def test_who_cannot_sign_in_is_told_and_the_model_is_lost(
    azure: Any, identity: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With one way to sign in, and nothing configured for it; the other ways ask network and
    # programs.
    monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "EnvironmentCredential")
    assert hasattr(identity, "EnvironmentCredential")
    error = failure(azure)
    assert (error.reach, error.cause) == ("model", "token")
    assert (
        "azure/dep: Entra ID gave no token (ClientAuthenticationError); az login, or set a key"
        in str(error)
    )


@pytest.mark.usefixtures("identity")
def test_a_sign_in_that_fails_later_on_ends_the_attempt_alone(
    model_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDENTITY_ENDPOINT", f"{model_server.root}/msi/token")
    monkeypatch.setenv("IDENTITY_HEADER", "here-i-am")

    async def use() -> ProviderError:
        credential = EntraCredential("dep")
        assert await credential.token() == "entra-token"
        # The package keeps a token for its hour; another one is needed once that is over.
        credential._token = unreachable
        with pytest.raises(ProviderError) as caught:
            await credential.token()
        await credential.close()
        return caught.value

    async def unreachable() -> str:
        raise OSError

    assert asyncio.run(use()).reach == "attempt"


def test_with_neither_key_nor_azure_identity_both_ways_are_named(
    azure: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "azure.identity.aio", None)
    with pytest.raises(UsageError, match="set AZURE_OPENAI_API_KEY, or install azure-identity"):
        azure()
