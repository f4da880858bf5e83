"""Pages of published figures: written, renewed beside them, and what of them is out of date."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from drivelab import output
from drivelab.errors import RequestError, WorkError
from drivelab.figures import document as pages
from drivelab.figures import drift

Record = dict[str, Any]


def write(found: Record, path: Path, remark: Callable[[str], None]) -> list[Path]:
    """Writes the page and its plot, and renews the tables of pages beside it; all or nothing.
    Gives what was written; `remark` hears which rows of the page changed."""
    # The plotting library takes a second to load.
    from drivelab.figures import plot

    texts, renewed = _fresh(found, path)
    if path.exists():
        for line in drift.changes(path.read_text(encoding="utf-8"), texts[path.name]):
            remark(line)
    written = output.publish(
        path.parent,
        {path.with_suffix(".svg").name: lambda place: plot.write(found["figures"], place)}
        | _writers(texts | renewed.pop(path.parent)),
    )
    for folder, others in renewed.items():
        if others:
            written += output.publish(folder, _writers(others))
    return written


def stale(found: Record, path: Path, page: str, *, whole: bool) -> list[str]:
    """Rows of a page that are out of date; of all figures (`whole`) also its words, and the tables
    of the pages around it."""
    if not whole:
        return drift.drifted(page, found["figures"])
    fresh, renewed = _fresh(found, path)
    return drift.changes(page, fresh[path.name]) + [
        f"{place}: {line}"
        for folder, texts in renewed.items()
        for place, after in ((folder / name, text) for name, text in texts.items())
        for line in drift.changes(place.read_text(encoding="utf-8"), after)
    ]


def checked(found: Record, path: Path, page: str, *, whole: bool) -> str:
    """That a page is what the models give; raises WorkError with the rows that are out of date."""
    if lines := stale(found, path, page, whole=whole):
        rows = "".join(f"\n  {line}" for line in lines)
        raise WorkError(f"{path} is out of date; `make figures` writes it anew:{rows}")
    return f"{path} is what the models give: {len(found['figures'])} figures"


def page_text(path: Path, option: str) -> str:
    """A page as it stands there; raises RequestError for what can't be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise RequestError(f'{option} "{path}": can\'t read it ({reason})') from None


def _fresh(found: Record, path: Path) -> tuple[dict[str, str], dict[Path, dict[str, str]]]:
    """The page itself, and what changes in pages around it: texts by folder and name."""
    image = path.with_suffix(".svg").name
    folder, above = path.parent, path.resolve().parent.parent
    places = ((folder, "[!.]*.md"), (folder / "tests", "[!.]*.md"), (above, "README.md"))
    renewed = {place: _renewed(place.glob(pattern), found, but=path) for place, pattern in places}
    return {path.name: pages.page(found, image)}, renewed


def _writers(texts: Record) -> dict[str, Callable[[Path], None]]:
    return {name: partial(_write_text, page) for name, page in texts.items()}


def _renewed(places: Iterable[Path], found: Record, but: Path) -> dict[str, str]:
    """Pages whose tables of figures change, by name."""
    texts = {}
    for page in sorted(place for place in places if place.is_file() and place.name != but.name):
        before = page.read_text(encoding="utf-8")
        after = pages.renewed(before, found)
        if after != before:
            texts[page.name] = after
    return texts


def _write_text(page: str, path: Path) -> None:
    path.write_text(page, encoding="utf-8")
