"""A job as scripts write it: fio's options as keywords."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from drivelab.data_patterns import parse_data_pattern
from drivelab.errors import RequestError, nearest
from drivelab.fio.jobs import FioJob, job_of_options, option_names
from drivelab.fio.options import option_meaning
from drivelab.fio.readers import ANY_CAPACITY_BYTES, READERS, SWITCHES
from drivelab.fio.sections import Option, Section
from drivelab.lab import checks
from drivelab.model import Model

_SECONDS = ("runtime", "ramp_time", "startdelay")
"""Times that are seconds without a unit; `thinktime` is microseconds then, as in fio."""

Value = str | int | float | bool | None

Mode = Literal[
    "read", "write", "randread", "randwrite", "rw", "readwrite", "randrw", "trim", "randtrim"
]


class Job:
    """One stream of requests. Options and their values are fio's: sizes as numbers of bytes or text
    ("4k", "25%"; "4ki" is 4000 bytes, as in fio), times in seconds or with a unit ("30s", "5m",
    "250us"); `thinktime` without a unit is in microseconds, as in fio.

    >>> job = Job(rw="randwrite", bs="4k", iodepth=32, runtime="30s", time_based=True)
    >>> job
    Job(rw='randwrite', bs='4k', iodepth=32, runtime='30s', time_based=True)
    >>> job.with_options(iodepth=1).options["iodepth"]
    1

    `data` is what writes contain: "random", "zeros", "repeating", "compressible:46" (percent left
    by compression), "duplicate:30" (percent copies). Without `runtime`, `io_size`, `number_ios` or
    `loops` a job goes once over its `size`, all of the drive by default. Raises RequestError for an
    option or a value that can't be, naming both and what is allowed.
    """

    def __init__(
        self,
        *,
        rw: Mode | None = None,
        bs: Value = None,
        iodepth: int | None = None,
        size: Value = None,
        offset: Value = None,
        io_size: Value = None,
        runtime: Value = None,
        time_based: bool | None = None,
        ramp_time: Value = None,
        rwmixread: Value = None,
        random_distribution: str | None = None,
        rate_iops: int | None = None,
        thinktime: Value = None,
        data: str = "random",
        name: str = "job",
        **options: Value,
    ) -> None:
        named: dict[str, Value] = {
            "rw": rw,
            "bs": bs,
            "iodepth": iodepth,
            "size": size,
            "offset": offset,
            "io_size": io_size,
            "runtime": runtime,
            "time_based": time_based,
            "ramp_time": ramp_time,
            "rwmixread": rwmixread,
            "random_distribution": random_distribution,
            "rate_iops": rate_iops,
            "thinktime": thinktime,
        }
        # As files can hold them, numpy's numbers, too.
        given = {key: checks.plain(value) for key, value in (named | options).items()}
        self._options: dict[str, Any] = {k: v for k, v in given.items() if v is not None}
        self.name = checks.text("name", name)
        self.data = data
        self._pattern = parse_data_pattern(data, "data")
        # What depends on the drive's size is checked when the job runs.
        self.on_drive(ANY_CAPACITY_BYTES, 0, 0)

    @property
    def options(self) -> dict[str, Value]:
        """fio's options, as they were given."""
        return dict(self._options)

    def with_options(self, **options: Any) -> Job:
        """The same job with other options; None takes one away. `name` and `data` count, too."""
        everything: dict[str, Any] = {**self._options, "data": self.data, "name": self.name}
        known = {*option_names(), "data", "name"}
        for key in options:
            if key not in known:
                raise RequestError(f'job option "{key}" is not supported{nearest(key, known)}')
        # As one that is given again, what says the same thing by another name is given up.
        anew = {option_meaning(key) for key in options}
        kept = {key: value for key, value in everything.items() if option_meaning(key) not in anew}
        return Job(**(kept | options))

    def record(self) -> dict[str, Any]:
        """As JSON has it: what makes one job another."""
        return {"name": self.name, "data": self.data, "options": self.options}

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Job:
        """The job of such a record."""
        return cls(name=record["name"], data=record["data"], **record["options"])

    def check(self, model: Model) -> None:
        """Raises RequestError for what can't be on such a drive."""
        self.on_drive(model.user_capacity_bytes, 0, 0)

    def on_drive(self, capacity_bytes: int, seed: int, index: int) -> FioJob:
        """The job as it runs on a drive of this size; raises RequestError.

        Seeds are those of `drivelab run` for a job file with this job at this place.
        """
        options = tuple(
            Option(key, _text(key, value), "Job") for key, value in self._options.items()
        )
        section = Section(self.name, options, (), "Job")
        return job_of_options(section, capacity_bytes, seed, index, self._pattern)

    def __repr__(self) -> str:
        words = [f"{key}={value!r}" for key, value in self._options.items()]
        words += [f"data={self.data!r}"] * (self.data != "random")
        words += [f"name={self.name!r}"] * (self.name != "job")
        return f"Job({', '.join(words)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Job) and self.record() == other.record()

    def __hash__(self) -> int:
        return hash((self.name, self.data, tuple(sorted(self._options.items(), key=str))))

    def __reduce__(self) -> tuple[Any, ...]:
        return Job.of_record, (self.record(),)


def _text(key: str, value: object) -> str:
    """An option's value as a job file has it."""
    if isinstance(value, bool):
        if key in READERS and key not in SWITCHES:
            raise RequestError(f"{key} = {value!r}: allowed: a number or a text", key)
        return "1" if value else "0"
    if isinstance(value, float):
        if key == "thinktime" and 0 < value < 1e-3:
            # Less than the ns that the engine knows: who writes that means seconds.
            raise RequestError(
                f"thinktime = {value!r}: without a unit it is in microseconds, as in fio; "
                f'allowed: a text with a unit, e.g. thinktime="{value * 1e6:.6g}us"'
            )
        return checks.seconds_text(value) if key in _SECONDS else checks.number_text(value)
    if isinstance(value, int | str):
        return str(value)
    raise RequestError(f"{key} = {value!r}: an option is a number or a text")
