"""The tests of SNIA's Solid State Storage Performance Test Specification (PTS), 2.0.x.

The specification itself was not at hand; constants are those of its open implementations.
"""

from drivelab.procedures.pts import (
    composite,
    cross_stimulus_recovery,
    demand_intensity,
    host_idle_recovery,
    iops,
    latency,
    throughput,
    write_saturation,
)

_ENTERPRISE = tuple(
    test
    for module in (
        iops,
        throughput,
        latency,
        write_saturation,
        host_idle_recovery,
        cross_stimulus_recovery,
        composite,
        demand_intensity,
    )
    for test in module.PROCEDURES
)

_CLIENT = tuple(
    test.client() for module in (iops, throughput, latency) for test in module.PROCEDURES
)
PROCEDURES = (*_ENTERPRISE, *_CLIENT)
