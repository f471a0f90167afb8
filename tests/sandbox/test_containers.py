"""Containers: what engines are told, and what is told where they cannot be had."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from pytest_llmeval.errors import ToolError, UsageError
from pytest_llmeval.sandbox.choice import find_isolation
from pytest_llmeval.sandbox.containers import ENGINES, Container
from pytest_llmeval.sandbox.limits import Limits
from pytest_llmeval.sandbox.run import run_program

# Notes how it was called; an image named "here" is there; a container runs until it is removed.
STAND_IN = """#!/bin/sh
printf '%s\\n' "$*" >> "$(dirname "$0")/calls"
case "$1 $4" in
  "image "*) case "$3" in
      here) exit 0;;
      away) echo "Cannot connect to the Docker daemon. Is the docker daemon running?" >&2;;
      *) echo "Error: $3: image not known" >&2;;
    esac; exit 125;;
  "run "*) echo sealed; exec sleep 600;;
esac
"""


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return an engine whose command is a stand-in."""
    file = tmp_path / str(request.param)
    file.write_text(STAND_IN)
    file.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    return str(request.param)


@pytest.mark.parametrize(
    ("image", "told"),
    [
        ("absent", "has no image 'absent', and a run pulls none; first: {engine} pull absent"),
        ("away", "{engine} does not work: Cannot connect to the Docker daemon"),
    ],
)
def test_what_is_missing_is_told_with_the_fix_and_nothing_is_pulled(
    engine: str, image: str, told: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as raised:
        asyncio.run(find_isolation(f"{engine}:{image}"))
    assert told.format(engine=engine) in str(raised.value)
    calls = (tmp_path / "calls").read_text().splitlines()
    assert calls == [f"image inspect {image}"]


def test_an_engine_that_is_not_installed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UsageError, match="there is no command 'podman'; install it"):
        asyncio.run(find_isolation("podman:here"))


def test_a_container_has_all_limits_and_nothing_of_ours(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://user:password@127.0.0.1:1")
    limits = Limits(memory_mb=100, scratch_mb=8)
    container = Container(engine="podman", image="here")
    command = container.command(["-c", "pass"], readable=[str(tmp_path)], limits=limits)
    assert command[-3:] == ["here", "-c", "pass"]
    text = " ".join(command)
    for part in (
        "--rm --interactive --pull never",
        f"--name {container.name}",
        "--network none --ipc none --read-only --read-only-tmpfs=false --cap-drop ALL",
        "--security-opt no-new-privileges",
        "--user 65534:65534",
        "--memory 208m --memory-swap 208m --pids-limit 256",
        "tmpfs-mode=1777,tmpfs-size=8388608",
        f"type=bind,source={tmp_path},destination={tmp_path},readonly",
        "--env HTTPS_PROXY= ",
    ):
        assert part in text
    assert "password" not in text
    assert text.count("type=bind") == text.count(",readonly") == 2


def test_each_container_has_a_name_of_its_own() -> None:
    assert len({Container(engine="docker", image="here").name for _ in range(100)}) == 100


def removed(folder: Path) -> tuple[set[str], set[str]]:
    """Return the names of the containers that were started, and of those that were removed."""
    calls = [line.split() for line in (folder / "calls").read_text().splitlines()]
    started = {call[call.index("--name") + 1] for call in calls if call[0] == "run"}
    return started, {call[-1] for call in calls if call[0] == "rm"}


def test_a_container_is_removed_when_its_call_is_cancelled(engine: str, tmp_path: Path) -> None:
    async def cancelled() -> None:
        call = run_program("pass", isolation=f"{engine}:here")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(call, timeout=0.5)

    asyncio.run(cancelled())
    started, gone = removed(tmp_path)
    assert len(started) == 1
    assert started == gone


def test_a_container_that_writes_too_much_is_removed(engine: str, tmp_path: Path) -> None:
    loud = STAND_IN.replace("exec sleep 600", "yes & exec sleep 600")
    (tmp_path / engine).write_text(loud)
    ended = asyncio.run(
        run_program("pass", isolation=f"{engine}:here", limits=Limits(output_bytes=10))
    )
    assert ended.problem == "it wrote more than 10 bytes"
    started, gone = removed(tmp_path)
    assert started == gone


def test_a_container_that_does_not_start_is_an_error_of_the_sandbox(
    engine: str, tmp_path: Path
) -> None:
    (tmp_path / engine).write_text("#!/bin/sh\necho 'no space left' >&2\nexit 125\n")
    with pytest.raises(ToolError, match="could not be set up: no space left"):
        asyncio.run(run_program("pass", isolation=f"{engine}:here"))


def test_the_settings_of_a_container_hold_its_wall_time(engine: str, tmp_path: Path) -> None:
    (tmp_path / engine).write_text(STAND_IN.replace("exec sleep 600", "exit 142"))
    ended = asyncio.run(
        run_program("pass", isolation=f"{engine}:here", limits=Limits(wall_seconds=7))
    )
    assert ended.problem == "it did not end within 7 s"
    call = (tmp_path / "calls").read_text()
    settings = json.loads(call[call.index("{") : call.rindex("}") + 1])
    assert settings["wall_seconds"] == 7
    assert settings["isolation"] == "container"
