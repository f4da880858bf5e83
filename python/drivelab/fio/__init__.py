"""fio's job files and fio's JSON, for drives of the engine."""
