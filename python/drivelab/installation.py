"""What is installed: versions, and whether the engine is as new as the Python package beside it.

In a source tree the package is used as it lies there, and the engine as it was last built: after
an update one of them may be older than the other knows.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from drivelab import _engine
from drivelab.errors import RequestError, WorkError

PACKAGE = Path(__file__).parent
SOURCES = ("Cargo.toml", "Cargo.lock", "crates/*/Cargo.toml", "crates/*/src/**/*.rs")
"""What the engine is built from, below the root of a source tree."""


def version_text() -> str:
    """Versions of package and engine, and what is wrong with them, in one line or two."""
    lines = [f"drivelab {metadata.version('drivelab')}, engine {_engine.engine_version()}"]
    problem = stale_engine()
    return "\n".join([*lines, *([problem] if problem else [])])


def stale_engine() -> str | None:
    """One line for people if the engine is older than the Python package, None if it isn't."""
    package, engine = metadata.version("drivelab"), _engine.engine_version()
    missing = _missing_names()
    if package != engine:
        reason = f"it is of version {engine}, the package of {package}"
    elif missing:
        reason = f"it has no {', '.join(missing[:3])}"
    elif changed := _changed_source():
        reason = f"{changed} has changed since it was built"
    else:
        return None
    return f"the engine is older than the package: {reason}; `make setup` builds it anew"


MISUNDERSTOOD = ("unknown field", "missing field", "unknown variant", "invalid type")
"""Words of an engine that was told in a way it doesn't know."""


def reason_of(error: Exception) -> str | None:
    """What `stale_engine` says, if an engine that is older is likely why something failed."""
    told = isinstance(error, (RequestError, WorkError))
    if told and not any(words in str(error) for words in MISUNDERSTOOD):
        return None
    return stale_engine()


def _missing_names() -> list[str]:
    """Functions and methods that the package's own list has and the engine hasn't."""
    stub = PACKAGE / "_engine.pyi"
    return [name for name in _names(ast.parse(stub.read_text(encoding="utf-8"))) if _lacks(name)]


def _names(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.ClassDef):
            yield node.name
            yield from (
                f"{node.name}.{inner.name}"
                for inner in node.body
                if isinstance(inner, ast.FunctionDef)
            )


def _lacks(name: str) -> bool:
    found: object = _engine
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is None


def _changed_source() -> str | None:
    """A source of the engine that is newer than it, in a source tree."""
    root = PACKAGE.parent.parent
    if not (root / "crates").is_dir() or _engine.__file__ is None:
        return None
    # The second is what `make setup` leaves behind, also if there was nothing to build.
    marks = [Path(_engine.__file__), root / ".venv" / ".engine"]
    built = max(mark.stat().st_mtime for mark in marks if mark.exists())
    changed = [
        path for given in SOURCES for path in root.glob(given) if path.stat().st_mtime > built
    ]
    return (
        str(max(changed, key=lambda path: path.stat().st_mtime).relative_to(root))
        if changed
        else None
    )
