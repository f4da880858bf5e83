"""What a published figure hangs on: the X25-M's random writes, with numbers of it 10 % off."""

import drivelab as dl
from drivelab import charts

ranges = {
    "spare_ratio": (0.066, 0.080),
    "flash.read_ns": (45_000, 55_000),
    "flash.program_ns": (810_000, 990_000),
    "flash.erase_ns": (1_800_000, 2_200_000),
    "controller.write_firmware_ns": (65_250, 79_750),
}
study = dl.sweep(
    dl.Drive("intel-x25-m-g1-80gb", scale="1/64"),
    points=dl.samples(ranges, 64),
    job=dl.Job(rw="randwrite", bs="4k", iodepth=3, ramp_time=30, io_size="256m", norandommap=True),
    state="filled",
)
study.report("figure_sensitivity.html")
shares = study.sensitivity(["mib_per_s"])
print(shares)
charts.stacks(
    charts.Text("What random writes hang on"),
    [charts.Line("share", "$new", shares["key"].to_list(), shares["share"].to_list())],
    charts.Scale("Share of the variance of mib_per_s"),
).save("figure_sensitivity.png")
