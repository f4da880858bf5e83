"""Five cleaning policies, four spare areas, three skews: 60 points, a table and a plot."""

import drivelab as dl

study = dl.sweep(
    dl.Drive("intel-x25-m-g1-80gb", scale="1/128"),
    {
        "ftl.victim_selection": ["greedy", "fifo", "random", "d-choices", "cost-benefit"],
        "spare_ratio": [0.07, 0.14, 0.28, 0.5],
        "job.random_distribution": ["random", "zipf_true:0.8", "zipf_true:1.2"],
    },
    job=dl.Job(rw="randwrite", bs="4k", iodepth=32, ramp_time=30, io_size="1g", norandommap=True),
    state="filled",
    store="study",
)
print(study.frame().select(*study.keys, "iops", "write_amplification"))
uniform = study.where({"job.random_distribution": "random"})
uniform.plot("spare_ratio", "write_amplification", hue="ftl.victim_selection").savefig("study.png")
