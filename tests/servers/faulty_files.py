"""A server of files that answers with faults, as poor networks and mirrors do."""

from __future__ import annotations

import re
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

FAULTS = (
    "drop",  # half of what was asked for, then the connection ends
    "drop at once",  # no answer at all
    "wrong",  # other bytes of the right number
    "ignores range",  # the whole file, whatever was asked for
    "longer",  # more bytes than the file has
    "another range",  # says 206 for another place than was asked for
    "trickle",  # a byte now and then
    "429",
    "500",
    "503",
)
"""Faults that another try may mend."""

TRICKLE_SECONDS = 0.02


@dataclass
class FaultyFiles:
    """The files, and for each path the faults of its first requests; `requests` are all of them.

    A request is noted by its path and the header Range, "" if it had none.
    """

    files: Mapping[str, bytes]
    faults: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    requests: list[tuple[str, str]] = field(default_factory=list)
    url: str = ""
    at_once: int = 0
    most_at_once: int = 0


class _Handler(BaseHTTPRequestHandler):
    """Answers by the `FaultyFiles` of its server."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        served: FaultyFiles = self.server.served  # type: ignore[attr-defined]  # set below
        path = self.path.lstrip("/")
        asked = self.headers.get("Range", "")
        served.requests.append((path, asked))
        faults = served.faults[path]
        fault = faults.pop(0) if faults else ""
        served.at_once += 1
        served.most_at_once = max(served.most_at_once, served.at_once)
        with suppress(ConnectionError):
            self._answer(served.files.get(path), asked, fault)
        served.at_once -= 1

    def _answer(self, data: bytes | None, asked: str, fault: str) -> None:
        if fault == "drop at once":
            self.close_connection = True
            return
        if fault.isdigit() or data is None:
            self._send(int(fault or 404), b"", {"Retry-After": "0"} if fault == "429" else {})
            return
        start = int(match[1]) if (match := re.fullmatch(r"bytes=(\d+)-", asked)) else 0
        if fault == "ignores range":
            start = 0
        if start > len(data):
            self._send(416, b"", {})
            return
        said = start + 7 if fault == "another range" else start
        body = data[start:]
        if fault == "wrong":
            body = bytes(byte ^ 1 for byte in body)
        if fault == "longer":
            body += b"and more"
        headers = {"Content-Range": f"bytes {said}-{len(data) - 1}/{len(data)}"}
        self._send(206 if start else 200, body, headers if start else {}, fault)

    def _send(self, status: int, body: bytes, headers: Mapping[str, str], fault: str = "") -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        for part in parts(body, fault):
            self.wfile.write(part)
            self.wfile.flush()
            if fault == "trickle":
                time.sleep(TRICKLE_SECONDS)
        self.close_connection = self.close_connection or fault == "drop"

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def faulty_files(files: Mapping[str, bytes]) -> Iterator[FaultyFiles]:
    """Serve files, by their paths under the root, on loopback."""
    served = FaultyFiles(files)

    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.served = served  # type: ignore[attr-defined]  # the handler reads it
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    served.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield served
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def parts(body: bytes, fault: str) -> Sequence[bytes]:
    if fault == "drop":
        return [body[: len(body) // 2]]
    if fault == "trickle":
        return [body[place : place + 1] for place in range(len(body))]
    return [body]
