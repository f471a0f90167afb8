"""The sandbox: what a program may do, what is told of its end, and which isolation is chosen."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, ClassVar

import pytest
from sandboxes import ISOLATIONS, require

from pytest_llmeval.errors import ToolError, UsageError
from pytest_llmeval.sandbox import choice, run
from pytest_llmeval.sandbox.choice import find_isolation, present_isolations
from pytest_llmeval.sandbox.containers import Container
from pytest_llmeval.sandbox.isolation import Isolation, parse_isolation
from pytest_llmeval.sandbox.limits import Limits
from pytest_llmeval.sandbox.run import Run, run_program
from pytest_llmeval.sandbox.sandbox import open_sandbox

ROOT = Path(__file__).parents[2]
ALL = [*ISOLATIONS, "limits"]


def ran(program: str, isolation: Isolation, **more: Any) -> Run:
    require(isolation)
    return asyncio.run(run_program(program, isolation=isolation, **more))


@pytest.mark.parametrize("isolation", ALL)
def test_a_program_computes_writes_scratch_files_and_uses_installed_libraries(
    isolation: Isolation,
) -> None:
    # An image has its own libraries.
    program = """
import json, tempfile, threading
open("note", "w").write("x")
with tempfile.TemporaryFile() as file: file.write(b"x")
thread = threading.Thread(target=print, args=("thread",)); thread.start(); thread.join()
print(json.dumps({"sum": SUM, "note": open("note").read()}))
"""
    installed = "int(__import__('numpy').arange(4).sum())"
    program = program.replace("SUM", "6" if Container.of(isolation) else installed)
    ended = ran(program, isolation)
    assert (ended.output, ended.problem) == ('thread\n{"sum": 6, "note": "x"}\n', None)


@pytest.mark.parametrize("isolation", ALL)
def test_a_file_that_is_named_can_be_read_and_not_written(
    isolation: Isolation, tmp_path: Path
) -> None:
    file = tmp_path / "data.txt"
    file.write_text("data")
    program = f"""
print(open({str(file)!r}).read())
try: open({str(file)!r}, "w")
except OSError: print("refused")
"""
    ended = ran(program, isolation, readable=[file])
    if isolation == "limits":
        assert ended.output.startswith("data\n")
    else:
        assert ended.output == "data\nrefused\n"
        assert file.read_text() == "data"


@pytest.mark.parametrize("isolation", ALL)
def test_no_variable_of_ours_is_in_its_environment(
    isolation: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANY_NAME", "any value")
    monkeypatch.setenv("HTTPS_PROXY", "http://user:hidden-proxy@127.0.0.1:1")
    names = ran("import os; print(*sorted(os.environ))", isolation).output.split()
    assert "ANY_NAME" not in names
    ours = {"HOME", "TMPDIR", "LANG", "PYTHONPATH", "PYTHONHASHSEED"}
    blas = {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"}
    of_engines = {"PATH", "TERM", "HOSTNAME", "container"}
    proxies = {name for name in names if name.upper().endswith("_PROXY")}
    more = of_engines | proxies if Container.of(isolation) else {"LD_LIBRARY_PATH"}
    assert set(names) <= ours | blas | more | {"PWD", "LC_CTYPE"}
    assert "hidden-proxy" not in ran("import os; print(os.environ)", isolation).output


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_the_same_program_has_the_same_output_each_time(isolation: Isolation) -> None:
    program = "print({'a', 'b', 'c', 'd', 'e'}, hash('text'))"
    assert len({ran(program, isolation).output for _ in range(2)}) == 1


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_runs_do_not_see_each_others_files(isolation: Isolation) -> None:
    ran("open('left', 'w').write('x')", isolation)
    assert ran("import os; print(os.listdir('.'))", isolation).output == "[]\n"


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        ("import time; time.sleep(60)", "it did not end within 0.8 s"),
        ("while True: print('x' * 1000)", "it wrote more than 10000 bytes"),
        ("raise SystemExit(3)", "it ended with status 3"),
        ("import os, signal; signal.raise_signal(11)", "it crashed (segmentation fault)"),
    ],
)
@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_why_a_program_ended_is_told(program: str, problem: str, isolation: Isolation) -> None:
    limits = Limits(wall_seconds=0.8 if "sleep" in program else 30, output_bytes=10_000)
    ended = ran(program, isolation, limits=limits)
    assert ended.problem == problem
    assert len(ended.output) <= limits.output_bytes


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_what_a_cancelled_call_ran_is_killed(isolation: Isolation) -> None:
    require(isolation)
    mark = f"llmeval-cancelled-program-{os.getpid()}"

    async def cancelled() -> None:
        call = run_program("while True: pass", isolation=isolation, arguments=[mark])
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(call, timeout=0.7)

    asyncio.run(cancelled())
    assert marked(mark) == 0


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_a_program_dies_with_a_parent_that_is_killed(isolation: Isolation, tmp_path: Path) -> None:
    require(isolation)
    mark = f"llmeval-orphaned-program-{os.getpid()}"
    # A container belongs to its engine: it ends by its own clock.
    wall_seconds = 6 if Container.of(isolation) else 60
    code = (
        "import asyncio; from pytest_llmeval.sandbox.run import Limits, run_program; "
        f"asyncio.run(run_program('while True: pass', isolation='{isolation}', "
        f"arguments=['{mark}'], limits=Limits(wall_seconds={wall_seconds})))"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}  # its scratch folder stays
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, env=environment) as parent:
        until(lambda: marked(mark) > int(isolation == "bwrap"))
        parent.send_signal(signal.SIGKILL)
    until(lambda: marked(mark) == 0)


def until(done: Any) -> None:
    deadline = time.monotonic() + 60
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def marked(mark: str) -> int:
    """Return the number of processes with a mark among their arguments."""
    number = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            arguments = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        number += mark.encode() in arguments
    return number


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a program widen its pipes")
def test_no_pipe_of_a_program_that_was_ended_stays_open() -> None:
    # In a wide pipe more is left at its end than a reader takes that has had enough.
    flood = """
import fcntl, os
fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, 1 << 20)
while True: os.write(1, b"x" * (1 << 20))
"""
    ended = ran(flood, "limits", limits=Limits(output_bytes=1, wall_seconds=5))
    assert ended.problem == "it wrote more than 1 bytes"
    assert ended.seconds < 5
    gc.collect()  # a pipe that is still open gives a ResourceWarning, which fails the test


def test_many_programs_at_once_each_get_their_own_output() -> None:
    (isolation, *_) = present_isolations() or ("limits",)

    async def together() -> list[Run]:
        return await asyncio.gather(
            *(run_program(f"print({number})", isolation=isolation) for number in range(8))
        )

    assert [one.output for one in asyncio.run(together())] == [f"{n}\n" for n in range(8)]


@pytest.mark.parametrize("name", ["wall_seconds", "memory_mb", "open_files"])
def test_a_limit_of_nothing_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} is 0; a limit is a number above 0"):
        Limits(**{name: 0})


def test_an_unknown_isolation_is_told_with_the_known_ones() -> None:
    assert parse_isolation(None) is None
    assert parse_isolation("landlock") == "landlock"
    assert parse_isolation("podman:mine:2") == "podman:mine:2"
    own = f"docker.io/library/python:{sys.version_info.major}.{sys.version_info.minor}-slim"
    assert parse_isolation("docker") == f"docker:{own}"
    with pytest.raises(UsageError, match="'jail'; expected one of bwrap, landlock, limits, docker"):
        parse_isolation("jail")


@pytest.mark.parametrize("isolation", ALL)
def test_an_isolation_that_works_is_found(isolation: Isolation) -> None:
    require(isolation)
    assert asyncio.run(find_isolation(isolation)) == isolation


def test_without_a_choice_limits_alone_are_never_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "present_isolations", tuple)
    with pytest.raises(UsageError, match="neither bubblewrap nor Landlock") as raised:
        asyncio.run(find_isolation(None))
    assert "apt-get install bubblewrap" in str(raised.value)
    assert "--llmeval-sandbox limits" in str(raised.value)


@pytest.mark.skipif(sys.platform != "linux", reason="its parts are of Linux")
def test_a_bubblewrap_that_the_kernel_refuses_gives_way_to_landlock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require("landlock")
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'No permissions to create a new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert asyncio.run(find_isolation(None)) == "landlock"
    with pytest.raises(UsageError, match="No permissions to create a new namespace"):
        asyncio.run(find_isolation("bwrap"))


def test_an_interpreter_that_does_not_start_is_an_error_of_the_tool(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run, "python", lambda: "/nowhere/python")
    with pytest.raises(ToolError, match="could not be started"):
        asyncio.run(run_program("", isolation="limits"))


def test_a_run_has_one_sandbox_with_as_many_programs_at_a_time_as_processors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    (isolation, *_) = present_isolations() or ("limits",)
    program = "import time; print(time.monotonic()); time.sleep(0.1); print(time.monotonic())"

    class Host:
        shares: ClassVar[dict[str, asyncio.Task[Any]]] = {}

        async def shared(self, key: str, start: Any) -> Any:
            self.shares.setdefault(key, asyncio.ensure_future(start()))
            return await self.shares[key]

        def setting(self, name: str) -> str | None:
            return {"sandbox": isolation}.get(name)

    async def together() -> list[Run]:
        boxes = [await open_sandbox(Host()) for _ in range(3)]
        assert len(set(boxes)) == 1
        return await asyncio.gather(*(box.run(program) for box in boxes * 2))

    times = [tuple(map(float, run.output.split())) for run in asyncio.run(together())]
    at_once = [sum(start <= moment < end for start, end in times) for moment, _ in times]
    assert max(at_once) <= 2
