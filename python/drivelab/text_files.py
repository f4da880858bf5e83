"""Text files that people write, in UTF-8.

Some editors begin one with a byte order mark, which is no part of the text: TOML has no place for
it, and it would be the first letter of a name.
"""

from __future__ import annotations

import errno
from pathlib import Path

MOST_BYTES = 2**20
"""What somebody wrote by hand isn't longer: an image of a drive, say, is no model."""
ENCODING = "utf-8-sig"
"""UTF-8, with a byte order mark or without."""


def read(path: Path) -> str:
    """The text of a file; raises OSError, and UnicodeDecodeError for what is no text in UTF-8."""
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise OSError(errno.EFBIG, f"longer than {MOST_BYTES} bytes")
    return decoded(content)


def decoded(content: bytes) -> str:
    """The text of a file's bytes, with line ends as on Unix; raises UnicodeDecodeError."""
    return content.decode(ENCODING).replace("\r\n", "\n").replace("\r", "\n")
