"""A server that speaks the Hugging Face hub's protocol, enough to download a dataset file."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@contextmanager
def hub(files: Mapping[str, bytes]) -> Iterator[str]:
    """Serve `files` and yield the address.

    Their keys are paths under the root, such as ``datasets/me/geometry/resolve/main/a.parquet``.
    Anything else is answered as the hub answers, by what is not there: repository, revision or
    file.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer()

        def do_GET(self) -> None:
            if (data := self._answer()) is not None:
                self.wfile.write(data)

        def _answer(self) -> bytes | None:
            data = files.get(self.path.lstrip("/"))
            self.send_response(200 if data is not None else 404)
            if data is None:
                self.send_header("X-Error-Code", self._lack())
            else:
                self.send_header("X-Repo-Commit", self._commit())
                self.send_header("ETag", f'"{hashlib.sha256(data).hexdigest()}"')
            self.send_header("Content-Length", str(len(data or b"")))
            self.end_headers()
            return data

        def _commit(self) -> str:
            revision = self.path.partition("/resolve/")[2].partition("/")[0]
            return revision if re.fullmatch("[0-9a-f]{40}", revision) else COMMIT

        def _lack(self) -> str:
            repository, _, wanted = self.path.lstrip("/").partition("/resolve/")
            if not any(path.startswith(f"{repository}/") for path in files):
                return "RepoNotFound"
            revision = wanted.partition("/")[0]
            known = any(path.startswith(f"{repository}/resolve/{revision}/") for path in files)
            return "EntryNotFound" if known else "RevisionNotFound"

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
