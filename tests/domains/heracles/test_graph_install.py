"""`llmeval graph install`: every jar whole and checked, or nothing, whatever the network does."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import filelock
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from servers.faulty_files import FAULTS, FaultyFiles, faulty_files

from pytest_llmeval.commands.main import main
from pytest_llmeval.domains.heracles import graph_command
from pytest_llmeval.domains.heracles.neo4j_jars import installed
from pytest_llmeval.domains.heracles.neo4j_jars.fetching import PARTIAL, Patience
from pytest_llmeval.domains.heracles.neo4j_jars.install import Progress, install
from pytest_llmeval.domains.heracles.neo4j_jars.installed import (
    INSTALLING,
    RUNNING,
    damaged,
    missing,
)
from pytest_llmeval.domains.heracles.neo4j_jars.locked import Jar, locked_jars
from pytest_llmeval.errors import UsageError

PATIENCE = Patience(tries=4, least=64, stall=0.25, wait=0.001, longest_wait=0.01)
SIZES = (1, 40, 300, 5_000, 200_000)


def content(size: int) -> bytes:
    return Random(size).randbytes(size)


FILES = {f"org/one/{size}/one-{size}.jar": content(size) for size in SIZES}
JARS = tuple(
    Jar(path=path, size=len(data), sha256=hashlib.sha256(data).hexdigest())
    for path, data in FILES.items()
)
BIG = JARS[-1]


@dataclass
class Told:
    """What a progress was told."""

    lines: list[str] = field(default_factory=list)
    totals: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)

    @property
    def progress(self) -> Progress:
        return Progress(
            tell=self.lines.append, begin=self.totals.append, fetched=self.counts.append
        )


@pytest.fixture
def mirror() -> Iterator[FaultyFiles]:
    with faulty_files(FILES) as served:
        yield served


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "neo4j"


def install_from(url: str, folder: Path, told: Told | None = None) -> bool:
    progress = (told or Told()).progress
    return install(JARS, folder, url=url, jars=None, progress=progress, patience=PATIENCE)


def held(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


WHOLE = {Path(path).name: data for path, data in FILES.items()}


def test_a_first_installation_fetches_everything_once_and_a_second_one_nothing(
    mirror: FaultyFiles, folder: Path
) -> None:
    told = Told()
    assert install_from(mirror.url, folder, told)
    assert held(folder) == WHOLE
    assert sorted(mirror.requests) == sorted((path, "") for path in FILES)
    assert told.totals == [sum(SIZES)] == [sum(told.counts)]
    assert not install_from(mirror.url, folder)
    assert len(mirror.requests) == len(FILES)
    assert sorted(file.name for file in folder.parent.iterdir()) == ["neo4j", "neo4j.lock"]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_that_passes_is_outlasted(mirror: FaultyFiles, folder: Path, fault: str) -> None:
    told = Told()
    for path in FILES:
        mirror.faults[path] = ["drop", fault]
    assert install_from(mirror.url, folder, told)
    assert held(folder) == WHOLE
    assert sum(told.counts) == sum(SIZES)


@pytest.mark.parametrize("fault", ["drop at once", "wrong", "429", "500", "503"])
def test_a_fault_that_stays_is_told_with_the_address_and_nothing_counts_as_installed(
    mirror: FaultyFiles, folder: Path, fault: str
) -> None:
    mirror.faults[BIG.path] = [fault] * 100
    with pytest.raises(UsageError, match=rf"^{mirror.url}/{BIG.path}: .*, 4 times$"):
        install_from(mirror.url, folder)
    assert not folder.exists()


def test_a_file_that_is_not_there_is_told_at_once(mirror: FaultyFiles, folder: Path) -> None:
    mirror.faults[BIG.path] = ["404"]
    with pytest.raises(UsageError, match=rf"{BIG.path}: HTTP 404 .*is it a Maven repository"):
        install_from(mirror.url, folder)
    assert [path for path, _ in mirror.requests].count(BIG.path) == 1
    assert not folder.exists()


def test_an_installation_goes_on_where_the_last_one_broke_off(
    mirror: FaultyFiles, folder: Path
) -> None:
    mirror.faults[BIG.path] = ["drop", "404"]
    with pytest.raises(UsageError, match="HTTP 404"):
        install_from(mirror.url, folder)
    mirror.requests.clear()
    assert install_from(mirror.url, folder)
    assert (BIG.path, f"bytes={BIG.size // 2}-") in mirror.requests
    assert all(path != BIG.path or asked for path, asked in mirror.requests)
    assert held(folder) == WHOLE


def test_a_stream_that_trickles_is_broken_off_and_continued(
    mirror: FaultyFiles, folder: Path
) -> None:
    mirror.faults[BIG.path] = ["trickle", "trickle"]
    assert install_from(mirror.url, folder)
    first, *others = [asked for path, asked in mirror.requests if path == BIG.path]
    assert first == ""
    assert len(others) == 2
    assert all(asked.startswith("bytes=") for asked in others)
    assert held(folder) == WHOLE


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    faults=st.fixed_dictionaries(
        {path: st.lists(st.sampled_from((*FAULTS[:6], "404", "503")), max_size=5) for path in FILES}
    ),
    seed=st.integers(0, 1 << 30),
)
def test_whatever_the_faults_all_is_installed_or_nothing_and_the_next_time_all(
    tmp_path: Path, faults: dict[str, list[str]], seed: int
) -> None:
    folder = tmp_path / str(seed) / "neo4j"
    with faulty_files(FILES) as mirror:
        mirror.faults.update({path: list(some) for path, some in faults.items()})
        try:
            install_from(mirror.url, folder)
        except UsageError:
            assert not folder.exists() or held(folder) == WHOLE
        mirror.faults.clear()
        install_from(mirror.url, folder)
    assert held(folder) == WHOLE


@pytest.mark.parametrize("damage", [b"", b"other bytes", b"\0" * BIG.size])
def test_a_damaged_installation_is_mended_by_the_one_file(
    mirror: FaultyFiles, folder: Path, damage: bytes
) -> None:
    install_from(mirror.url, folder)
    mirror.requests.clear()
    (folder / BIG.name).write_bytes(damage)
    assert damaged(folder, JARS) == [BIG]
    assert install_from(mirror.url, folder)
    assert mirror.requests == [(BIG.path, "")]
    assert held(folder) == WHOLE


def test_partial_bytes_of_another_file_are_found_out(mirror: FaultyFiles, folder: Path) -> None:
    gathered = folder.with_name(folder.name + PARTIAL)
    gathered.mkdir(parents=True)
    (gathered / (BIG.name + PARTIAL)).write_bytes(b"x" * 1_000)
    (gathered / JARS[2].name).write_bytes(b"y" * JARS[2].size)
    (gathered / (JARS[3].name + PARTIAL)).write_bytes(b"z" * (JARS[3].size + 1))
    assert install_from(mirror.url, folder)
    assert held(folder) == WHOLE


def test_nobody_listens(folder: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(UsageError, match=rf"{url}/org/one/.*4 times"):
        install_from(url, folder)


def test_several_files_come_at_a_time_and_never_more_than_eight(folder: Path) -> None:
    files = {f"a/{number}.jar": content(10) for number in range(24)}
    sha256 = hashlib.sha256(content(10)).hexdigest()
    jars = [Jar(path=path, size=10, sha256=sha256) for path in files]
    with faulty_files(files) as mirror:
        mirror.faults.update({path: ["trickle"] for path in files})
        install(jars, folder, url=mirror.url, jars=None, progress=Told().progress)
    assert 1 < mirror.most_at_once <= 8


def test_two_installations_wait_for_one_another(mirror: FaultyFiles, folder: Path) -> None:
    folder.parent.mkdir()
    other = filelock.FileLock(folder.with_name(folder.name + ".lock"))
    told = Told()
    with other.acquire():
        waiting = threading.Thread(target=install_from, args=(mirror.url, folder, told))
        waiting.start()
        waiting.join(0.3)
        assert waiting.is_alive()
        assert mirror.requests == []
    waiting.join()
    assert told.lines == [f"waiting for another installation into {folder}"]
    assert held(folder) == WHOLE


SLOW = """
import json, sys
from pathlib import Path
from pytest_llmeval.domains.heracles.neo4j_jars.install import Progress, install
from pytest_llmeval.domains.heracles.neo4j_jars.locked import Jar
def fetched(count):
    print(count, flush=True)
progress = Progress(tell=print, begin=print, fetched=fetched)
jars = [Jar(**one) for one in json.loads(sys.argv[1])]
install(jars, Path(sys.argv[2]), url=sys.argv[3], jars=None, progress=progress)
"""


def test_a_killed_installation_leaves_nothing_that_counts_and_the_next_one_goes_on(
    mirror: FaultyFiles, folder: Path
) -> None:
    mirror.faults[BIG.path] = ["trickle"]
    listed = json.dumps(
        [{"path": jar.path, "size": jar.size, "sha256": jar.sha256} for jar in JARS]
    )
    with subprocess.Popen(
        [sys.executable, "-c", SLOW, listed, str(folder), mirror.url],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    ) as child:
        assert child.stdout is not None
        for _ in range(len(FILES) + 1):
            child.stdout.readline()
        child.send_signal(signal.SIGKILL)
    assert not folder.exists()
    assert install_from(mirror.url, folder)
    assert held(folder) == WHOLE


def copy_from(source: Path, folder: Path) -> bool:
    return install(JARS, folder, url="", jars=source, progress=Told().progress)


def test_a_folder_of_jars_is_used_instead_of_the_net(tmp_path: Path, folder: Path) -> None:
    source = tmp_path / "given"
    for number, (name, data) in enumerate(WHOLE.items()):
        place = source / str(number % 2)
        place.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(data)
    (source / "more.jar").write_bytes(b"of something else")
    assert copy_from(source, folder)
    assert held(folder) == WHOLE
    assert not copy_from(source, folder)


def test_missing_and_wrong_jars_of_a_folder_are_named_and_nothing_is_installed(
    tmp_path: Path, folder: Path
) -> None:
    source = tmp_path / "given"
    source.mkdir()
    for name, data in list(WHOLE.items())[1:]:
        (source / name).write_bytes(data)
    (source / BIG.name).write_bytes(content(BIG.size - 1) + b"x")
    with pytest.raises(
        UsageError,
        match=r"of 5 jars, 1 are missing \(one-1.jar\) and 1 have other bytes .*\(one-200000.jar\)",
    ):
        copy_from(source, folder)
    assert not folder.exists()


def test_the_list_holds_the_server_and_no_file_twice() -> None:
    jars = locked_jars()
    assert "org/neo4j/neo4j/5.26.16/neo4j-5.26.16.jar" in {jar.path for jar in jars}
    assert len({jar.name for jar in jars}) == len({jar.path for jar in jars}) == len(jars) > 200
    assert all(len(jar.sha256) == 64 and jar.path.endswith(".jar") for jar in jars)
    assert not any(".." in jar.path or jar.path.startswith("/") for jar in jars)


class KilledError(BaseException):
    """Ends an installation at a place of the test's choice, as SIGKILL does."""


@pytest.mark.parametrize("renames", [1, 2])
def test_a_replacement_that_is_killed_at_its_end_leaves_nothing_after_the_next_installation(
    mirror: FaultyFiles, folder: Path, monkeypatch: pytest.MonkeyPatch, renames: int
) -> None:
    install_from(mirror.url, folder)
    (folder / BIG.name).write_bytes(b"damaged")
    rename, done = Path.rename, []

    def killed(self: Path, target: Path) -> Path:
        done.append(rename(self, target))
        if len(done) == renames:
            raise KilledError
        return done[-1]

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", killed)
        with pytest.raises(KilledError):
            install_from(mirror.url, folder)
    install_from(mirror.url, folder)
    assert sorted(file.name for file in folder.parent.iterdir()) == ["neo4j", "neo4j.lock"]
    assert held(folder) == WHOLE


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the command work on the small list, in a cache of the test's own."""
    monkeypatch.setenv(installed.FOLDER_VARIABLE, str(tmp_path / "cache"))
    for module in (graph_command, installed):
        monkeypatch.setattr(module, "locked_jars", lambda: JARS)
    return tmp_path / "cache"


def test_the_command_installs_from_a_mirror_and_tells_the_state(
    own_cache: Path,
    mirror: FaultyFiles,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert main(["graph", "status"]) == 1
    assert "5 of 5 jars are missing" in capsys.readouterr().out
    monkeypatch.setenv("LLMEVAL_MAVEN_MIRROR", mirror.url)
    assert main(["graph", "install"]) == 0
    assert f"is now installed in {own_cache}" in capsys.readouterr().out
    assert main(["graph", "install"]) == 0
    assert "was already installed" in capsys.readouterr().out
    assert main(["graph", "status"]) == 0
    (file,) = own_cache.rglob(BIG.name)
    file.write_bytes(b"x" * BIG.size)
    capsys.readouterr()
    assert main(["graph", "status"]) == 1
    assert "1 jars are damaged or cannot be read (one-200000.jar)" in capsys.readouterr().out


def forbid_reading(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Let nobody read the files of a name; permissions of a file do not bind root."""
    access, opened = os.access, os.open

    def denied(path: os.PathLike[str] | str, *arguments: int) -> bool:
        return Path(path).name != name and access(path, *arguments)

    def refused(path: os.PathLike[str] | str, flags: int, *arguments: int) -> int:
        if Path(path).name == name and not flags & os.O_CREAT:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return opened(path, flags, *arguments)

    monkeypatch.setattr(os, "access", denied)
    monkeypatch.setattr(os, "open", refused)


def test_a_jar_that_cannot_be_read_is_told_without_a_traceback_and_replaced(
    own_cache: Path,
    mirror: FaultyFiles,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LLMEVAL_MAVEN_MIRROR", mirror.url)
    assert main(["graph", "install"]) == 0
    with monkeypatch.context() as patched:
        forbid_reading(patched, BIG.name)
        assert missing() is not None
        assert damaged(installed.jars_folder(), JARS) == [BIG]
        capsys.readouterr()
        assert main(["graph", "status"]) == 1
        told = capsys.readouterr().out
        assert f"1 of 5 jars are missing or cannot be read in {own_cache}" in told


@pytest.mark.parametrize("module", INSTALLING)
def test_what_only_an_installation_needs_is_not_needed_to_run(
    own_cache: Path,
    mirror: FaultyFiles,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    module: str,
) -> None:
    assert main(["graph", "install", "--mirror", mirror.url]) == 0
    monkeypatch.setitem(sys.modules, module, None)  # as if it were absent
    assert missing() is None, own_cache
    assert main(["graph", "install", "--mirror", mirror.url]) == 2
    assert f"no Python module {module}; pip install '.[graph]'" in capsys.readouterr().err


@pytest.mark.parametrize("module", RUNNING)
def test_what_running_needs_is_told_by_its_name(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)  # as if it were absent
    assert main(["graph", "status"]) == 1
    assert f"no Python module {module}; pip install '.[graph]'" in capsys.readouterr().out
    assert main(["graph", "install"]) == 2


def test_an_unreachable_mirror_is_told_with_all_ways_out(
    own_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["graph", "install", "--mirror", "http://127.0.0.1:1/maven"]) == 2
    told = capsys.readouterr().err
    assert "Neo4j is not installed: http://127.0.0.1:1/maven/org/one/" in told
    for way in ("--mirror URL", "LLMEVAL_MAVEN_MIRROR", "--jars", "ArcadeDB"):
        assert way in told
    assert not list(own_cache.rglob("*.jar"))


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--mirror", "repo.example"], "expected the address of a Maven repository"),
        *(
            (["--mirror", url], f"--mirror {url!r}: expected the address")
            for url in ("https://", "https:///maven2", "http://repo.example:port", "http://[::1")
        ),
        (["--jars", "no/such/folder"], "--jars no/such/folder: no such folder"),
    ],
)
def test_a_wrong_option_is_told_with_its_value(
    own_cache: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], problem: str
) -> None:
    assert main(["graph", "install", *arguments]) == 2
    assert problem in capsys.readouterr().err
    assert not own_cache.exists()
