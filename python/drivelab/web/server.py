"""The server: one process on loopback, until Ctrl-C."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable

import uvicorn

from drivelab.errors import RequestError
from drivelab.web import comparison
from drivelab.web.app import application
from drivelab.web.bench import LOOPBACK, Bench
from drivelab.web.connections import Connection
from drivelab.web.security import SOCKET_BYTES_MAX

BACKLOG = 128
"""Connections that the system keeps until they are taken."""


def bound(port: int) -> socket.socket:
    """A listening socket; port 0 is any that is free. Raises RequestError if it is taken."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise RequestError(
            f"--port {port}: can't listen there ({error.strerror}); 0 takes any that is free"
        ) from None
    return listener


def serve(bench: Bench, listener: socket.socket, ready: Callable[[], None]) -> None:
    """Answers requests until SIGINT or SIGTERM; `ready` is called once it does."""
    config = uvicorn.Config(
        application(bench),
        http=Connection,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        ws="websockets-sansio",
        ws_max_size=SOCKET_BYTES_MAX,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=2,
        proxy_headers=False,
    )
    # In its own time: the first page comes a moment after the address is printed.
    threading.Thread(target=comparison.warm, daemon=True).start()
    ready()
    uvicorn.Server(config).run(sockets=[listener])
