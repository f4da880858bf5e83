"""A write buffer's size: from where on does it save flash writes, if some places are hot?"""

import drivelab as dl

study = dl.sweep(
    dl.Drive("intel-x25-m-g1-80gb", scale="1/128"),
    {
        "write_buffer.size_bytes": [2**power for power in range(16, 26)],
        "job.random_distribution": ["random", "zipf_true:0.8", "zipf_true:1.2"],
    },
    job=dl.Job(rw="randwrite", bs="4k", iodepth=32, ramp_time=30, io_size="256m", norandommap=True),
    state="filled",
)
print(study)
chart = study.plot("write_buffer.size_bytes", "write_amplification", hue="job.random_distribution")
chart.save("buffer_size.png")
