"""A drive of the engine whose power can be cut: beside it, in memory, is what a recovery reads."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from drivelab import _engine
from drivelab.errors import RequestError
from drivelab.model import Model
from drivelab.quantities import bytes_text
from drivelab.targets.engine import EngineTarget, engine_errors

if TYPE_CHECKING:
    from numpy.typing import NDArray


class KeptTarget(EngineTarget):
    """A drive that keeps the out-of-band data of its pages and its checkpoints, as a served one
    does in its image, but none of the host's bytes. It works by a served drive's rules: an erase
    waits for what supersedes the block's data."""

    def __init__(self, model: Model, seed: int, memory_bytes_max: int | None = None) -> None:
        """Raises RequestError for a drive that forgets its data with its power, and for one that
        would take more memory."""
        super().__init__(model, seed)
        self.kept_bytes = _engine.kept_bytes(self.engine)
        """Memory for what is kept, when every page is in use."""
        # While it recovers, the drive is there as it was and as it becomes.
        needed = 2 * model.memory_bytes + self.kept_bytes
        if memory_bytes_max is not None and needed > memory_bytes_max:
            raise RequestError(
                f"model {model.name}: with what a recovery reads it takes {bytes_text(needed)} of "
                f"memory; allowed: {bytes_text(memory_bytes_max)}; a divisor makes it smaller"
            )
        with engine_errors():
            _engine.keep_flash(self.engine)

    def clone(self) -> KeptTarget:
        """An independent copy of the drive and of what it keeps."""
        copy = object.__new__(KeptTarget)
        copy.__dict__.update(self.__dict__)
        copy._drive = self._drive.clone()
        return copy

    def rest(self) -> None:
        """The drive goes to rest, as before its power is switched off: what is in memory goes to
        flash, and a checkpoint of the map. It can go on."""
        with engine_errors():
            _engine.rest(self.engine)

    def cut_power(self) -> dict[str, int]:
        """The power fails now. Units in the write buffer with complete data (`complete_units`) and
        with data on its way (`arriving_units`), `torn_programs`, `torn_erases`."""
        with engine_errors():
            cut: dict[str, int] = json.loads(_engine.cut_power(self.engine))
        return cut

    def restore_power(self) -> tuple[dict[str, Any], NDArray[np.bool_]]:
        """The power comes back, and the drive finds out what it holds: what that took
        (`duration_ns`, `pages_read`, `blocks_skipped`: covered by the checkpoint, of each only the
        last page is looked at; `held_units`: kept by a capacitor; `lost_units`: complete in the
        buffer, and gone), and of each block whether its pages were read. Its clock and its counters
        begin anew."""
        with engine_errors():
            told, blocks_read = _engine.restore_power(self.engine, self.model.engine, self._seed)
        return json.loads(told), blocks_read
