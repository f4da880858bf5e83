"""What the server knows: where results are, who may ask, and what of it must end with it."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from starlette.requests import HTTPConnection

from drivelab.web import security
from drivelab.web.folder import Folder
from drivelab.web.jobs import Jobs
from drivelab.web.library import Library

LOOPBACK = "127.0.0.1"


@dataclass
class Bench:
    """The state of one server; handlers find it with `of`."""

    library: Library
    """Of the database; it may not exist yet."""
    token: str
    port: int
    jobs: Jobs
    folder: Folder
    """Traces and studies beside the results."""
    served: Mapping[str, Path] = field(default_factory=dict)
    """Images or control sockets of served drives that may be watched, by name."""
    reports: dict[str, int] = field(default_factory=dict)
    """Runs whose reports are open, by the last part of their addresses."""
    closing: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)
    """Views put here what ends with the server: processes, threads, files."""

    @classmethod
    def opened(cls, results: Path, port: int, served: Mapping[str, Path]) -> Bench:
        """Of the results in a database, and of what lies beside it."""
        library = Library(results.resolve())
        place = library.results
        # A token at each start: pages that stay open send theirs to whoever has the port next.
        return cls(library, security.new_token(), port, Jobs(place), Folder(place), served)

    @property
    def address(self) -> str:
        """What a browser opens."""
        return f"http://{LOOPBACK}:{self.port}/#token={self.token}"


def of(connection: HTTPConnection) -> Bench:
    """The bench of a request or a WebSocket."""
    found = connection.app.state.bench
    assert isinstance(found, Bench)
    return found
