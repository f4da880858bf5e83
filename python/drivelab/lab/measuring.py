"""A test of a review on a drive of a script."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

from drivelab import plugins, results, spans
from drivelab.errors import RequestError
from drivelab.lab import checks
from drivelab.lab.history import counted, only_state
from drivelab.procedures.measured import Measured
from drivelab.procedures.procedure import Procedure
from drivelab.procedures.study import Study
from drivelab.progress import run_alone
from drivelab.quantities import derive_seed
from drivelab.states import State
from drivelab.targets.account import Account, AccountedTarget

if TYPE_CHECKING:
    from drivelab.lab.drive import Drive


def measure(
    drive: Drive, test: str | Procedure, quick: bool, span: str | int | None, progress: bool
) -> Measured:
    """Runs a test on a copy of a drive, or of its first bytes; raises RequestError if it can't."""
    if isinstance(test, State):
        raise RequestError(f'test = "{test.name}": that is a state; use prepare()', "test")
    if not isinstance(test, Procedure):
        checks.undecorated("test", test, '@dl.test(group="...")')
        test = plugins.find_test(checks.text("test", test), "test")
    span_bytes = spans.checked(span, "span")
    spans.check_fits(drive.name, drive.capacity_bytes, span_bytes, "span")
    used_bytes = spans.bounded(drive.capacity_bytes, span_bytes)
    kind = "disk" if drive.model.is_disk else "flash"
    if kind not in test.kinds:
        raise RequestError(f'test "{test.id}": means nothing on {drive.name}')
    if not test.fits(used_bytes):
        what = f"the drive {drive.name}" if span_bytes is None else "the span"
        raise RequestError(
            f'test "{test.id}": what it uses is larger than {what} ({used_bytes} bytes)'
        )
    if span_bytes is not None and isinstance(test, Study):
        raise RequestError(f'test "{test.id}": fills the whole drive in steps, which span bounds')
    account = Account()
    target = AccountedTarget(drive.make().clone(), account, span_bytes)
    # As a review derives it, of a drive that was only prepared.
    before = only_state(drive.history) or json.dumps(counted(drive.history))
    seed = derive_seed(drive.seed, drive.name, before, test.id)
    work = partial(test.measure_noted, target, seed, quick)
    found = run_alone(f"{drive.name}: {test.title}", work, shown=progress)
    if test.origin is not None:
        # What a review would leave out isn't handed to a script either.
        spending = results.Spending(account.duration_ns, account.used, account.drive_count)
        record = results.measured_record(drive.name, before, test, found, spending)
        results.checked_test(record | {"wall_s": 0.0})
    return results.with_values(test, found, account.used)
