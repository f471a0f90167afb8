"""What is told of providers of other distributions that do not keep their promise."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from providers.loopback import question
from servers.installing import install_provider

from pytest_llmeval.engine.specs import ModelSpec, parse_spec
from pytest_llmeval.errors import ProviderError, UsageError
from pytest_llmeval.files.images import ImageFolder
from pytest_llmeval.providers.opening import check_provider, open_provider
from pytest_llmeval.task import registry


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a function that installs a provider and returns the spec of a model of it."""
    monkeypatch.syspath_prepend(tmp_path)

    def install(module: str, *, name: str = "bad", kind: str = "bad") -> ModelSpec:
        install_provider(tmp_path, name, "0.3", module, f"{kind} = llmeval_{name}:open_it")
        registry._installed.cache_clear()
        return parse_spec(f"{kind}/m", folder=tmp_path)

    yield install
    registry._installed.cache_clear()
    sys.modules.pop("llmeval_bad", None)


@pytest.mark.parametrize(
    ("module", "told"),
    [
        (
            "import no_such_module\n",
            r"ModuleNotFoundError: No module named 'no_such_module'\); repair or uninstall it",
        ),
        ("raise SystemExit(3)\n", r"SystemExit: 3\)"),
        ("", r"AttributeError: module 'llmeval_bad' has no attribute 'open_it'\)"),
        ("open_it = 3\n", "llmeval_bad:open_it is not a function"),
    ],
    ids=["raises", "exits", "lacks the function", "is not a function"],
)
def test_one_that_cannot_be_loaded_is_a_usage_error_that_names_its_distribution(
    install: Any, tmp_path: Path, module: str, told: str
) -> None:
    with pytest.raises(UsageError, match=rf"provider 'bad' of llmeval-bad 0\.3.*{told}"):
        check_provider(install(module), folder=tmp_path)


def test_two_distributions_with_one_name_are_both_named(install: Any, tmp_path: Path) -> None:
    install("", name="one", kind="same")
    spec = install("", name="two", kind="same")
    with pytest.raises(
        UsageError,
        match=r"'same' is defined by llmeval-\w+ 0\.3 and llmeval-\w+ 0\.3; uninstall one",
    ):
        check_provider(spec, folder=tmp_path)


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
        images = ImageFolder(folder)
        provider = open_provider(spec, folder=folder, image_store=images, environ={})
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
    raised = "ProviderError('busy', reach='attempt', status=429)"
    body = f"from pytest_llmeval import ProviderError; raise {raised}"
    with pytest.raises(ProviderError, match=r"^busy$") as caught:
        send(install(PROVIDER.format(body=body)), tmp_path)
    assert (caught.value.reach, caught.value.status) == ("attempt", 429)
    assert capsys.readouterr().out == "closed\n"


def test_an_opener_may_check_without_opening_and_its_own_errors_pass(
    install: Any, tmp_path: Path
) -> None:
    module = """
from pytest_llmeval.errors import UsageError
class Opener:
    def __call__(self, setup): raise AssertionError("opened")
    def check(self, setup):
        if setup.model == "m": raise UsageError(f"bad/{setup.model}: no key; set BAD_KEY")
        raise KeyError(setup.model)
open_it = Opener()
"""
    spec = install(module)
    with pytest.raises(UsageError, match=r"^bad/m: no key; set BAD_KEY$"):
        check_provider(spec, folder=tmp_path)
    other = parse_spec("bad/other", folder=tmp_path)
    with pytest.raises(UsageError, match=r"\(by llmeval-bad 0\.3\) cannot be checked: KeyError"):
        check_provider(other, folder=tmp_path)


def test_a_provider_may_be_named_by_its_function_without_any_distribution(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(PROVIDER.format(body="return request.messages[0].text"))
    spec = parse_spec("./mine.py:open_it/some/model,rpm=60", folder=tmp_path)
    assert (spec.kind, spec.name, spec.label) == (
        "./mine.py:open_it",
        "some/model",
        "./mine.py:open_it/some/model",
    )
    assert send(spec, tmp_path).text == question().messages[0].text
