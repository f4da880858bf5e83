"""What a procedure runs on: the protocol, and one file for every kind of target."""

from __future__ import annotations

from drivelab.targets.engine import EngineTarget, engine_errors
from drivelab.targets.target import Report, Target

__all__ = ["EngineTarget", "Report", "Target", "engine_errors"]
