"""The pictures of docs/examples/: what examples/ draw, with the numbers of it kept inside.

An example runs as it stands, in a folder of its own; only `savefig` is another here. It puts what
the lines and bars of a picture are into the file, as text, so that a test can tell whether the
picture in docs/ is what the example gives now.
"""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from PIL import Image

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
PICTURES = ROOT / "docs" / "examples"
KEY = "drivelab"
"""Of the text inside a picture."""
DIGITS = 6


def drawn(figure: Figure) -> list[dict[str, Any]]:
    """The numbers of a picture, by its axes."""
    return [
        {
            "title": axes.get_title(loc="left"),
            "x": axes.get_xlabel(),
            "y": axes.get_ylabel(),
            "lines": [
                [_rounded(values) for values in (line.get_xdata(), line.get_ydata())]
                for line in axes.get_lines()
            ],
            "bars": _rounded([getattr(patch, "get_width", float)() for patch in axes.patches]),
        }
        for axes in figure.axes
    ]


def _rounded(values: Any) -> list[Any]:
    return [v if isinstance(v, str) else float(f"{float(v):.{DIGITS}g}") for v in list(values)]


def drawing() -> list[Path]:
    """The examples that draw something."""
    found = sorted(EXAMPLES.glob("*.py"))
    return [path for path in found if "savefig" in path.read_text(encoding="utf-8")]


def kept(path: Path) -> Any:
    """The numbers of a picture when it was made."""
    with Image.open(path) as picture:
        return json.loads(picture.info[KEY])


def made(example: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs an example in a folder, which its pictures are in then."""
    command = [sys.executable, __file__, str(example)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def _run(example: str) -> None:
    """Runs an example whose pictures keep their numbers."""
    save = Figure.savefig

    def saved(self: Figure, path: Any, **options: Any) -> None:
        # What a page draws has options of its own.
        own = {"metadata": {KEY: json.dumps(drawn(self)), "Software": None}}
        save(self, path, **(options or own))

    Figure.savefig = saved  # type: ignore[method-assign, assignment]
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
