"""Real drives, files and served drives, measured through the fio program."""

from __future__ import annotations

from drivelab.targets.fio.drive import RealDrive, is_real
from drivelab.targets.fio.place import PREFIX, Wish
from drivelab.targets.fio.target import FioTarget

__all__ = ["PREFIX", "FioTarget", "RealDrive", "Wish", "is_real"]
