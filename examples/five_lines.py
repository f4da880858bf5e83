"""A drive, a job, a plot: how writes slow down when a drive has been used."""

import drivelab as dl

drive = dl.Drive("intel-x25-m-g1-80gb", scale="1/64").prepare("filled")
job = dl.Job(rw="randwrite", bs="4k", iodepth=32, io_size="4g", norandommap=True)
result = drive.run(job)
print(result.summary.select("iops", "mib_per_s", "latency_p99_us", "write_amplification"))
result.plot.series("iops").save("five_lines.png")
