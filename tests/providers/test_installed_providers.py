"""What is told of providers of other distributions that do not keep their promise."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback import question
from servers.installing import install_provider

from pytest_llmeval.engine.installed import installed_providers
from pytest_llmeval.engine.specs import ModelSpec, parse_spec
from pytest_llmeval.errors import ProviderError, UsageError
from pytest_llmeval.files.images import ImageFolder
from pytest_llmeval.providers.provider import check_provider, open_provider
from pytest_llmeval.session.settings import Settings


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a function that installs a provider into a folder on the path and returns the spec of a model of it."""
    monkeypatch.syspath_prepend(tmp_path)

    def install(module: str, *, name: str = "bad", kind: str = "bad") -> ModelSpec:
        install_provider(tmp_path, name, "0.3", module, f"{kind} = llmeval_{name}:open_it")
        installed_providers.cache_clear()
        return parse_spec(f"{kind}/m", folder=tmp_path)

    yield install
    installed_providers.cache_clear()
    sys.modules.pop("llmeval_bad", None)


@pytest.mark.parametrize(
    ("module", "told"),
    [
        (
            "import no_such_module\n",
            r"ModuleNotFoundError: No module named 'no_such_module'\); mend or uninstall it",
        ),
        ("raise SystemExit(3)\n", r"SystemExit: 3\)"),
        ("", r"AttributeError: module 'llmeval_bad' has no attribute 'open_it'\)"),
        ("open_it = 3\n", "llmeval_bad:open_it is no function"),
    ],
    ids=["raises", "exits", "lacks the function", "is no function"],
)
def test_one_that_cannot_be_loaded_is_a_usage_error_that_names_its_distribution(
    install: Any, module: str, told: str
) -> None:
    with pytest.raises(UsageError, match=rf"provider 'bad' of llmeval-bad 0\.3.*{told}"):
        check_provider(install(module), Settings())


def test_two_distributions_with_one_name_are_both_named(install: Any) -> None:
    install("", name="one", kind="same")
    spec = install("", name="two", kind="same")
    with pytest.raises(
        UsageError,
        match=r"'same' is claimed by llmeval-\w+ 0\.3 and llmeval-\w+ 0\.3; uninstall one",
    ):
        check_provider(spec, Settings())


PROVIDER = """
class P:
    async def send(self, request):
        {body}
    async def close(self):
        print("closed")
def open_it(setup): return P()
"""


def send(spec: ModelSpec, folder: Path) -> Any:
    async def main() -> Any:
        provider = open_provider(spec, Settings(), image_store=ImageFolder(folder), environ={})
        try:
            return await provider.send(question())
        finally:
            await provider.close()

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("module", "error", "told"),
    [
        ("def open_it(setup): return None\n", UsageError, "cannot be opened: AttributeError"),
        (
            "def open_it(setup): raise OSError('no disk')\n",
            UsageError,
            "cannot be opened: OSError: no disk",
        ),
        (PROVIDER.format(body="return 3"), ProviderError, "returned int; expected str or Reply"),
        (PROVIDER.format(body="raise KeyError('x')"), ProviderError, "raised KeyError: 'x'"),
    ],
    ids=["opens nothing", "fails to open", "sends nonsense", "raises"],
)
def test_one_that_breaks_its_promise_is_an_error_that_names_its_distribution(
    install: Any, tmp_path: Path, module: str, error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=rf"bad/m \(by llmeval-bad 0\.3\) {told}"):
        send(install(module), tmp_path)


def test_how_far_its_own_errors_reach_is_its_to_say_and_it_is_closed(
    install: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = "from pytest_llmeval import ProviderError; raise ProviderError('busy', reach='attempt', status=429)"
    with pytest.raises(ProviderError, match=r"^busy$") as caught:
        send(install(PROVIDER.format(body=body)), tmp_path)
    assert (caught.value.reach, caught.value.status) == ("attempt", 429)
    assert capsys.readouterr().out == "closed\n"
