"""A drive in one's own loop: a cache writes back in batches, and waits when the drive does."""

import numpy as np
import polars as pl

import drivelab as dl
from drivelab import charts

BATCH, BLOCK_BYTES = 256, 4096
drive = dl.Drive("intel-x25-m-g1-80gb", scale="1/64").prepare("filled")
session = drive.open()
before = session.counters
choice = np.random.default_rng(1)
slowest_ms = []
for _ in range(400):
    blocks = np.sort(choice.integers(0, drive.capacity_bytes // BLOCK_BYTES, BATCH))
    session.submit("write", offset=blocks * BLOCK_BYTES, length=BLOCK_BYTES)
    done = session.advance("50ms")
    while session.waiting > BATCH:  # the next batch has to wait
        done.extend(session.advance("10ms"))
    slowest_ms.append(done["latency_ns"].to_numpy().max() / 1e6)

print(f"slowest write of ten batches: {max(slowest_ms[:10]):.0f} ms at the beginning,", end=" ")
print(f"{max(slowest_ms[-10:]):.0f} ms at the end, after {session.now_ns / 1e9:.0f} s")
used = {key: value - before[key] for key, value in session.counters.items()}
programmed = used["program_bytes_host"] + used["program_bytes_cleaning"]
print(f"write_amplification: {programmed / used['host_write_bytes']:.2f}")
table = session.inside().blocks.group_by("role").agg(pl.len(), pl.col("valid_share").mean())
print(table.sort("role"))
charts.points(
    charts.Text("A cache that writes back"),
    [charts.Line("", "$used", range(len(slowest_ms)), slowest_ms)],
    charts.Scale("Batch"),
    charts.Scale("Slowest write of the batch", "ms", "log"),
).save("own_loop.png")
