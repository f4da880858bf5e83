"""A page in a browser: what a script finds in it."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

BROWSER = next(filter(shutil.which, ("chromium", "chromium-browser", "google-chrome")), None)
needed = pytest.mark.skipif(BROWSER is None, reason="no browser")
FRAME = """<body style="margin:0"><iframe id="f" width="{width}" height="12000" src="page.html">
</iframe><script>f.onload = () => setTimeout(async () => {{
  const page = f.contentDocument, own = f.contentWindow;
  let found;
  try {{ found = await (async () => {{ {script} }})(); }} catch (error) {{ found = String(error); }}
  document.title = "found " + JSON.stringify(found);
}}, 3000)</script>"""


def found(page: str, script: str, folder: Path, width_px: int = 1200) -> Any:
    """What a script returns that runs beside a page (`page`, `own`) of this width."""
    (folder / "page.html").write_text(page, encoding="utf-8")
    frame = folder / "frame.html"
    frame.write_text(FRAME.format(width=width_px, script=script), encoding="utf-8")
    assert BROWSER is not None
    words = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1300,2100"]
    words += ["--allow-file-access-from-files", "--disable-web-security"]
    words += ["--virtual-time-budget=15000", f"--user-data-dir={folder / 'profile'}"]
    done = subprocess.run(
        [*words, "--dump-dom", frame.as_uri()], capture_output=True, text=True, timeout=600
    )
    title = re.search(r"<title>found (.*)</title>", done.stdout, re.DOTALL)
    assert title is not None, done.stderr
    return json.loads(html.unescape(title[1]))
