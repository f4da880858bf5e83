from __future__ import annotations

import numpy as np
import pytest

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


@pytest.mark.parametrize("told", [False, True])
def test_a_program_of_ones_own_tells_apart_what_its_writes_are(told: bool) -> None:
    """Half of what is written is written again: told apart, it lay in blocks of its own."""
    drive = dl.Drive("intel-x25-m-g1-80gb", {"ftl.placement": "hint"}, scale="1/128")
    session = drive.open()
    places = np.arange(60_000)
    short = np.random.default_rng(1).random(places.size) < 0.5
    session.submit("write", places * 4096, hint=np.where(short, 2, 5) if told else 0)
    session.finish()
    session.submit("write", places[short] * 4096, hint=2 if told else 0)
    session.finish()
    closed = session.inside().blocks.filter(role="closed")
    half = closed.filter((closed["valid_share"] > 0.1) & (closed["valid_share"] < 0.9))
    assert closed.height > 400
    if told:
        # Those that were open when the second time began.
        assert half.height < 0.1 * closed.height
    else:
        # All but those of the second time.
        assert half.height > 0.6 * closed.height
