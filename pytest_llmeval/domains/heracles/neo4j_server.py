"""The child process that serves a Neo4j of our own; run as a script (see `server_child`).

The request holds ``{folder, password, heap, jvm, jars}``: `password` of the user `neo4j`, `jvm` the
library of the Java machine, `jars` the class path.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from pytest_llmeval.domains.heracles.server_child import Started, serve

DATABASE: Final = "neo4j"
USER: Final = "neo4j"

# Port 0 is one of the system's choice. A model's query brings a shorter time limit of its own; the
# one here holds for what loads the scene, too.
SETTINGS: Final = """\
server.bolt.enabled=true
server.bolt.listen_address=127.0.0.1:0
server.http.enabled=false
server.https.enabled=false
dbms.security.auth_enabled=true
dbms.usage_report.enabled=false
dbms.security.allow_csv_import_from_file_urls=false
db.transaction.timeout=60s
db.memory.transaction.max=64m
db.tx_log.preallocate=false
server.memory.pagecache.size=64m
"""

_OPENED = ("java.nio", "java.io", "sun.nio.ch")
_OPTIONS = (
    # Without the optimizing compiler the server starts in 8 CPU seconds instead of 15.
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-XX:+ExitOnOutOfMemoryError",
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED),
)


def start(folder: Path, request: dict[str, Any]) -> Started:
    """Start the server on loopback, and give its user the password."""
    import jpype  # noqa: PLC0415 - the parent reads this module without it

    temporary, settings = folder / "tmp", folder / "neo4j.conf"
    temporary.mkdir()
    settings.write_text(SETTINGS)
    jpype.startJVM(
        request["jvm"],
        f"-Xmx{request['heap']}",
        f"-Djava.io.tmpdir={temporary}",  # where it unpacks libraries; removed with the rest
        *_OPTIONS,
        classpath=request["jars"],
        convertStrings=False,
    )
    path = jpype.JClass("java.nio.file.Path")
    builder = jpype.JClass("org.neo4j.dbms.api.DatabaseManagementServiceBuilder")
    home = path.of(str(folder / "home"))
    service = builder(home).loadPropertiesFromFile(path.of(str(settings))).build()
    system = service.database("system")
    # Asked inside the process, it needs no login, not even with the password that all know.
    system.executeTransactionally(
        f"ALTER USER {USER} SET PASSWORD $password CHANGE NOT REQUIRED",
        {"password": request["password"]},
    )
    parts = system.getDependencyResolver()
    ports = jpype.JClass("org.neo4j.configuration.connectors.ConnectorPortRegister")
    kinds = jpype.JClass("org.neo4j.configuration.connectors.ConnectorType")
    address = parts.resolveDependency(ports.class_).getLocalAddress(kinds.BOLT)

    def seal() -> None:
        """Make the database read-only: the edition has no users without the right to write."""
        settings = jpype.JClass("org.neo4j.configuration.GraphDatabaseSettings")
        config = parts.resolveDependency(jpype.JClass("org.neo4j.configuration.Config").class_)
        only = jpype.JClass("java.util.Set").of(DATABASE)
        config.setDynamic(settings.read_only_databases, only, "pytest-llmeval")

    return Started(port=int(address.getPort()), seal=seal)


if __name__ == "__main__":
    serve(start)
