"""fio's job files as sections: inheritance from [global], `include`, `${VARIABLE}`, comments."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from drivelab import text_files
from drivelab.errors import RequestError

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_COMMENT = re.compile(r"[;#].*")
INCLUDE_DEPTH_MAX = 16


@dataclass(frozen=True)
class Option:
    """One option of a section, as written; `origin` is file and line for messages."""

    name: str
    value: str
    origin: str


@dataclass(frozen=True)
class Section:
    """A job: options of its own and those inherited from the [global] sections above it."""

    name: str
    own: tuple[Option, ...]
    inherited: tuple[Option, ...]
    origin: str


@dataclass(frozen=True)
class JobFile:
    """All jobs of a file, in order, and the options of its [global] sections."""

    sections: tuple[Section, ...]
    global_options: tuple[Option, ...]


def read_sections(path: Path, environment: Mapping[str, str] | None = None) -> JobFile:
    """Reads a job file and what it includes; raises RequestError naming file and line."""
    lines = _lines(path, os.environ if environment is None else environment, 0)
    shared: list[Option] = []
    sections: list[Section] = []
    open_name: str | None = None
    own: list[Option] = []
    opened_at = str(path)

    def close() -> None:
        if open_name == "global":
            shared.extend(own)
        elif open_name is not None:
            sections.append(Section(open_name, tuple(own), tuple(shared), opened_at))

    for origin, line in lines:
        if line.startswith("["):
            close()
            if not line.endswith("]") or len(line) < 3:
                raise RequestError(f'{origin}: "{line}": expected [NAME] of a job or [global]')
            open_name, own, opened_at = line[1:-1], [], origin
            continue
        name, _, value = line.partition("=")
        if open_name is None:
            raise RequestError(f'{origin}: option "{name.strip()}" stands before any [section]')
        own.append(Option(name.strip().casefold(), value.strip(), origin))
    close()
    if not sections:
        raise RequestError(f"{path}: there is no job in it; expected a section [NAME] with options")
    return JobFile(tuple(sections), tuple(shared))


def _lines(
    path: Path, environment: Mapping[str, str], depth: int, named: str | None = None
) -> Iterator[tuple[str, str]]:
    """Lines that mean something, with their origin; included files in place. `named` is what
    messages call the file, if not a job file."""
    named = named or f'job file "{path}"'
    try:
        text = text_files.read(path)
    except OSError as error:
        raise RequestError(f"{named}: can't read it ({error.strerror})") from None
    except UnicodeDecodeError:
        raise RequestError(f"{named}: not UTF-8 text") from None
    for index, raw in enumerate(text.splitlines(), start=1):
        origin = f"{path}:{index}"
        line = _COMMENT.sub("", raw).strip()
        if not line:
            continue
        line = _expanded(line, environment, origin)
        keyword, _, rest = line.partition(" ")
        if keyword == "include" and rest.strip():
            if depth >= INCLUDE_DEPTH_MAX:
                raise RequestError(
                    f'{origin}: include "{rest.strip()}": more than {INCLUDE_DEPTH_MAX} files '
                    "include each other"
                )
            included = path.parent / rest.strip()
            said = f'{origin}: include "{included}"'
            yield from _lines(included, environment, depth + 1, said)
        else:
            yield origin, line


def _expanded(line: str, environment: Mapping[str, str], origin: str) -> str:
    """The line with `${VARIABLE}` replaced; fio would leave unknown ones empty without a word."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in environment:
            raise RequestError(f'{origin}: the environment has no variable "{match[1]}"')
        return environment[match[1]]

    return _VARIABLE.sub(value, line)
