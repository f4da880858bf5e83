"""With the clock `real`, fio sees the latency of the model."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from served.conftest import Serve
from served.drive import ServedDrive
from served.programs import ran, require

LIMIT_RATIO, LIMIT_NS = 0.10, 50_000
ATTEMPTS = 30
MODELS = ("intel-x25-m-g1-80gb", "ocz-vertex-120gb")


@pytest.mark.parametrize("model", MODELS)
def test_fio_sees_the_latency_of_the_model(serve: Serve, tmp_path: Path, model: str) -> None:
    """4 KiB at random places, one at a time: medians of fio and of the model, of the same requests.

    What else the machine does only makes fio's longer: the first attempt without that counts.
    """
    require("fio")
    drive = serve(model, sets=())
    job = ["--name=job", "--ioengine=nbd", f"--uri={drive.uri}", "--size=64m"]
    ran("fio", *job, "--rw=write", "--bs=1m", "--end_fsync=1")
    drive.stop()
    drive.clock = "real"
    before = at_once()
    drive.start(None, within=before)
    for direction in ("read", "write"):
        said = []
        for _ in range(ATTEMPTS):
            seen_ns, mean_ns = fio(before, [*job, f"--rw=rand{direction}"], direction, tmp_path)
            model_ns = model_median_ns(drive, direction)
            said.append(
                f"{direction}: fio {seen_ns / 1000:.1f} us (mean {mean_ns / 1000:.1f}), "
                f"the model {model_ns / 1000:.1f} us"
            )
            print(said[-1])
            if abs(seen_ns - model_ns) <= LIMIT_RATIO * model_ns + LIMIT_NS:
                break
        else:
            pytest.fail(f"{model}: {'; '.join(said)}")
        assert model_ns > 50_000, said


def at_once() -> list[str]:
    """Words that let server and client run as soon as they can, if the machine allows that.

    Others' work is not the server's latency; and on one processor none has to be woken for the
    other, which a virtual machine takes tens of microseconds for.
    """
    words = ["taskset", "--cpu-list", str(max(os.sched_getaffinity(0))), "chrt", "--fifo", "10"]
    is_allowed = subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0
    return words if is_allowed else []


def fio(before: list[str], job: list[str], direction: str, folder: Path) -> tuple[float, float]:
    """Median and mean latency that fio sees."""
    out = folder / "fio.json"
    timed = ["--bs=4k", "--time_based", "--ramp_time=0.1", "--runtime=1", "--randrepeat=0"]
    timed += ["--lat_percentiles=1", "--clat_percentiles=0"]
    ran(*before, "fio", *job, *timed, "--output-format=json", f"--output={out}", cwd=folder)
    latency = json.loads(out.read_text())["jobs"][0][direction]["lat_ns"]
    return float(latency["percentile"]["50.000000"]), float(latency["mean"])


def model_median_ns(drive: ServedDrive, direction: str) -> int:
    """The drive's own, on its own clock: nothing but the model is in it."""
    return int(drive.control("stats")["latency_ns"][direction]["median"])
