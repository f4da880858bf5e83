"""Five cleaning policies, four spare areas, three skews: 60 points, each with three seeds."""

import drivelab as dl

grid = {
    "ftl.victim_selection": ["greedy", "fifo", "random", "d-choices", "cost-benefit"],
    "spare_ratio": [0.07, 0.14, 0.28, 0.5],
    "job.random_distribution": ["random", "zipf_true:0.8", "zipf_true:1.2"],
}
job = dl.Job(rw="randwrite", bs="4k", iodepth=32, ramp_time=30, io_size="256m", norandommap=True)
drive = dl.Drive("intel-x25-m-g1-80gb", scale="1/128")
study = dl.sweep(drive, grid, job=job, state="filled", repeats=3, store="study")
print(study.frame())
chart = study.plot("spare_ratio", "write_amplification", hue="ftl.victim_selection")
chart.save("policies_over_spare_area.png")
