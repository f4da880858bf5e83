"""drivelab: a solid-state drive in software, and the laboratory that tests it."""
