"""Queue depth: what more requests at once give, reading and writing, with 95 % intervals."""

import drivelab as dl

study = dl.sweep(
    dl.Drive("intel-x25-m-g2-80gb", scale="1/64"),
    {"job.rw": ["randread", "randwrite"], "job.iodepth": [1, 2, 4, 8, 16, 32]},
    job=dl.Job(bs="4k", io_size="64m", norandommap=True),
    state="used",
    repeats=3,
)
print(study)
study.plot("job.iodepth", "iops", hue="job.rw").save("queue_depth.png")
