"""A sweep on a Dask cluster: processes here; of another, give the address of its scheduler."""

from distributed import Client, LocalCluster

import drivelab as dl


def main() -> None:
    """Measures, prints and draws."""
    drive = dl.Drive("intel-x25-m-g1-80gb", scale="1/128")
    grid = {"state": ["filled", "used"], "spare_ratio": [0.07, 0.1, 0.14, 0.2, 0.28]}
    job = dl.Job(
        rw="randwrite", bs="4k", iodepth=32, ramp_time=30, io_size="256m", norandommap=True
    )
    with LocalCluster(n_workers=2, dashboard_address=":0") as cluster, Client(cluster) as client:
        study = dl.sweep(drive, grid, job=job, repeats=3, executor=client)
    print(study)
    study.plot("spare_ratio", "latency_p99_us", hue="state").save("sweep_on_a_cluster.png")


# Dask's processes load this file, too.
if __name__ == "__main__":
    main()
