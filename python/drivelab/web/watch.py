"""What the view Watch asks the server for: what can be watched, and a socket to a drive at work.

Texts from the page are objects: {"start": CHOICE with workload, "speed": SPEED}, {"start":
{"served": NAME}}, {"want": true} (ready for a frame), {"do": ...} (a command of `watch_session`),
{"end": true}. To the page: {"idle": true} (no drive yet), {"again": true} (its drive of before),
{"refused": TEXT} (a choice that can't be), {"full": TEXT} (no room for one more drive),
{"preparing": SHARE}, {"watching": ..., "layout": ...}, {"did": ...}, {"block": ...}, {"error":
TEXT} (of a command), {"failed": TEXT} (the drive has ended), {"elsewhere": true} (another page has
taken it over), and frames as bytes (`watch_frames`).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from drivelab import model as models
from drivelab.errors import RequestError
from drivelab.web import bench, watch_choice, watch_served
from drivelab.web.watch_choice import Choice
from drivelab.web.watch_served import ServedWatch
from drivelab.web.watch_session import Watched
from drivelab.web.watch_viewer import Send

AnyWatched = Watched | ServedWatch
DRIVES_MAX = 2
"""That are kept at a time; whoever asks for one more ends the one that nobody looks at."""
UNSEEN_S = 120.0
"""For so long a drive is kept whose page has gone: it may be loading again."""
SAID_MAX = 256
"""Texts that wait for a page; one that doesn't read them is cut off."""
KEY = re.compile(r"[a-z0-9]{8,40}")


def routes() -> list[BaseRoute]:
    """Below /api/watch/ and /socket/watch/."""
    return [
        Route("/api/watch/models", _models),
        Route("/api/watch/served", _served),
        Route("/api/watch/models/{name}", _model),
        WebSocketRoute("/socket/watch/{key}", _socket),
    ]


async def _models(_: Request) -> Response:
    return JSONResponse(await run_in_threadpool(_listed))


def _listed() -> list[dict[str, Any]]:
    found = [models.load(name) for name in watch_choice.watchable()]
    titles = models.FAMILY_TITLES
    return [
        {"name": item.name, "title": item.title, "family": titles[item.family]} for item in found
    ]


async def _served(request: Request) -> Response:
    return JSONResponse(list(bench.of(request).served))


async def _model(request: Request) -> Response:
    return JSONResponse(await run_in_threadpool(watch_choice.offered, request.path_params["name"]))


class Drives:
    """The drives of a server that are watched, by the keys that pages choose."""

    def __init__(self) -> None:
        self._drives: dict[str, AnyWatched] = {}
        self._left_at: dict[str, float] = {}
        self._ending: list[AnyWatched] = []
        """That were told to end, and hold their memory until they have."""

    @classmethod
    def of(cls, socket: WebSocket) -> Drives:
        """Those of the application; they end with it."""
        kept = socket.app.state
        if not hasattr(kept, "watched_drives"):
            kept.watched_drives = cls()
            bench.of(socket).closing.callback(kept.watched_drives.close)
        found = kept.watched_drives
        assert isinstance(found, Drives)
        return found

    def find(self, key: str) -> AnyWatched | None:
        """The drive of a key, if it still works."""
        self._forget()
        self._left_at.pop(key, None)
        return self._drives.get(key)

    def keep(self, key: str, drive: AnyWatched) -> AnyWatched | None:
        """Takes a drive in, in place of the key's own, which it returns; raises RequestError if
        there is no room, and then nothing has changed for whoever looks."""
        self._forget()
        self._ending = [ending for ending in self._ending if not ending.join(0)]
        if len(self._ending) >= DRIVES_MAX:
            raise RequestError("the drives of before are still ending: try again in a moment")
        before = self._drives.get(key)
        self.drop(key)
        if len(self._drives) >= DRIVES_MAX and self._left_at:
            self.drop(min(self._left_at, key=lambda left: self._left_at[left]))
        if len(self._drives) >= DRIVES_MAX:
            raise RequestError(f"{DRIVES_MAX} drives are being watched: close one of their pages")
        self._drives[key] = drive
        return before

    def leave(self, key: str, send: Send) -> None:
        """A page has gone; the drive is left if no other page has taken it over."""
        drive = self._drives.get(key)
        if drive is not None and drive.is_seen_by(send):
            self._left_at[key] = time.perf_counter()
            # Whether or not another page comes by then.
            asyncio.get_running_loop().call_later(UNSEEN_S + 0.1, self._forget)

    def drop(self, key: str) -> None:
        """Ends the drive of a key."""
        self._left_at.pop(key, None)
        drive = self._drives.pop(key, None)
        if drive is not None:
            drive.close()
            self._ending.append(drive)

    def close(self) -> None:
        """Ends all of them."""
        for key in list(self._drives):
            self.drop(key)
        for drive in self._ending:
            drive.join(2.0)

    def _forget(self) -> None:
        oldest = time.perf_counter() - UNSEEN_S
        for key in [key for key, left in self._left_at.items() if left < oldest]:
            self.drop(key)
        for key in [key for key, drive in self._drives.items() if drive.closed]:
            self.drop(key)


class _Line:
    """What goes to one page: in order, and never more than a frame at a time."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._loop = asyncio.get_running_loop()
        self._waiting: asyncio.Queue[dict[str, Any] | bytes | None] = asyncio.Queue(SAID_MAX)
        self.has_frame = False
        """Whether a frame is wanted or under way."""

    def put(self, message: dict[str, Any] | bytes) -> None:
        """From any thread."""
        with contextlib.suppress(RuntimeError):  # the server ends
            self._loop.call_soon_threadsafe(self._put, message)

    def _put(self, message: dict[str, Any] | bytes) -> None:
        # "preparing" comes again; whoever reads nothing else is cut off.
        if self._waiting.full():
            self.end()
        else:
            self._waiting.put_nowait(message)

    def end(self) -> None:
        """Nothing more goes to this page."""
        while not self._waiting.empty():
            self._waiting.get_nowait()
        self._waiting.put_nowait(None)

    async def run(self) -> None:
        """Sends until the end."""
        while (message := await self._waiting.get()) is not None:
            if isinstance(message, bytes):
                await self._socket.send_bytes(message)
                self.has_frame = False
            else:
                await self._socket.send_text(json.dumps(message))


async def _socket(socket: WebSocket) -> None:
    key = socket.path_params["key"]
    if not KEY.fullmatch(key):
        await socket.close(1008)
        return
    await socket.accept(subprotocol="drivelab")
    drives, line = Drives.of(socket), _Line(socket)
    drive = drives.find(key)
    if drive is None:
        line.put({"idle": True})
    else:
        drive.attach(line.put)
        line.put({"again": True})
    sender = asyncio.ensure_future(line.run())
    try:
        while not sender.done():
            asked = await _asked(socket)
            if asked is not None:
                await _answer(asked, key, drives, line, bench.of(socket).served)
    except (WebSocketDisconnect, RuntimeError):
        pass
    finally:
        sender.cancel()
        with contextlib.suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError):
            await sender
        drives.leave(key, line.put)


async def _asked(socket: WebSocket) -> Mapping[str, Any] | None:
    """The next text of the page, as an object; None if it is none."""
    try:
        asked = json.loads(await socket.receive_text())
    except (ValueError, KeyError, RecursionError):
        return None
    return asked if isinstance(asked, dict) else None


async def _answer(
    asked: Mapping[str, Any], key: str, drives: Drives, line: _Line, served: Mapping[str, Path]
) -> None:
    try:
        if "start" in asked:
            await _start(asked, key, drives, line, served)
            return
        found = drives.find(key)
        if found is None:
            # Not "idle": a page answers it by starting, one that was refused then does for ever.
            return
        if "end" in asked:
            drives.drop(key)
            line.put({"idle": True})
        elif "want" in asked:
            # One that is still on its way is enough: whoever wants more gets what is true then.
            if not line.has_frame:
                line.has_frame = True
                found.want(anew=asked["want"] == "all")
        else:
            found.obey(asked)
    except RequestError as error:
        line.put({"error": str(error)})


async def _start(
    asked: Mapping[str, Any], key: str, drives: Drives, line: _Line, served: Mapping[str, Path]
) -> None:
    try:
        drive = await run_in_threadpool(_chosen, asked, line, served)
    except RequestError as error:
        line.put({"refused": str(error)})
        return
    try:
        before = drives.keep(key, drive)
    except RequestError as error:
        line.put({"full": str(error)})
        return
    if before is not None and not before.is_seen_by(line.put):
        before.detach()
    line.has_frame = False
    drive.start()


def _chosen(asked: Mapping[str, Any], line: _Line, served: Mapping[str, Path]) -> AnyWatched:
    """The drive that a page asks for, not started; raises RequestError."""
    choice = asked["start"]
    if not isinstance(choice, dict):
        raise RequestError("start: allowed: an object")
    watch_choice.known(choice, (*watch_choice.KEYS, "workload", "served"))
    if "served" in choice:
        watch_choice.known(choice, ("served",))
        name = choice["served"]
        return ServedWatch(str(name), watch_served.named(served, name), line.put)
    workload = choice.get("workload", "random-writes")
    plain = {key: value for key, value in choice.items() if key != "workload"}
    return Watched(Choice.of(plain), line.put, workload, asked.get("speed", 1.0))
