"""Models on a `vllm serve` of the run's own: a stand-in, started by its command line."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.engine.budget import Budget
from pytest_llmeval.engine.gateway import Gateway
from pytest_llmeval.engine.ports import Provider
from pytest_llmeval.engine.specs import parse_spec, parse_specs, share_limits
from pytest_llmeval.engine.tickets import Ticket
from pytest_llmeval.errors import FailedAttempt, ProviderError, UsageError
from pytest_llmeval.files import watcher
from pytest_llmeval.files.images import ImageFolder
from pytest_llmeval.providers.opening import check_provider, open_provider
from pytest_llmeval.providers.vllm.server import end_of
from pytest_llmeval.records import Message, Reply, Request

STAND_IN = Path(__file__).parents[1] / "servers" / "vllm_stand_in.py"
MODEL = "acme/tiny-1b"
HELLO = Request(provider="vllm", model=MODEL, messages=(Message.of("user", "hello"),))
SECONDS = 30
"""How long anything may take, on a busy machine."""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="process groups are POSIX's")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a machine on which `vllm` is installed."""
    program = tmp_path / "bin" / "vllm"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -S {STAND_IN} "$@"\n')
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    return {
        "PATH": path,
        "OPENAI_API_KEY": "sk-of-another-1234",
        "HTTP_PROXY": "http://127.0.0.1:9",
    }


class Opened:
    """A folder in which models are opened, and what the user was told."""

    def __init__(self, folder: Path, environ: dict[str, str]) -> None:
        """Open nothing yet."""
        self.folder, self.environ, self.told = folder, environ, list[str]()
        self.starts = folder / "starts"

    def provider(self, settings: str = "", serve: str = "") -> Provider:
        serve = f"--starts {self.starts} {serve}"
        return open_provider(
            parse_spec(f"vllm/{MODEL}{settings},serve={serve}", folder=self.folder),
            folder=self.folder,
            image_store=ImageFolder(self.folder),
            environ=self.environ,
            run_folder=self.folder / "run",
            tell=self.told.append,
        )

    def do(
        self, work: Callable[[Provider], Coroutine[Any, Any, Any]], settings: str = "", **how: str
    ) -> Any:
        """Return what `work` returns, which gets a provider that is closed behind it."""

        async def main() -> Any:
            provider = self.provider(settings, **how)
            try:
                async with asyncio.timeout(SECONDS):
                    return await work(provider)
            finally:
                await provider.close()

        return asyncio.run(main())

    @property
    def pids(self) -> list[int]:
        """Numbers of the servers' processes that were started."""
        return [*map(int, self.starts.read_text().split())]


@pytest.fixture
def opened(tmp_path: Path, environ: dict[str, str]) -> Opened:
    return Opened(tmp_path, environ)


def are_gone(pids: list[int]) -> bool:
    """Return whether the processes end within SECONDS."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        with suppress(ProcessLookupError):
            for pid in pids:
                os.kill(pid, 0)
            time.sleep(0.02)
            continue
        return True
    return False


async def asked(provider: Provider) -> Reply:
    return await provider.send(HELLO)


def lost(opened: Opened, settings: str = "", serve: str = "") -> ProviderError:
    """Return the error of a model whose server did not start."""
    with pytest.raises(ProviderError) as caught:
        opened.do(asked, settings, serve=serve)
    assert caught.value.reach == "model"
    return caught.value


def test_many_requests_at_once_share_one_server_which_is_ended_with_the_provider(
    opened: Opened,
) -> None:
    async def many(provider: Provider) -> list[Reply]:
        return await asyncio.gather(*(asked(provider) for _ in range(20)))

    replies = opened.do(many, serve="--load 0.3")
    assert [reply.text for reply in replies] == ["hello"] * 20
    assert len(opened.pids) == 1
    assert are_gone(opened.pids)
    assert [line.partition("(")[0].strip() for line in opened.told[:1]] == [
        f"vllm/{MODEL}: starting `vllm serve`"
    ]
    assert opened.told[-1].startswith(f"vllm/{MODEL}: ready after")


def test_its_output_is_a_file_of_the_run_and_keys_of_others_stay_with_the_run(
    opened: Opened,
) -> None:
    opened.do(asked)
    log = (opened.folder / "run" / "vllm-acme-tiny-1b.log").read_text()
    assert log == f"loading {MODEL}, secrets: False\n"


@pytest.mark.parametrize(
    ("settings", "serve", "told"),
    [
        ("", "--die-loading", "ended with code 1 before it was ready"),
        ("", "--no-such-argument", "ended with code 2 before it was ready"),
        (",startup=0.5", "--deaf", "was not ready after 0.5 s (its spec's startup=)"),
        ("", "--other-model", "is not what answers at http://127.0.0.1:"),
    ],
)
def test_a_server_that_does_not_start_loses_the_model_with_the_end_of_its_log(
    opened: Opened, settings: str, serve: str, told: str
) -> None:
    error = str(lost(opened, settings, serve))
    assert told in error
    assert str(opened.folder / "run" / "vllm-acme-tiny-1b.log") in error
    if "die" in serve:
        assert error.endswith(f"ValueError: {MODEL} is no model that vLLM knows")
    assert not opened.starts.is_file() or are_gone(opened.pids)


def test_of_a_log_of_any_size_the_end_alone_is_read(tmp_path: Path) -> None:
    log = tmp_path / "vllm.log"
    with log.open("wb") as file:
        file.seek(1 << 40)  # a hole, which takes no room on disk
        file.write(b"\nINFO: \xff ready\nKilled\n")
    assert end_of(log) == "... INFO: \ufffd ready\nKilled"
    log.write_text("short")
    assert end_of(log) == "short"
    assert end_of(tmp_path / "none.log") == ""


def test_a_server_that_dies_while_it_is_asked_loses_the_model_with_the_end_of_its_log(
    opened: Opened,
) -> None:
    async def until_it_dies(provider: Provider) -> list[Any]:
        first = await asked(provider)
        both = await asyncio.gather(asked(provider), asked(provider), return_exceptions=True)
        return [first, *both, *await asyncio.gather(asked(provider), return_exceptions=True)]

    first, *others = opened.do(until_it_dies, serve="--die-at 2")
    assert first.text == "hello"
    failures = [one for one in others if isinstance(one, ProviderError)]
    assert {(one.reach, one.cause) for one in failures} == {("model", "server")}
    assert "ended with code 1" in str(failures[-1])
    assert str(failures[-1]).endswith("CUDA out of memory")


def test_the_time_that_it_takes_to_start_is_not_a_requests_own(opened: Opened) -> None:
    spec = parse_spec(f"vllm/{MODEL},timeout=1", folder=opened.folder)

    async def through_a_gateway(provider: Provider) -> tuple[Reply, Sequence[FailedAttempt]]:
        gateway = Gateway.of(spec, provider, budget=Budget(), concurrency=4)
        return await gateway.ask(HELLO, Ticket(0))

    reply, failed = opened.do(through_a_gateway, ",timeout=1", serve="--load 1.2")
    assert (reply.text, tuple(failed)) == ("hello", ())
    assert reply.latency < 1.2


def test_one_that_does_not_heed_its_end_is_killed(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watcher, "GRACE", 0.2)
    opened.do(asked, serve="--stubborn")
    assert are_gone(opened.pids)


PARENT = """
import asyncio, signal, sys
from pathlib import Path
from pytest_llmeval.engine.specs import parse_spec
from pytest_llmeval.files import watcher
from pytest_llmeval.files.images import ImageFolder
from pytest_llmeval.providers.opening import open_provider

async def main():
    folder = Path(sys.argv[2])
    spec = parse_spec(sys.argv[1], folder=folder)
    provider = open_provider(spec, folder=folder, image_store=ImageFolder(folder))
    await provider.start()
    print("ready", flush=True)
    await asyncio.sleep(600)

# Whoever runs the tests in the background has Ctrl-C ignored, and this process would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
asyncio.run(main())
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_it_dies_with_its_parent_however_that_dies(opened: Opened, how: signal.Signals) -> None:
    spec = f"vllm/{MODEL},serve=--starts {opened.starts}"
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, spec, str(opened.folder)],
        env={**os.environ, **opened.environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"ready\n"
        (server,) = opened.pids
        os.kill(server, 0)
        parent.send_signal(how)
    assert are_gone([server])


def test_a_missing_program_is_told_before_anything_is_paid(tmp_path: Path) -> None:
    spec = parse_spec(f"vllm/{MODEL}", folder=tmp_path)
    with pytest.raises(UsageError, match=r"no program `vllm` on the PATH; install it .*base_url="):
        check_provider(spec, folder=tmp_path, environ={"PATH": str(tmp_path)})


@pytest.mark.parametrize(
    ("serve", "told"),
    [
        ("--port 80", "serve names --port, which the run sets itself"),
        ("--api_key=x", "serve names --api-key, which the run sets itself"),
        ("--max-model-len '80", "no closing quotation"),
    ],
)
def test_arguments_that_are_the_runs_own_are_told_before_anything_is_paid(
    tmp_path: Path, environ: dict[str, str], serve: str, told: str
) -> None:
    spec = parse_spec(f"vllm/{MODEL},serve={serve}", folder=tmp_path)
    with pytest.raises(UsageError, match=told):
        check_provider(spec, folder=tmp_path, environ=environ)


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("vllm/m,base_url=http://h/v1", "openai/NAME,base_url=... asks one that runs"),
        ("vllm/m,key=VLLM_API_KEY", "vllm/ models take no key"),
        ("openai/m,serve=--dtype half", "serve is for vllm/ models"),
        ("openai/m,startup=60", "startup is for vllm/ models"),
        ("vllm/m,startup=-1", "expected a number above 0"),
    ],
)
def test_settings_of_another_provider_are_refused(tmp_path: Path, spec: str, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_spec(spec, folder=tmp_path)
    assert told in str(caught.value)


def test_the_models_of_all_roles_share_a_server_or_are_refused(tmp_path: Path) -> None:
    served = "vllm/m,serve=--max-model-len 8192"
    texts = [served, f"{served},temperature=0", f"{served},vision=off,startup=60"]
    specs = parse_specs(texts, folder=tmp_path)
    assert len({spec.bare for spec in specs}) == 1
    assert {spec.startup for spec in specs} == {60}
    with pytest.raises(UsageError, match="one server is started for a model"):
        share_limits([*specs, parse_spec("vllm/m", folder=tmp_path)])


def test_a_stored_reply_is_known_by_model_and_arguments_and_by_no_address(tmp_path: Path) -> None:
    routes = {
        text: parse_spec(text, folder=tmp_path).route
        for text in ("vllm/m", "vllm/m,startup=60,vision=off", "vllm/m,serve=--quantization fp8")
    }
    assert [*routes.values()] == ["", "", ",serve=--quantization fp8"]


def test_the_stand_in_is_asked_by_chat_completions_with_the_run_s_own_key(opened: Opened) -> None:
    reply = opened.do(asked)
    assert reply.model == MODEL
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (3, 2)
    assert reply.usage.cost is None
    assert json.dumps(reply.to_json()).count("Bearer") == 0
