"""Makes and reads hints files: see ../README.md and doc/formats/hints.md."""
