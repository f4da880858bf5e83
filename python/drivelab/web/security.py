"""Who may ask for what: checked in front of every route, of HTTP and of WebSockets.

The server binds to loopback, which every page in the user's browser and every user of the machine
can reach. So a request has to name this server as its host (else a name of somebody's own could be
rebound to 127.0.0.1), come from no other origin, and, for all but the files of the page, carry the
token that was printed at start. The token is a header that no other site can send unasked, no
cookie: cookies don't tell ports apart, so each server on this machine would be sent it.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Iterable

from starlette.convertors import Convertor, register_url_convertor
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from drivelab.web.connections import KNOWN, WAITING_MAX

BODY_BYTES_MAX = 64 * 1024
BODY_S = 5.0
"""In which a body has to come; a file that is sent has longer."""
REQUESTS_MAX = 128
"""With the token, that are answered at a time, of all pages together."""
PAGE_REQUESTS_MAX = 2 * WAITING_MAX
"""For files of the page, which need no token: more than the answers that may wait to be read."""
FILE_BYTES_MAX = 64 * 1024 * 1024
"""Of a file that is sent: not kept in memory, but handed on as it comes."""
FILES = (("POST", "/api/traces"),)
"""Where files may be sent to."""
SOCKET_BYTES_MAX = 64 * 1024
"""Of one message from a page."""
SOCKETS_MAX = 16
"""WebSockets at a time, of all pages together."""
TOKEN_HEADER = "x-drivelab-token"
TRY_LATER = 1013
"""Code with which one more is closed at once: a page can't read why a handshake was refused."""
NO_ROOM = (
    f"All {SOCKETS_MAX} live connections of this server are taken, one by each open page: "
    "close another page of it, and this one goes on."
)
"""The reason that goes with it: 123 bytes at most."""
PROTOCOL = "drivelab"
"""The subprotocol of WebSockets; beside it a page offers "token.TOKEN"."""
HTTP_PORT = 80
GUARDED = ("/api/", "/socket/")
METHODS = ("GET", "HEAD", "POST", "DELETE")
ENDED = "drivelab was ended before this was answered"
FAILED = "drivelab failed; the reason is where `drivelab web` was started"
POLICY = "; ".join((
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    # No text becomes markup: pages build elements.
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
))  # fmt: skip
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def new_token() -> str:
    """192 random bits, in letters that need no quoting in an address."""
    return secrets.token_urlsafe(24)


class Number(Convertor[int]):
    """`{NAME:number}` in an address: a run or a job, small enough for a column of the database."""

    regex = "[0-9]{1,9}"

    def convert(self, value: str) -> int:
        """The number."""
        return int(value)

    def to_string(self, value: int) -> str:
        """Its digits."""
        return str(value)


register_url_convertor("number", Number())


def refusal(status: int, reason: str) -> Response:
    """An error as pages and scripts read it."""
    # Escaped, for a reason may quote half of a surrogate pair, which no encoding takes.
    text = json.dumps({"error": reason}, ensure_ascii=True)
    return Response(text, status_code=status, media_type="application/json")


class Guard:
    """The middleware; `port` is the one that clients see."""

    def __init__(self, app: ASGIApp, port: int, token: str) -> None:
        self._app = app
        self._token = token
        # Browsers leave the port out where it is the usual one of HTTP.
        end = "" if port == HTTP_PORT else f":{port}"
        self._hosts = frozenset(f"{name}{end}" for name in ("127.0.0.1", "localhost"))
        self._origins = frozenset(f"http://{host}" for host in self._hosts)
        self._sockets = 0
        self._requests = {True: 0, False: 0}
        """By whether they are guarded: many for files of the page are nothing to the owner's."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes on what is allowed."""
        if scope["type"] == "http":
            await self._request(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._socket(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        guarded = _is_guarded(scope)
        refused = self._reason(scope)
        if refused is None and guarded:
            given = Headers(scope=scope).get(TOKEN_HEADER, "")
            if not self._is_token(given):
                refused = 401, "the token is missing or wrong: open the address that was printed"
            else:
                scope[KNOWN] = True
        allowed = REQUESTS_MAX if guarded else PAGE_REQUESTS_MAX
        if refused is None and self._requests[guarded] >= allowed:
            refused = 503, f"too many requests at a time; allowed: {allowed}"
        if refused is not None:
            # Counted nowhere: nobody has to read it.
            await self._answer(refusal(*refused), scope, receive, send)
            return
        self._requests[guarded] += 1
        try:
            await self._allowed(scope, receive, send)
        finally:
            self._requests[guarded] -= 1

    async def _allowed(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = None
        if (scope["method"], scope["path"]) in FILES:
            length = _length(scope)
            if length is None or length > FILE_BYTES_MAX:
                refused = 413, f"the file is too long; allowed: {FILE_BYTES_MAX} bytes"
        elif _is_guarded(scope):
            # Files of the page have no use for one: nobody without the token is waited for.
            try:
                async with asyncio.timeout(BODY_S):
                    body = await _whole_body(scope, receive)
            except TimeoutError:
                refused = 408, f"the body didn't come within {BODY_S:g} s"
            except asyncio.CancelledError:
                refused = 503, ENDED
            else:
                if body is None:
                    refused = 413, f"the body is too long; allowed: {BODY_BYTES_MAX} bytes"
                else:
                    receive = _replayed(body, receive)
        answer = self._app if refused is None else refusal(*refused)
        await self._answer(answer, scope, receive, send)

    async def _answer(self, answer: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def with_headers(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                known = message.setdefault("headers", [])
                own = {key for key, _ in known}
                ours = [(key.encode(), value.encode()) for key, value in HEADERS.items()]
                known += [(key, value) for key, value in ours if key not in own]
                if _is_guarded(scope):
                    known.append((b"cache-control", b"no-store"))
            await send(message)

        try:
            await answer(scope, receive, with_headers)
        except asyncio.CancelledError:
            # Only the end of the server cancels, which is no failure: whoever waits is told.
            if not begun:
                await refusal(503, ENDED)(scope, receive, with_headers)
        except Exception:
            # A defect is answered here, so that its answer has the headers of all others.
            if not begun:
                await refusal(500, FAILED)(scope, receive, with_headers)
            raise

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        offered = scope.get("subprotocols") or []
        tokens = [text.removeprefix("token.") for text in offered if text.startswith("token.")]
        allowed = (
            self._reason(scope) is None
            # Browsers name the origin of every WebSocket.
            and "origin" in Headers(scope=scope)
            and PROTOCOL in offered
            and any(map(self._is_token, tokens))
        )
        if not allowed:
            # Closed before it was accepted: the client sees status 403.
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        if self._sockets >= SOCKETS_MAX:
            await receive()
            await send({"type": "websocket.accept", "subprotocol": PROTOCOL})
            await send({"type": "websocket.close", "code": TRY_LATER, "reason": NO_ROOM})
            return
        self._sockets += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._sockets -= 1

    def _reason(self, scope: Scope) -> tuple[int, str] | None:
        """Why a request is refused before it is looked at; None if it is not."""
        headers = Headers(scope=scope)
        if headers.getlist("host") not in [[host] for host in self._hosts]:
            return 421, "this host is not served here"
        if any(origin not in self._origins for origin in headers.getlist("origin")):
            return 403, "requests of other sites are refused"
        site = headers.get("sec-fetch-site", "none")
        # A link somewhere may lead to the page, but not to what is behind it.
        if site not in ("same-origin", "none") and (
            _is_guarded(scope) or headers.get("sec-fetch-mode") != "navigate"
        ):
            return 403, "requests of other sites are refused"
        if scope["type"] == "http" and scope["method"] not in METHODS:
            return 405, f"allowed: {', '.join(METHODS)}"
        return None

    def _is_token(self, text: str) -> bool:
        return secrets.compare_digest(text.encode(), self._token.encode())


def _is_guarded(scope: Scope) -> bool:
    return str(scope["path"]).startswith(GUARDED)


def _length(scope: Scope) -> int | None:
    """What a request says of its body's length, 0 if nothing; None for what is no length."""
    length = Headers(scope=scope).get("content-length", "0")
    plain = length.isascii() and length.isdigit() and len(length) < 10
    return int(length) if plain else None


async def _whole_body(scope: Scope, receive: Receive) -> bytes | None:
    """The body, read up to what is allowed; None if there is more."""
    length = _length(scope)
    if length is None or length > BODY_BYTES_MAX:
        return None
    body = b""
    while True:
        message = await receive()
        body += bytes(message.get("body", b""))
        if len(body) > BODY_BYTES_MAX:
            return None
        if message["type"] != "http.request" or not message.get("more_body"):
            return body


def _replayed(body: bytes, receive: Receive) -> Receive:
    parts: Iterable[Message] = [{"type": "http.request", "body": body, "more_body": False}]
    left = iter(parts)

    async def replay() -> Message:
        return next(left, None) or await receive()

    return replay
