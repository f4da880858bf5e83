"""A drive like the X25-M but of 1 GB, so that tests take moments."""

from __future__ import annotations

from drivelab import model
from drivelab.model import Model

MODEL_NAME = "intel-x25-m-g1-80gb"
OVERRIDES = (("flash.blocks_per_plane", "28"), ("user_capacity_bytes", "999997440"))
SETS = [word for key, value in OVERRIDES for word in ("--set", f"{key}={value}")]


def small_model() -> Model:
    return model.load(MODEL_NAME, OVERRIDES)
