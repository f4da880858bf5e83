"""Prepared drives that equal ones share, as long as one of them is there.

Nothing is kept for its own sake: when the last drive that uses it goes, so does the prepared one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from drivelab.targets import EngineTarget

if TYPE_CHECKING:
    from drivelab.lab.drive import Drive

_HELD: WeakValueDictionary[str, EngineTarget] = WeakValueDictionary()
"""Engine's drives that drives of this process hold, which only copy them, by `_key`."""


def shared(drive: Drive, make: Callable[[], EngineTarget]) -> EngineTarget:
    """The engine's drive of one that was only prepared: an equal one's, or made now.

    A state of one's own is prepared anew for every drive: what else its function goes by, nobody
    knows. So is a drive with a longer history.
    """
    is_prepared = len(drive.history) == 1 and len(drive.begun) == 1
    if not is_prepared or any(state.origin for state in drive.begun[0].lineage):
        return make()
    key = _key(drive)
    found = _HELD.get(key)
    if found is None:
        found = _HELD[key] = make()
    return found


def _key(drive: Drive) -> str:
    """What equal drives have in common: also the words of their models, which results cite."""
    model = drive.model
    known = [drive.key, model.request, model.is_stored, model.texts.record()]
    return hashlib.sha256(json.dumps(known).encode()).hexdigest()
