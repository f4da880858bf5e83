"""Text files that people write, in UTF-8.

Some editors begin one with a byte order mark, which is no part of the text: TOML has no place for
it, and it would be the first letter of a name.
"""

from __future__ import annotations

from pathlib import Path

ENCODING = "utf-8-sig"
"""UTF-8, with a byte order mark or without."""


def read(path: Path) -> str:
    """The text of a file; raises OSError, and UnicodeDecodeError for what is no text in UTF-8."""
    return path.read_text(encoding=ENCODING)


def decoded(content: bytes) -> str:
    """The text of a file's bytes; raises UnicodeDecodeError."""
    return content.decode(ENCODING)
