"""Who may ask the server: a browser that was opened with the token, from the server's own pages."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie

from pytest_llmeval.view.request import Refused, Request, Response

_HOSTS = frozenset({"127.0.0.1", "localhost"})
"""Names under which a browser may ask. Another site's name that points here (DNS rebinding) is
none of them; the port is free, so that a tunnel may end at another one."""

_TOKEN = "token"  # noqa: S105 - the parameter's name
_ENTER = """<!doctype html><html lang="en"><meta charset="utf-8"><title>llmeval view</title>
<link rel="icon" href="data:,">
<meta http-equiv="refresh" content="0; url=/"><p><a href="/">Open the list of runs</a>"""


@dataclass(frozen=True, slots=True)
class Access:
    """The token of one server, and the rules by which requests are let in.

    The token comes in the address that the command prints. The first answer keeps it in a cookie
    that scripts cannot read and other sites cannot send, and goes on to an address without it.

    Attributes:
        port: of the server; cookies of a host hold for all its ports, so the name tells it.
        token: known to whoever started the server.
    """

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def address(self) -> str:
        """The address to open."""
        return f"http://127.0.0.1:{self.port}/?{_TOKEN}={self.token}"

    def enter(self, request: Request) -> Response | None:
        """Return the answer to a request that brings the token in its address, if it does.

        The page goes on by itself, so that the next request comes from this server's own page: a
        redirect would count as sent by whoever linked here, and be without the cookie.
        """
        given = request.query.get(_TOKEN)
        if given is None or request.path != ("",):
            return None
        self._check_host(request)
        if not self._is_token(given):
            raise Refused(HTTPStatus.FORBIDDEN, _WRONG)
        cookie = f"{self._cookie}={self.token}; HttpOnly; SameSite=Strict; Path=/"
        return Response(body=_ENTER.encode(), headers={"Set-Cookie": cookie})

    def check(self, request: Request) -> None:
        """Raise `Refused` for a request that may not be answered."""
        self._check_host(request)
        try:
            cookies = SimpleCookie(request.headers.get("cookie", ""))
        except CookieError:
            cookies = SimpleCookie()
        given = cookies.get(self._cookie)
        if given is None or not self._is_token(given.value):
            raise Refused(HTTPStatus.FORBIDDEN, _WRONG)
        if request.headers.get("sec-fetch-site", "none") not in {"same-origin", "none"}:
            raise Refused(HTTPStatus.FORBIDDEN, "Only pages of this server may ask it.")
        if request.method == "POST":
            self._check_origin(request)

    @property
    def _cookie(self) -> str:
        return f"llmeval-view-{self.port}"

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())

    @staticmethod
    def _check_host(request: Request) -> None:
        if request.headers.get("host", "").partition(":")[0] not in _HOSTS:
            raise Refused(HTTPStatus.MISDIRECTED_REQUEST, "This server answers as 127.0.0.1 only.")

    @staticmethod
    def _check_origin(request: Request) -> None:
        if request.headers.get("origin") != f"http://{request.headers['host']}":
            raise Refused(HTTPStatus.FORBIDDEN, "Only pages of this server may change something.")
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Changes are sent as JSON.")


_WRONG = (
    "This browser has no token of this server. Open the address that llmeval view printed when it "
    "was started."
)
