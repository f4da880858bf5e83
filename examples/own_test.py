"""A state and a test of one's own; in a review: drivelab review MODEL --plugin own_test.py."""

import drivelab as dl


@dl.state(after="used", colour="tortured")
def scattered(bench: dl.Bench) -> None:
    """Random 4 KiB writes of a quarter of its bytes."""
    bench.run(dl.Job(rw="randwrite", bs="4k", iodepth=32, io_size="25%", norandommap=True))


@dl.test(group="mine", states=["filled", "used", scattered])
def reads_beside_writes(bench: dl.Bench) -> list[dl.Value | dl.Table | dl.Chart]:
    """Random reads beside sequential writes at rising rates."""
    rows, amplification = [], None
    for rate in (0, 10, 20, 40):
        jobs = [dl.Job(name="reads", rw="randread", bs="4k", runtime=10, time_based=True)]
        if rate:
            jobs.append(dl.Job(rw="write", bs="128k", rate=f"{rate}m", runtime=10, time_based=True))
        result = bench.run(*jobs)
        p99_us = result.summary.filter(job="reads")["latency_p99_us"].item()
        rows.append({"write_mib_per_s": rate, "p99_us": p99_us})
        amplification = result.totals["write_amplification"]
    columns = [
        dl.Column("write_mib_per_s", "Writing beside", "MiB/s"),
        dl.Column("p99_us", "99 % of reads take at most", "us"),
    ]
    return [
        dl.Value("p99_us", "99 % of reads at most, beside 40 MiB/s", p99_us, "us", better="lower"),
        dl.Value("write_amplification", "Write amplification", amplification, "", better="lower"),
        dl.Table("rates", "Reads by rate of writing", columns, rows),
        dl.Chart("rates", "Reads by rate of writing", "lines", x="write_mib_per_s", y="p99_us"),
    ]


if __name__ == "__main__":
    drive = dl.Drive("intel-x25-m-g1-80gb", scale="1/64").prepare(scattered)
    print(drive.measure(reads_beside_writes))
