"""What functions of one's own print while a command runs them: standard output is the command's."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast


class WholeLines:
    """A stream that threads share: a line of one is not cut in two by a line of another.

    `print` writes a text and its line end apart. What a thread has written without a line end
    waits until it ends the line, flushes, draws over it (a counter), or all is over.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._begun: dict[int, str] = {}
        self._lock = threading.Lock()

    def write(self, text: str) -> int:
        """Writes what has become whole lines; how many characters were taken."""
        mine = threading.get_ident()
        with self._lock:
            lines, end, rest = (self._begun.pop(mine, "") + text).rpartition("\n")
            if "\r" in rest:
                end, rest = end + rest, ""
            if rest:
                self._begun[mine] = rest
            if end:
                self._stream.write(lines + end)
        return len(text)

    def writelines(self, texts: Iterable[str]) -> None:
        """Writes them one after the other."""
        self.write("".join(texts))

    def flush(self) -> None:
        """Writes what this thread has begun, too."""
        with self._lock:
            begun = self._begun.pop(threading.get_ident(), "")
            if begun:
                self._stream.write(begun)
            self._stream.flush()

    def end(self) -> None:
        """Writes what any thread has begun: nobody goes on with it."""
        with self._lock:
            for begun in self._begun.values():
                self._stream.write(begun)
            self._begun.clear()
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        # The rest of a text stream is the stream's own.
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._stream, name)


class _Divided:
    """Standard output of the process, which threads share: the last of them gives it back."""

    def __init__(self) -> None:
        self.commands = 0
        self.inside = 0
        self.lock = threading.Lock()
        self.shared: tuple[TextIO, WholeLines] | None = None
        """What it was before the first of them, and what it is for all."""


_divided = _Divided()


@contextmanager
def of_a_command() -> Iterator[None]:
    """While a command runs, `aside` has an effect; in a script, what is printed is the script's."""
    _divided.commands += 1
    try:
        yield
    finally:
        _divided.commands -= 1


@contextmanager
def aside() -> Iterator[None]:
    """What is printed meanwhile goes to standard error.

    Of all threads: what the command itself prints, it prints when no such function runs.
    """
    if not _divided.commands:
        yield
        return
    with _divided.lock:
        if _divided.shared is None:
            _divided.shared = sys.stdout, WholeLines(sys.stderr)
        kept, lines = _divided.shared
        sys.stdout = cast(TextIO, lines)
        _divided.inside += 1
    try:
        yield
    finally:
        with _divided.lock:
            _divided.inside -= 1
            if _divided.inside:
                lines.flush()
            else:
                lines.end()
                sys.stdout, _divided.shared = kept, None
