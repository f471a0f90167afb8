"""The child process that serves an embedded ArcadeDB; run as a script (see `server_child`).

The request holds ``{folder, seconds, root, reader, heap}``: `seconds` is the time limit of one
query, `root` and `reader` are passwords.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pytest_llmeval.domains.heracles.server_child import Started, serve

DATABASE = "scene"
READER = "reader"

# Without its optimizing compiler the JVM starts in 3.0 instead of 5.0 CPU seconds, and loads
# 500,000 nodes and relationships as fast (40 against 38 CPU seconds).
_QUICK_START = ("-XX:TieredStopAtLevel=1",)

# The group of the reader: records can be read, nothing else. `root` keeps the server's own group.
_GROUPS = {
    "databases": {
        "*": {
            "groups": {
                "admin": {
                    "resultSetLimit": -1,
                    "readTimeout": -1,
                    "access": ["updateSecurity", "updateSchema", "updateDatabaseSettings"],
                    "types": {
                        "*": {
                            "access": ["createRecord", "readRecord", "updateRecord", "deleteRecord"]
                        }
                    },
                },
                "reader": {
                    "resultSetLimit": -1,
                    "readTimeout": -1,
                    "access": [],
                    "types": {"*": {"access": ["readRecord"]}},
                },
                "*": {
                    "resultSetLimit": -1,
                    "readTimeout": -1,
                    "access": [],
                    "types": {"*": {"access": []}},
                },
            }
        }
    },
    "version": 2,
}


_running: list[Any] = []
"""Keeps the server, which stops when its wrapper is collected."""


def start(folder: Path, request: dict[str, Any]) -> Started:
    """Start the server, on loopback and on ports of the system's choice."""
    (folder / "config").mkdir()
    (folder / "config" / "server-groups.json").write_text(json.dumps(_GROUPS))
    import arcadedb_embedded  # noqa: PLC0415 - starts nothing before the folder is ready
    import jpype  # noqa: PLC0415 - comes with arcadedb_embedded
    from arcadedb_embedded.jvm import start_jvm  # noqa: PLC0415 - as above

    # Without the exit, each OutOfMemoryError costs one of the server's few query slots for good.
    start_jvm(
        heap_size=request["heap"],
        jvm_args=["-XX:+ExitOnOutOfMemoryError", "-XX:+UseSerialGC", *_QUICK_START],
    )
    settings = jpype.JClass("com.arcadedb.GlobalConfiguration")
    # The configuration given to create_server does not reach this one.
    settings.COMMAND_TIMEOUT.setValue(int(request["seconds"] * 1000))
    server = arcadedb_embedded.create_server(
        str(folder),
        root_password=request["root"],
        config={
            "host": "127.0.0.1",
            "http_port": "0",
            "bolt_port": "0",
            "bolt_host": "127.0.0.1",
            "server_plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
            "queryMaxConcurrent": "0",
            # The driver takes fifteen seconds to read a row of ten million numbers.
            "queryMaxRangeSize": "1000000",
            "opencypher_loadCsv_allowFileUrls": "false",
            "opencypher_loadCsv_allowRemoteUrls": "false",
        },
    )
    server.start()
    server.create_database(DATABASE)
    _add_reader(_java_server(server).getSecurity(), request["reader"])
    _running.append(server)
    # Nothing is left to seal: the reader has no right to write.
    return Started(port=_bolt_port(server), seal=lambda: None)


def _java_server(server: Any) -> Any:  # noqa: ANN401 - a Java object
    return server._java_server  # noqa: SLF001 - the binding itself offers neither users nor plugins


def _add_reader(security: Any, password: str) -> None:  # noqa: ANN401 - a Java object
    import jpype  # noqa: PLC0415 - as in `start`

    user = {
        "name": READER,
        "password": str(security.encodePassword(password)),
        "databases": {DATABASE: [READER]},
    }
    security.createUser(jpype.JClass("com.arcadedb.serializer.json.JSONObject")(json.dumps(user)))


def _bolt_port(server: Any) -> int:  # noqa: ANN401 - the binding has no types
    plugins = _java_server(server).getPlugins()
    return next(
        int(plugin.getPort())
        for plugin in plugins
        if plugin.getClass().getSimpleName() == "BoltProtocolPlugin"
    )


if __name__ == "__main__":
    serve(start)
