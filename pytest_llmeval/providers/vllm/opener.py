"""The provider ``vllm``: a model on a ``vllm serve`` that the run starts and ends."""

from __future__ import annotations

import re
import shlex
import shutil
from typing import Final

from pytest_llmeval.engine.ports import Provider, ProviderSetup
from pytest_llmeval.errors import UsageError

_SEPARATORS: Final = re.compile(r"[^\w.-]+")
_OURS: Final = frozenset(
    {"--host", "--port", "--api-key", "--served-model-name", "--uds", "--root-path"}
    | {"--ssl-keyfile", "--ssl-certfile"}
)
"""Arguments that the run sets itself, or that would hide the server from it."""


class VllmOpener:
    """Opens ``vllm/MODEL``."""

    def __call__(self, setup: ProviderSetup) -> Provider:
        """Return the provider; UsageError where vLLM is not installed."""
        # The SDK takes half a second to import.
        from pytest_llmeval.providers.vllm.provider import VllmProvider  # noqa: PLC0415 - an SDK
        from pytest_llmeval.providers.vllm.server import Launch, VllmServer  # noqa: PLC0415

        launch = Launch(
            program=_program(setup),
            model=setup.model,
            arguments=_arguments(setup),
            environ=setup.environ,
            log=setup.run_folder / f"vllm-{_SEPARATORS.sub('-', setup.model)}.log",
            seconds=setup.startup,
            tell=setup.tell,
        )
        return VllmProvider(VllmServer(launch), setup)

    def check(self, setup: ProviderSetup) -> None:
        """Raise UsageError where vLLM is not installed, or an argument is none for it."""
        _program(setup)
        _arguments(setup)


open_vllm = VllmOpener()


def _program(setup: ProviderSetup) -> str:
    found = shutil.which("vllm", path=setup.environ.get("PATH"))
    if found is None:
        msg = (
            f"vllm/{setup.model}: there is no program `vllm` on the PATH; install it (pip install "
            f"vllm), or name a server that runs: openai/{setup.model},base_url=http://HOST:8000/v1"
        )
        raise UsageError(msg)
    return found


def _arguments(setup: ProviderSetup) -> tuple[str, ...]:
    """Return the arguments that the option ``serve`` names, as a shell would split them."""
    text = setup.options.get("serve", "")
    try:
        arguments = tuple(shlex.split(text))
    except ValueError as error:
        msg = f"vllm/{setup.model}: serve={text}: {str(error).lower()}"
        raise UsageError(msg) from None
    for argument in arguments:
        name = argument.partition("=")[0].replace("_", "-")
        if name in _OURS:
            msg = f"vllm/{setup.model}: serve names {name}, which the run sets itself; leave it out"
            raise UsageError(msg)
    return arguments
