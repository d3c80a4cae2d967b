"""A bound on the memory of one process and the cache of its files: a control group (cgroup) of its
own, of version 2 or 1. Making one takes root, and a memory controller that is not given away.
"""

import contextlib
import os
import pathlib
import signal
import time
import unittest

ROOT = pathlib.Path("/sys/fs/cgroup")
REMOVAL = 30  # seconds until the system has noticed that the last process ended


class MemoryLimit:
    """The group exists inside the `with`; `prefix` starts a command in it. Skips the test if the
    machine has no such groups for us."""

    def __init__(self, size):
        self.size = size
        self.is_v2 = (ROOT / "cgroup.controllers").exists()
        above = ROOT if self.is_v2 else ROOT / "memory"
        self.folder = above / f"ibd-test-{os.getpid()}-{time.monotonic_ns()}"

    @property
    def prefix(self):
        return ["sh", "-c", 'echo $$ >"$0"/cgroup.procs && exec "$@"', str(self.folder)]

    @property
    def most_used(self):
        """Bytes, with the cache of files."""
        name = "memory.peak" if self.is_v2 else "memory.max_usage_in_bytes"
        return int((self.folder / name).read_text())

    def __enter__(self):
        try:
            self.folder.mkdir()
            name = "memory.max" if self.is_v2 else "memory.limit_in_bytes"
            (self.folder / name).write_text(str(self.size))
            with contextlib.suppress(FileNotFoundError):  # a system without swap
                name = "memory.swap.max" if self.is_v2 else "memory.swappiness"
                (self.folder / name).write_text("0")
        except OSError as error:
            self._remove()
            raise unittest.SkipTest(f"no control group that bounds memory: {error}") from None
        return self

    def __exit__(self, *_):
        """Ends what a failed test left in it."""
        for process in (self.folder / "cgroup.procs").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(process), signal.SIGKILL)
        self._remove()

    def _remove(self):
        end = time.monotonic() + REMOVAL
        while self.folder.exists():
            try:
                self.folder.rmdir()
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)
