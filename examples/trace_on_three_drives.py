"""One trace on three drives, with three seeds each: how long its requests take."""

from pathlib import Path

import drivelab as dl

here = Path(__file__).resolve().parent
path = here.parent / "python" / "tests" / "traces" / "tpcc-excerpt.trace"
study = dl.sweep(
    dl.Drive("intel-x25-m-g1-80gb", scale="1/64"),
    {"model": ["intel-x25-m-g1-80gb", "ocz-vertex-120gb", "intel-x25-e-64gb"], "seed": [1, 2, 3]},
    job=dl.Trace(path, format="mqsim", out_of_range="modulo"),
    state="used",
)
print(study)
study.plot("model", "latency_mean_us", hue="direction").save("trace_on_three_drives.png")
