from __future__ import annotations

import drivelab as dl

HOT = dl.Job(
    name="hot", rw="randwrite", bs="4k", iodepth=16, size="10%", io_size="1800m", norandommap=True
)
COLD = dl.Job(
    name="cold", rw="randwrite", bs="4k", size="90%", offset="10%", io_size="200m", norandommap=True
)


def amplification(placement: str, hot: dl.Job, cold: dl.Job) -> float:
    drive = dl.Drive("intel-x25-m-g1-80gb", {"ftl.placement": placement}, scale="1/64")
    found = drive.prepare("filled", progress=False).run(hot, cold, progress=False)
    return float(found.totals["write_amplification"])


def test_data_that_the_host_tells_apart_cost_less() -> None:
    told = HOT.with_options(write_hint="short"), COLD.with_options(write_hint="extreme")
    mixed = amplification("hint", HOT, COLD)
    apart = amplification("hint", *told)
    assert apart < 0.9 * mixed
    # A drive that places otherwise doesn't look at hints.
    assert amplification("host-and-cleaning", *told) == amplification(
        "host-and-cleaning", HOT, COLD
    )
