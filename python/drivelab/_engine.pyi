"""The drive, written in Rust: a private module, used through `model`, `targets` and `replay`."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Cancelled",
    "Drive",
    "ImageRequestError",
    "ImageWorkError",
    "KeptDrive",
    "LogReader",
    "Model",
    "ModelError",
    "Progress",
    "Run",
    "ServerStop",
    "Session",
    "Tiles",
    "Trace",
    "WorkloadError",
    "block_pages",
    "block_roles",
    "cell_modes",
    "check_fault_plan",
    "check_image",
    "create_image",
    "cut_power",
    "engine_version",
    "erase_image",
    "families",
    "keep_flash",
    "kept_bytes",
    "queue_lengths",
    "read_state",
    "read_trace",
    "record_timeline",
    "rest",
    "restore_power",
    "serve_image",
    "smart_image",
    "take_timeline",
    "trace_formats",
    "trim_image",
    "unit_pieces",
    "write_state",
]

def engine_version() -> str:
    """Version of the compiled engine, as in Cargo.toml."""

def families() -> list[tuple[str, str]]:
    """Families of drives: their words in models, and their titles, in the order for people."""

def block_roles() -> list[str]:
    """Words for the numbers of the roles of blocks."""

def cell_modes() -> list[str]:
    """Words for the numbers of the modes of cells."""

class ModelError(ValueError):
    """A model or an override that can't be: the message names key, value and what is allowed."""

    key: str | None
    """The parameter that is wrong; None of a text that isn't TOML."""
    raw_capacity_bytes: int | None
    """What all flash holds, if that is less than the host was to have."""

class WorkloadError(ValueError):
    """A job or a trace that can't be run: the message names key, value and what is allowed."""

class ImageRequestError(ValueError):
    """An image, an address or an option that can't be used: what it is, and what is allowed."""

class ImageWorkError(Exception):
    """An image that can't be read, written or served, though the request was right."""

class Cancelled(Exception):  # noqa: N818
    """The run was cancelled through its Progress."""

@final
class Model:
    """A checked model."""

    @staticmethod
    def parse(
        layers: list[tuple[str, str]],
        overrides: list[tuple[str, str]],
        members: Sequence[Model] = ...,
    ) -> Model:
        """Reads the texts of a model's layers, the base first; each layer is (text, origin for
        messages). An array's model is read with the models of its members. Raises ModelError."""

    @property
    def name(self) -> str: ...
    @property
    def hash(self) -> str:
        """64 hexadecimal digits over every parameter."""

    @property
    def user_capacity_bytes(self) -> int: ...
    @property
    def raw_capacity_bytes(self) -> int: ...
    @property
    def queue_depth(self) -> int:
        """Commands that the drive accepts at once."""

    def to_json(self) -> str:
        """JSON: name, title, released, parameters with value, unit and source, derived values."""

@final
class Progress:
    """How far a run is; may be read and cancelled from another thread."""

    def __new__(cls) -> Self: ...
    @property
    def fraction(self) -> float:
        """0 to 1."""

    def cancel(self) -> None: ...

@final
class Drive:
    """A drive in virtual time."""

    def __new__(cls, model: Model, seed: int) -> Self: ...
    def clone(self) -> Drive:
        """An independent copy of the whole state."""

    def run(self, jobs_json: str, progress: Progress | None = None) -> str:
        """Runs jobs that start together; returns the report as JSON. Releases the GIL."""

    def run_requests(
        self,
        job_json: str,
        op: NDArray[np.uint8],
        lba: NDArray[np.uint64],
        sector_count: NDArray[np.uint32],
        arrival_ns: NDArray[np.uint64] | None,
        progress: Progress | None = None,
        program: tuple[NDArray[np.uint64], NDArray[np.uint8]] | None = None,
        log: bool = False,
    ) -> tuple[str, dict[str, NDArray[Any]] | None]:
        """Runs given requests; op 0 read, 1 write, 2 flush, 3 trim. `program`: processor time in ns
        before each, and whether nobody waits for it (not 0). The report as JSON and, with `log`,
        columns of every request. Releases the GIL."""

    def idle(self, duration_ns: int) -> None: ...
    def age(self, duration_ns: int) -> None:
        """What lies in flash becomes older, as without power."""

    def secure_erase(self) -> None: ...
    def counters(self) -> str:
        """Cumulative counters as a flat JSON object."""

    @property
    def now_ns(self) -> int:
        """Virtual time that the drive has reached, in ns."""

    def inside(self) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]]]:
        """Columns of every block, and of every die."""

    def page_states(self) -> str:
        """JSON of every page's state; for tiny drives."""

def write_state(drive: Drive, path: PathLike[str], key: str) -> None:
    """Writes the state of a drive to a new file, for `read_state` of the same key; raises OSError.
    Releases the GIL."""

def read_state(model: Model, path: PathLike[str], key: str) -> Drive | None:
    """The drive of a model that `write_state` wrote under a key; None for whatever else the file
    holds. Raises OSError for one that can't be read. Releases the GIL."""

def record_timeline(drive: Drive, from_ns: int, until_ns: int, most: int) -> None:
    """Notes from now on what dies and buses do: what begins from `from_ns` on and before
    `until_ns`, the first `most` of each member of an array."""

def take_timeline(drive: Drive) -> tuple[dict[str, NDArray[Any]], int]:
    """Columns of what has been noted, and how many operations found no room; nothing is noted from
    now on."""

@final
class Tiles:
    """Every block of a drive as it was drawn last."""

    def __new__(cls) -> Self: ...
    def changes(self, drive: Drive) -> tuple[int, bool, int, list[int], list[int], bytes]:
        """What has changed since the last call: how many blocks, whether these are all, of how many
        others only the valid share has, the sequence number of the next program of each member, how
        long each die has worked since power came or a secure erase in ns, and columns one after the
        other, little-endian: index (u32, unless these are all), born (u32: lowest bits of the
        sequence number of the first program), erase_count (u16), valid, written (u8: 255ths of the
        block), role, stream (u8; 255: none), mode (u8; 255: erased); then, in order, valid (u8) of
        the others, and how many blocks lie between each of them and the one before (u8; 255: so
        many, and as the next byte says). Releases the GIL."""

    def forget(self) -> None:
        """The next call gives all blocks."""

def block_pages(drive: Drive, member: int, die: int, block: int) -> dict[str, NDArray[Any]]:
    """The pages of a block: `state` (0 erased, 1 valid, 2 invalid) and `lpn` (-1: none). Raises
    WorkloadError for a block that isn't there."""

def unit_pieces(drive: Drive) -> dict[str, NDArray[Any]]:
    """Where every unit of the host lies, of a drive that compresses: `lpn`, `block`, `page`,
    `granules` that it takes, and `trimmed` (1: it was trimmed, and takes them all the same). Of
    other drives nothing."""

def queue_lengths(drive: Drive) -> tuple[int, list[int]]:
    """Commands inside the controller, and those that wait in each of its submission queues; none
    are listed where it has one line."""

def kept_bytes(drive: Drive) -> int:
    """Bytes of memory that keeping what a recovery reads takes."""

def keep_flash(drive: Drive) -> None:
    """From now on a new drive keeps what a recovery reads. Raises WorkloadError for one that
    forgets its data with its power."""

def rest(drive: Drive) -> None:
    """A drive that keeps its flash goes to rest: a checkpoint of its map is written."""

def cut_power(drive: Drive) -> str:
    """The power of a drive that keeps its flash fails now. JSON: complete_units, arriving_units (of
    the write buffer), torn_programs, torn_erases."""

def restore_power(drive: Drive, model: Model, seed: int) -> tuple[str, NDArray[np.bool_]]:
    """The power comes back. JSON of what recovery did, and of each block whether it has read its
    pages. Releases the GIL."""

@final
class KeptDrive:
    """A drive whose flash is kept in memory, with the bytes that it holds: its power can be cut.
    For drives of a few pages. Raises WorkloadError for what can't be."""

    def __new__(cls, model: Model, seed: int) -> Self: ...
    def submit(self, tag: int, op: int, lba: int, sector_count: int, mark: int, fua: bool) -> None:
        """Hands over a command; op 0 read, 1 write, 2 flush, 3 trim. Every sector of a write holds
        `mark`."""

    def next_event(self) -> int | None:
        """When something next happens; None: nothing does by itself."""

    def advance(self, until_ns: int) -> list[tuple[int, int, list[int]]]:
        """Lets the drive work until then. Completions: tag, when, marks of a read's sectors."""

    def cut(self) -> None:
        """The power fails: what flash has begun is torn."""

    def power_on(self) -> str:
        """The power comes back. JSON: duration_ns, pages_read, held_units (of a capacitor),
        unused_blocks, and `read`: blocks and pages whose out-of-band data was read, in order."""

    def flash(self) -> str:
        """JSON of what the flash holds: for each block erase_count, torn, and pages with `state`
        (erased, programmed, torn), `sequence` and `units` (lpn, mark)."""

    def page_states(self) -> str:
        """JSON of every page's state, as the drive's map has it."""

    @property
    def now_ns(self) -> int:
        """Virtual time that the drive has reached since its power came, in ns."""

@final
class Run:
    """Jobs on a drive, as far as they have come; it is handed the same drive every time."""

    def __new__(cls, drive: Drive, jobs_json: str, log: bool) -> Self: ...
    def advance(self, drive: Drive, until_ns: int, progress: Progress | None) -> bool:
        """Goes on until this time of the drive's clock; whether the jobs have ended. Releases the
        GIL."""

    @property
    def measures_from_ns(self) -> tuple[int, int]:
        """When the first job begins to measure, and when the last one does."""

    def stop(self) -> None:
        """Issues nothing more."""

    def so_far(self) -> list[list[tuple[int, int, int]]]:
        """For each job and each of read, write, flush and trim: requests, bytes, sum of latencies
        in ns."""

    def latencies_so_far(self) -> list[tuple[int, int, int, list[int]]]:
        """Reads and writes measured so far, of all jobs, by how long they took: from and to how
        many ns, how many, and the sums of their latencies' parts in ns (queueing, link, firmware,
        flash, cleaning)."""

    def report(self, drive: Drive) -> str:
        """The report of jobs that have ended, as JSON."""

    def stream_log(self) -> LogReader:
        """Every request from now on, for another thread: a run that nobody reads stands still."""

    def end_log(self) -> None:
        """The reader of the log gets its last requests and its end."""

    def take_log(self) -> dict[str, NDArray[Any]]:
        """Every request since the last call, as columns."""

@final
class LogReader:
    """The log of a run that goes on in another thread."""

    def next(self, rows: int) -> dict[str, NDArray[Any]] | None:
        """The next requests as columns: at least `rows` of them, or what is left; None once the log
        has ended. Waits for them without the GIL."""

    def close(self) -> None:
        """Reads no more: the run goes on without a log."""

@final
class Session:
    """Requests of a program on their way to a drive and back; it is handed the same drive every
    time."""

    def __new__(cls, drive: Drive, data_json: str, seed: int, fua: bool) -> Self: ...
    def submit(
        self,
        drive: Drive,
        op: NDArray[np.uint8],
        lba: NDArray[np.uint64],
        sector_count: NDArray[np.uint32],
        arrival_ns: NDArray[np.uint64],
        hint: NDArray[np.uint8] | None = None,
    ) -> int:
        """Takes requests over; the number of the first. `hint` comes with writes; 0: with
        none. Raises WorkloadError."""

    def advance(self, drive: Drive, until_ns: int) -> None:
        """Lets the drive work until this time of its clock; of 2^64 - 1: until everything is done.
        Releases the GIL."""

    def take_done(self) -> tuple[NDArray[np.uint64], dict[str, NDArray[Any]]]:
        """What is done since the last call: numbers of requests, and columns."""

    @property
    def waiting(self) -> int:
        """Requests that are not done."""

@final
class Trace:
    """Requests of a recorded trace, arrival rebased to the first."""

    @property
    def format(self) -> str: ...
    @property
    def op(self) -> NDArray[np.uint8]: ...
    @property
    def lba(self) -> NDArray[np.uint64]: ...
    @property
    def sector_count(self) -> NDArray[np.uint32]: ...
    @property
    def arrival_ns(self) -> NDArray[np.uint64]: ...
    @property
    def response_ns(self) -> NDArray[np.uint64]:
        """Of the recorded drive; 2^64 - 1 where the trace doesn't tell."""

    @property
    def device_names(self) -> list[str]:
        """Devices of the file, also those not asked for."""

    @property
    def reordered_count(self) -> int:
        """Requests that the file has after a later one."""

    @property
    def dropped_count(self) -> int:
        """Requests that were left out: without a response, or without data."""

    def fit(self, capacity_bytes: int, beyond: str) -> Trace:
        """Makes the trace fit a drive: reject, modulo or compact. Raises WorkloadError."""

    def __len__(self) -> int: ...

def trace_formats() -> list[str]:
    """Names of all formats of traces."""

def read_trace(
    path: str | PathLike[str],
    format: str | None = None,  # noqa: A002
    time_unit: str | None = None,
    arrival_event: str | None = None,
    device: str | None = None,
    progress: Progress | None = None,
) -> Trace:
    """Reads a trace file, plain or compressed by gzip. Raises WorkloadError and Cancelled.

    `format`: None to guess. `time_unit`: ps, ns, us, ms or s, in MQSim's format only.
    `arrival_event`: Q or D, in blkparse's only. `device`: only the requests of this one.
    """

def create_image(path: str | PathLike[str], texts_json: str, seed: int) -> str:
    """Makes the image of a new drive; `texts_json` is what its model is read from. As all functions
    of images: gives JSON, raises ImageRequestError and ImageWorkError, releases the GIL."""

def check_image(path: str | PathLike[str]) -> str:
    """Checks every structure of an image: `problems` and counts; changes nothing."""

def check_fault_plan(plan_json: str) -> None:
    """Checks a plan of faults as far as that needs no drive; raises ImageRequestError."""

def erase_image(path: str | PathLike[str]) -> str:
    """Erases a drive securely: no byte of before stays in the file."""

def trim_image(path: str | PathLike[str], offset: int, length: int) -> str:
    """Trims a range of bytes, whole sectors, and flushes."""

def smart_image(path: str | PathLike[str]) -> str:
    """What a drive that isn't being served says about itself, as one flat object."""

@final
class ServerStop:
    """Ends a server from another thread, whether or not it serves already."""

    def __new__(cls) -> Self: ...
    def stop(self) -> None:
        """Asks for a clean end: nobody is heard any more, and who was heard is answered."""

def serve_image(
    path: str | PathLike[str],
    listen: str,
    clock: str,
    options_json: str,
    ready: Callable[[str], object],
    stop: ServerStop,
) -> str:
    """Serves a drive until it is stopped, its power is cut, or the client of `stdio` leaves.

    `listen`: unix:PATH, HOST:PORT or stdio. `clock`: real, instant or a scale. `ready` hears what
    is served, and where, when clients can come. Gives what was done.
    """
