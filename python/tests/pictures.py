"""The pictures of docs/ that are screenshots: made here, and what they show kept inside of them.

`docs/report.png` is the opening of a report and one of its bar charts. A picture can't be read by a
test, so the words and numbers that were on the page go into the file as text (a `tEXt` chunk of
PNG): `test_pictures.py` measures again and compares. The other picture, docs/figures.svg, is
written by `make figures` together with the page whose numbers it draws.
"""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, PngImagePlugin

from drivelab import model, report, review
from drivelab.report import bars
from drivelab.report.findings import findings
from drivelab.report.quantities import NBSP
from drivelab.report.reading import read

ROOT = Path(__file__).parents[2]
REPORT = ROOT / "docs" / "report.png"
MODEL = "intel-x25-m-g1-80gb"
"""What `make review` reviews."""
CHART = "4 KB random write, queue depth 3, sector-aligned"
WIDTH, HEIGHT, MARGIN = 1000, 4000, 24
KEY = "drivelab"
"""Of the text inside a picture."""


def measured() -> dict[str, Any]:
    """The results of `make review`."""
    loaded = model.load(MODEL)
    measurements = {MODEL: review.plan_measurements(loaded, [], [], lambda _: None)}
    plan = review.Plan([loaded], measurements, f"drivelab review {MODEL} --seed 1")
    return review.run(plan, shown=False)


def shown(results: dict[str, Any]) -> dict[str, Any]:
    """The words and numbers that a picture of these results shows."""
    opening = [[item.figure, item.sentence, item.detail] for item in findings(read(results))]
    chart = next(chart for chart in bars.comparisons(read(results)) if chart.title == CHART)
    lines = [[bar.label, bar.note, bar.source, bar.text] for bar in chart.bars]
    found = {"command": f"make review MODEL={MODEL}", "findings": opening, "bars": lines}
    plain: dict[str, Any] = json.loads(json.dumps(found, ensure_ascii=False).replace(NBSP, " "))
    return plain


def kept(path: Path) -> dict[str, Any]:
    """What a picture showed when it was made."""
    with Image.open(path) as picture:
        found: dict[str, Any] = json.loads(picture.info[KEY])
    return found


def page(results: dict[str, Any]) -> str:
    """The report with nothing but its title, its findings and one chart."""
    html = report.render(results)
    figures = re.findall(r'<figure class="bars">.*?</figure>', html, re.DOTALL)
    chart = next(figure for figure in figures if f"<figcaption>{CHART} " in figure)
    opening = re.search(r'<section id="findings".*?</ul>', html, re.DOTALL)
    assert opening is not None
    head = html[: html.index("<main")] + "<main>"
    grid = f'<div class="bar-grid">{chart}</div>'
    return f"{head}{opening[0]}{grid}</section></main></body></html>"


def photographed(html: str, browser: str) -> Image.Image:
    """A page as a browser shows it, without the white around it."""
    with tempfile.TemporaryDirectory() as folder:
        place, image = Path(folder) / "page.html", Path(folder) / "page.png"
        place.write_text(html, encoding="utf-8")
        subprocess.run(
            [
                *(browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
                *("--force-device-scale-factor=1", f"--window-size={WIDTH},{HEIGHT}"),
                *("--virtual-time-budget=5000", f"--screenshot={image}", place.as_uri()),
            ],
            check=True,
            capture_output=True,
            timeout=120,
        )
        whole = Image.open(io.BytesIO(image.read_bytes())).convert("RGB")
    drawn = np.flatnonzero((np.asarray(whole) != 255).any(axis=(1, 2)))
    return whole.crop((0, 0, WIDTH, int(drawn[-1]) + MARGIN))


def main(browser: str) -> None:
    """Makes docs/report.png."""
    results = measured()
    text = PngImagePlugin.PngInfo()
    text.add_itxt(KEY, json.dumps(shown(results), ensure_ascii=False, indent=1))
    picture = photographed(page(results), browser).quantize(128)
    picture.save(REPORT, optimize=True, pnginfo=text)
    print(f"Written: {REPORT}", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1])
