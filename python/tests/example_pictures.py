"""The pictures of docs/examples/: what examples/ draw, with the numbers of it kept inside.

An example runs as it stands, in a folder of its own; only `save` is another here. It puts what
the lines and bars of a picture are into the file, as text, so that a test can tell whether the
picture in docs/ is what the example gives now.
"""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image, PngImagePlugin

from drivelab.charts import Chart

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
PICTURES = ROOT / "docs" / "examples"
KEY = "drivelab"
"""Of the text inside a picture."""
DIGITS = 5


def drawn(chart: Chart) -> dict[str, Any]:
    """The numbers of a picture, by the columns of its rows."""
    encoding = (chart.spec.get("spec") or chart.spec).get("encoding", {})
    axes = {end: encoding.get(end, {}).get("axis", {}).get("title") for end in ("x", "y")}
    columns = {name: _rounded(values) for name, values in chart.columns.items()}
    return {"title": chart.title, **axes, "columns": columns}


def _rounded(values: Any) -> list[Any]:
    return [float(f"{v:.{DIGITS}g}") if isinstance(v, int | float) else v for v in values]


def drawing() -> list[Path]:
    """The examples that draw something."""
    found = sorted(EXAMPLES.glob("*.py"))
    return [path for path in found if ".save(" in path.read_text(encoding="utf-8")]


def kept(path: Path) -> Any:
    """The numbers of a picture when it was made."""
    with Image.open(path) as picture:
        return json.loads(picture.info[KEY])


def made(example: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs an example in a folder, which its pictures are in then.

    Dask's workers log nothing: one that is told to end just as it reports to its scheduler would
    log an error, on a busy machine one run in hundreds. What a task fails by the sweep raises.
    """
    command = [sys.executable, __file__, str(example)]
    environment = {**os.environ, "DASK_LOGGING__DISTRIBUTED": "critical"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def _run(example: str) -> None:
    """Runs an example whose pictures keep their numbers."""
    save = Chart.save

    def saved(self: Chart, path: Any, theme: str = "light") -> Path:
        place = save(self, path, theme)
        text = PngImagePlugin.PngInfo()
        text.add_itxt(KEY, json.dumps(drawn(self), ensure_ascii=False))
        with Image.open(place) as picture:
            picture.quantize(64).save(place, optimize=True, pnginfo=text)
        return place

    Chart.save = saved  # type: ignore[method-assign]
    runpy.run_path(example, run_name="__main__")


def main() -> None:
    """Makes docs/examples/ anew."""
    PICTURES.mkdir(exist_ok=True)
    for example in drawing():
        with tempfile.TemporaryDirectory() as folder:
            done = made(example, Path(folder))
            if done.returncode:
                sys.exit(f"{example}: {done.stderr}")
            picture = f"{example.stem}.png"
            (PICTURES / picture).write_bytes((Path(folder) / picture).read_bytes())
        print(f"Written: {PICTURES / picture}", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) == 2:
        _run(sys.argv[1])
    else:
        main()
