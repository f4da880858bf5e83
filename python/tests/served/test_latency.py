"""With the clock `real`, fio sees the latency of the model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from served.conftest import Serve
from served.drive import ServedDrive
from served.programs import ran, require

LIMIT_RATIO, LIMIT_NS = 0.10, 50_000
SPAN = 256 << 20
MODELS = ("intel-x25-m-g1-80gb", "ocz-vertex-120gb")


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("direction", ["read", "write"])
def test_fio_sees_the_latency_of_the_model(
    serve: Serve, tmp_path: Path, model: str, direction: str
) -> None:
    """4 KiB at random places, one at a time; reads of what was written."""
    require("fio")
    drive = serve(model, sets=(), clock="instant")
    words = ["fio", "--name=job", *at(drive), f"--size={SPAN}"]
    ran(*words, "--rw=write", "--bs=1m", "--end_fsync=1")
    mode = [f"--rw=rand{direction}", "--bs=4k", "--time_based", "--ramp_time=0.3"]
    drive.stop()
    drive.restart()
    ran(*words, *mode, "--runtime=1")
    # With the clock `instant` the server's clock is the drive's: nothing but the model is in it.
    model_ns = drive.control("stats")["requests"][direction]["latency_ns"]["mean"]
    drive.stop()
    drive.clock = "real"
    drive.restart()
    out = tmp_path / "fio.json"
    ran(*words, *mode, "--runtime=3", "--output-format=json", f"--output={out}", cwd=tmp_path)
    seen_ns = json.loads(out.read_text())["jobs"][0][direction]["lat_ns"]["mean"]
    said = f"fio {seen_ns / 1000:.1f} us, the model {model_ns / 1000:.1f} us"
    print(said)
    assert model_ns > 20_000, said
    assert abs(seen_ns - model_ns) <= LIMIT_RATIO * model_ns + LIMIT_NS, said


def at(drive: ServedDrive) -> list[str]:
    return ["--ioengine=nbd", f"--uri={drive.uri}"]
