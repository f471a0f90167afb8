"""The server: HTTP on the loopback interface, a thread a request."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from pytest_llmeval.errors import LLMEvalError, UsageError
from pytest_llmeval.safety.printable import described
from pytest_llmeval.view.access import Access
from pytest_llmeval.view.page import error_page
from pytest_llmeval.view.request import Refused, Request, Response

LOOPBACK: Final = "127.0.0.1"

MAX_BODY: Final = 65_536
"""Bytes of the body of a request at most: a label and a name."""

_PATIENCE: Final = 30.0
"""Seconds that a connection may be silent."""

_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""What every answer says. What a page may load stands in the page (`report.page`)."""

Answering = Callable[[Request], Response]


class LocalServer:
    """A server on a port of the loopback interface, from the moment that it is made."""

    def __init__(self, answer: Answering, *, port: int = 0) -> None:
        """Take a port, 0 for any free one; UsageError if it is taken."""
        try:
            self._server = _Server((LOOPBACK, port), _Handler)
        except OSError as error:
            msg = (
                f"port {port} of {LOOPBACK}: {error.strerror or error}; "
                "name another one with --port, or none for any that is free"
            )
            raise UsageError(msg) from error
        self.access = Access(self._server.server_address[1])
        self._server.answering = self._guarded(answer)

    def serve(self) -> None:
        """Answer until `close`, or the thread's exception."""
        self._server.serve_forever(poll_interval=0.2)

    def close(self) -> None:
        """Let the port go; `serve` returns if another thread is in it."""
        self._server.shutdown()
        self._server.server_close()

    def _guarded(self, answer: Answering) -> Answering:
        """Return what answers those that may ask, and never fails."""

        def guarded(request: Request) -> Response:
            try:
                if (entered := self.access.enter(request)) is not None:
                    return entered
                self.access.check(request)
                return answer(request)
            except Refused as refused:
                return error_page(refused.status, str(refused))
            except LLMEvalError as error:
                return error_page(HTTPStatus.UNPROCESSABLE_ENTITY, str(error))
            except OSError as error:  # a run that is deleted, a folder that is not reached
                return error_page(HTTPStatus.NOT_FOUND, described(error))
            # A page that fails must not end the server: the others work.
            except Exception as error:  # noqa: BLE001 - see above
                return error_page(HTTPStatus.INTERNAL_SERVER_ERROR, described(error))

        return guarded


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    answering: Answering

    def handle_error(self, *_: object) -> None:
        """Write nothing: a browser went away; what fails otherwise is answered (`_guarded`)."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version = "llmeval"
    sys_version = ""
    timeout = _PATIENCE

    def do_GET(self) -> None:
        self._send(self.server.answering(self._request(b"")))

    do_HEAD = do_GET  # noqa: N815 - the name that http.server calls

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MAX_BODY:
            message = f"The body of a request has a length, and at most {MAX_BODY:,} bytes."
            self._send(error_page(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message))
            return
        self._send(self.server.answering(self._request(self.rfile.read(int(length)))))

    def _request(self, body: bytes) -> Request:
        address = urlsplit(self.path)
        return Request(
            method=self.command,
            path=tuple(unquote(part) for part in address.path.split("/")[1:]),
            query=dict(parse_qsl(address.query, keep_blank_values=True)),
            headers={name.lower(): value for name, value in self.headers.items()},
            body=body,
        )

    def _send(self, response: Response) -> None:
        self.send_response(response.status)
        headers = {
            **_HEADERS,
            "Content-Type": response.media_type,
            "Content-Length": str(len(response.body)),
            **response.headers,
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD" and response.status != HTTPStatus.NOT_MODIFIED:
            self.wfile.write(response.body)

    def log_message(self, *_: object) -> None:
        """Write nothing: the terminal belongs to whoever started the server."""
