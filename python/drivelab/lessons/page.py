"""A lesson as one HTML file that needs nothing else: the code of the view Learn, and the record."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from markupsafe import escape

from drivelab.charts import palette

STATIC = Path(__file__).parents[1] / "web" / "static"
SCRIPTS, STYLES = ("dom.js", "views/lesson.js"), ("style.css", "views/lesson.css")
_BEGIN = """
const record = JSON.parse(document.getElementById("record").textContent);
new Player(document.getElementById("lesson"), record, {}, () => {});
"""


def html(record: dict[str, Any]) -> str:
    """The page of a lesson's record, in light and dark."""
    script = "\n".join(_plain((STATIC / name).read_text(encoding="utf-8")) for name in SCRIPTS)
    style = "\n".join((STATIC / name).read_text(encoding="utf-8") for name in STYLES)
    # No text ends the element that it stands in.
    data = json.dumps(record, separators=(",", ":")).replace("<", "\\u003c")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(record['title'])}</title>\n<style>\n{palette.css()}{style}</style>\n"
        f"</head>\n<body>\n<main>\n<h1>{escape(record['title'])}</h1>\n"
        f'<p>{escape(record["about"])}</p>\n<div id="lesson"></div>\n</main>\n'
        f'<script type="application/json" id="record">{data}</script>\n'
        f'<script type="module">\n{script}{_BEGIN}</script>\n</body>\n</html>\n'
    )


def _plain(module: str) -> str:
    """A module's text as part of one script: nothing is imported, nothing exported."""
    return re.sub(r"^import .*\n", "", re.sub(r"^export ", "", module, flags=re.M), flags=re.M)
