"""A real Neo4j for the tests, from Maven's jars; it ends when its standard input closes."""

from __future__ import annotations

import fcntl
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import neo4j
import pytest

from pytest_llmeval.domains.heracles.bolt import Login

SOURCES = Path(__file__).with_name("neo4j_server")
JARS = Path(__file__).with_name(".cache") / "neo4j-5.26.16"
PASSWORD = "a password for tests"  # noqa: S105 - of a server on loopback, for one session
FETCH_SECONDS = 600

SETTINGS = """\
server.bolt.enabled=true
server.bolt.listen_address=127.0.0.1:{port}
server.http.enabled=false
server.https.enabled=false
dbms.security.auth_enabled=true
dbms.usage_report.enabled=false
dbms.security.allow_csv_import_from_file_urls=false
db.transaction.timeout=10s
db.memory.transaction.max=64m
db.tx_log.preallocate=false
server.memory.pagecache.size=64m
"""


class Unavailable(Exception):  # noqa: N818 - a reason to skip, not a fault
    """This machine cannot run a Neo4j."""


class Neo4jProcess:
    """A running server, and the login to it."""

    def __init__(self) -> None:
        """Fetch the jars if need be, start the server and set its password.

        Raises:
            Unavailable: a tool is missing.
        """
        for tool in ("java", "mvn"):
            if shutil.which(tool) is None:
                msg = f"{tool} is not installed"
                raise Unavailable(msg)
        self._folder = Path(tempfile.mkdtemp(prefix="llmeval-neo4j-"))
        port = _free_port()
        (self._folder / "neo4j.conf").write_text(SETTINGS.format(port=port))
        self._process = self._launch(_jars())
        self.login = self.login_at(f"bolt://127.0.0.1:{port}")
        try:
            self._make_ready()
        except BaseException:
            self.stop()
            raise

    @staticmethod
    def login_at(uri: str) -> Login:
        """Return the login to a server of this kind."""
        return Login(uri=uri, username="neo4j", password=PASSWORD)

    def stop(self) -> None:
        """End the server at once, for nobody misses its data, and remove that."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _make_ready(self) -> None:
        assert self._process.stdout is not None
        if self._process.stdout.readline().strip() != b"READY":
            log = (self._folder / "server.log").read_text(errors="replace")[-2000:]
            pytest.fail(f"Neo4j did not start: {log}")
        with neo4j.GraphDatabase.driver(self.login.uri, auth=("neo4j", "neo4j")) as driver:
            change = "ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO $password"
            driver.execute_query(change, password=PASSWORD, database_="system")

    def _launch(self, jars: Path) -> subprocess.Popen[bytes]:
        opened = ("java.nio", "java.io", "sun.nio.ch")
        with (self._folder / "server.log").open("wb") as log:
            return subprocess.Popen(
                [
                    "java",
                    "-Xmx512m",
                    # Without the optimizing compiler it starts in 8 CPU seconds, not 15.
                    "-XX:TieredStopAtLevel=1",
                    "-XX:+UseSerialGC",
                    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in opened),
                    "-cp",
                    f"{jars}/*",
                    str(SOURCES / "Neo4jServer.java"),
                    str(self._folder / "home"),
                    str(self._folder / "neo4j.conf"),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )


def _jars() -> Path:
    """Return the folder of jars, fetched on first use, by one process while others wait."""
    JARS.parent.mkdir(exist_ok=True)
    with JARS.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not JARS.is_dir():
            _fetch()
    return JARS


def _fetch() -> None:
    fetched = Path(tempfile.mkdtemp(dir=JARS.parent))
    copy = [
        "dependency:copy-dependencies",
        "-DincludeScope=runtime",
        f"-DoutputDirectory={fetched}",
    ]
    done = subprocess.run(
        ["mvn", "-B", "-q", "-f", str(SOURCES / "pom.xml"), *copy],
        capture_output=True,
        text=True,
        timeout=FETCH_SECONDS,
        check=False,
    )
    if done.returncode:
        shutil.rmtree(fetched)
        msg = f"mvn could not fetch Neo4j: {done.stdout[-500:]}{done.stderr[-500:]}"
        raise Unavailable(msg)
    fetched.rename(JARS)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
