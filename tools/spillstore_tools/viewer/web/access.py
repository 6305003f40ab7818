"""Who may ask the server: a browser that came with the token of the printed URL, once, and has the cookie since.

Cookies know no ports: a page that another program serves on this machine is of the same site, and its requests carry the cookie. So what a
browser says of a request (``Sec-Fetch-Site``) must be that one of our own pages made it, or a person.
"""

from __future__ import annotations

import hmac
from http.cookies import CookieError, SimpleCookie
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, quote

from spillstore_tools.loopback.admission import FORBIDDEN, header, refuse

if TYPE_CHECKING:
    from spillstore_tools.loopback.admission import App

_BYTES: Final = 32  # of a token, and of a cookie
_OURS: Final = {None, b"same-origin", b"none"}
_METHODS: Final = {"GET", "HEAD"}
_AGAIN: Final = "`spillstore ui` prints another when it is started again\n"
HEADERS: Final = (
    (b"content-security-policy", b"default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)  # fmt: skip


class Access:
    """An ASGI application for the browser that has opened the URL; everything it answers has the headers of ``HEADERS``.

    Args:
        app: answers its requests.
        port: that of the server, which the cookie is named by.
        home: the page that the URL leads to.

    Attributes:
        token: what ``?token=`` must be, once.
    """

    def __init__(self, app: App, port: int, home: str = "/") -> None:
        self._app = app
        self._home = home.encode()
        self._cookie = f"spillstore-ui-{port}"
        self._secret = token_urlsafe(_BYTES)
        self._is_used = False
        self.token = token_urlsafe(_BYTES)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""

        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        if scope["method"] not in _METHODS:
            await refuse(
                receive,
                with_headers,
                405,
                "nothing can be changed here: ask with GET\n",
                (b"allow", b"GET, HEAD"),
            )
        elif header(scope, b"sec-fetch-site") not in _OURS and not self._is_link(scope):
            await refuse(receive, with_headers, FORBIDDEN, "requests of other pages are refused\n")
        elif (given := _token(scope)) is not None:
            await self._exchange(scope, given, receive, with_headers)
        elif not self._is_known(scope):
            words = (
                "open the URL that `spillstore ui` has printed, in this browser; it works once, and " + _AGAIN
            )
            await refuse(receive, with_headers, FORBIDDEN, words)
        else:
            await self._app(scope, receive, with_headers)

    @staticmethod
    def _is_link(scope: Any) -> bool:
        """Whether a person has followed a link to the first page: it brings a token, or no cookie, since that is ``SameSite=Strict``."""
        return (
            scope["path"] == "/"
            and header(scope, b"sec-fetch-mode") == b"navigate"
            and header(scope, b"sec-fetch-dest") == b"document"
        )

    async def _exchange(self, scope: Any, given: str, receive: Any, send: Any) -> None:
        """The cookie for the token, once, and only to who means to open the page."""
        if not hmac.compare_digest(given.encode(), self.token.encode()):
            await refuse(receive, send, FORBIDDEN, "this is not the token of this server: " + _AGAIN)
        elif self._is_used and not self._is_known(scope):
            await refuse(
                receive,
                send,
                FORBIDDEN,
                "this token was used: go on in the browser that has used it; " + _AGAIN,
            )
        elif scope["method"] == "HEAD":  # of who looks what a link leads to
            await refuse(receive, send, 200, "")
        else:
            self._is_used = True
            cookie = f"{self._cookie}={quote(self._secret)}; Path=/; HttpOnly; SameSite=Strict"
            await send(
                {
                    "type": "http.response.start",
                    "status": 303,
                    "headers": [
                        (b"location", self._home),
                        (b"set-cookie", cookie.encode()),
                        (b"cache-control", b"no-store"),
                    ],
                }
            )
            await send({"type": "http.response.body", "body": b""})

    def _is_known(self, scope: Any) -> bool:
        try:
            found = SimpleCookie((header(scope, b"cookie") or b"").decode("latin-1")).get(self._cookie)
        except CookieError:
            return False
        return found is not None and hmac.compare_digest(found.value.encode(), self._secret.encode())


def _token(scope: Any) -> str | None:
    if scope["path"] != "/":
        return None
    found = parse_qs(scope["query_string"].decode("latin-1")).get("token")
    return None if found is None else found[0]
