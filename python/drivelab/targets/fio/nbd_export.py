"""A drive that is served by the NBD protocol. fio reaches it through libnbd."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

from drivelab.errors import RequestError, WorkError
from drivelab.quantities import SECTOR_BYTES, bytes_text
from drivelab.targets.fio.place import Place, Stopped, Wish, check_destroy, whole_sectors

SCHEMES = ("nbd://", "nbds://", "nbd+unix://", "nbds+unix://")
ASKING_S = 10.0
"""How long a server may take to say what it serves."""


class NbdExport(Place):
    """An export of an NBD server; what makes it new is a trim of all of it."""

    def __init__(self, name: str, wish: Wish) -> None:
        if any(character in name for character in "\n#;"):
            raise RequestError(f"fio:{name}: a URI has no line breaks, # or ;")
        self._export = _asked(name, wish.size_bytes)
        size = int(self._export["export-size"])
        if self._export.get("is_read_only"):
            raise RequestError(f"fio:{name}: the server allows no writing")
        loss = f"it is a served drive of {bytes_text(size)}"
        check_destroy(name, wish, loss)
        sector = max(SECTOR_BYTES, int(self._export.get("block_size_minimum") or 1))
        wanted = whole_sectors(name, wish, size, sector)
        if wanted > size:
            raise RequestError(f"fio:{name}: --size {wanted}: the server offers {size} bytes")
        super().__init__(name, wanted, sector)
        self.loss = loss
        self.rotating = bool(self._export.get("is_rotational"))
        self.told_by = "the server"

    @property
    def title(self) -> str:
        """What people call it."""
        return f"NBD export {self.name}"

    @property
    def facts(self) -> dict[str, Any]:
        """What results record about it."""
        answers = ("is_rotational", "can_trim", "can_flush", "can_fua", "can_multi_conn")
        return {
            "kind": "NBD export",
            "sector_bytes": self.sector_bytes,
            **{key: self._export.get(key) for key in answers},
        }

    @property
    def erase_method(self) -> str:
        """How the new state is brought about."""
        if self.trim_refusal is not None:
            return f"none: {self.trim_refusal}; what was written before stays"
        return "trim of the whole export, in commands of 32 MiB"

    @property
    def trim_refusal(self) -> str | None:
        """Why it can't be trimmed."""
        return "the server takes no trims" if self._export.get("can_trim") is False else None

    def options(self, rw: str) -> dict[str, str]:
        """fio's options."""
        return {"ioengine": "nbd", "uri": self.name}

    def claim(self) -> None:
        """Nothing: a server decides itself who may connect."""

    def release(self) -> None:
        """Nothing to let go of."""

    def erase(self, stopped: Stopped) -> bool:
        """Left to fio, unless the server takes no trims."""
        return self.trim_refusal is not None

    def flush(self) -> bool:
        """fio must do it."""
        return False


def _asked(name: str, size_bytes: int | None) -> dict[str, Any]:
    """What the server says of the export: to nbdinfo, else to qemu-img; else what we are told."""
    if path := shutil.which("nbdinfo"):
        return _with_nbdinfo(path, name)
    if path := shutil.which("qemu-img"):
        found = _output([path, "info", "--output=json", "-f", "raw", name], name)
        return {"export-size": json.loads(found)["virtual-size"]}
    if size_bytes is None:
        raise WorkError(
            f"fio:{name}: its size can't be asked for without nbdinfo or qemu-img: install one "
            "(Debian: `apt-get install libnbd-bin`), or give --size"
        )
    return {"export-size": size_bytes}


def _with_nbdinfo(path: str, name: str) -> dict[str, Any]:
    try:
        [export] = json.loads(_output([path, "--json", name], name))["exports"]
        return dict(export)
    except (ValueError, KeyError):
        raise WorkError(f"fio:{name}: can't read what nbdinfo says about it") from None


def _output(words: list[str], name: str) -> str:
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=ASKING_S, check=False)
    except subprocess.TimeoutExpired:
        raise WorkError(f"fio:{name}: the server doesn't answer") from None
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
        raise WorkError(f"fio:{name}: can't ask the server ({last[0]})")
    return done.stdout
