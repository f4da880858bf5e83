"""The page on a narrow screen, in a browser."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from report import sample

from drivelab import report

BROWSER = next(filter(shutil.which, ("chromium", "chromium-browser", "google-chrome")), None)
NARROW_PX = 420
FRAME = """<body style="margin:0"><iframe id="f" width="{width}" height="900" src="page.html">
</iframe><script>f.onload = () => document.title =
  "width " + f.contentDocument.documentElement.scrollWidth</script>"""


@pytest.mark.skipif(BROWSER is None, reason="no browser")
def test_a_narrow_screen_scrolls_tables_and_not_the_page(tmp_path: Path) -> None:
    page = report.render(sample.results())
    assert "Difference on a scale" in page  # Words that aren't seen are wide all the same.
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    frame = tmp_path / "frame.html"
    frame.write_text(FRAME.format(width=NARROW_PX), encoding="utf-8")
    assert BROWSER is not None
    words = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=900,1000"]
    words += ["--allow-file-access-from-files", "--disable-web-security"]
    words += ["--virtual-time-budget=10000", f"--user-data-dir={tmp_path / 'profile'}"]
    done = subprocess.run(
        [*words, "--dump-dom", frame.as_uri()], capture_output=True, text=True, timeout=120
    )
    found = re.search(r"<title>width (\d+)</title>", done.stdout)
    assert found is not None, done.stderr
    assert int(found[1]) <= NARROW_PX
