"""Child processes of a runner of tests: when the runner is asked to end (Ctrl-C, SIGTERM, SIGHUP),
they end too, with all that they have started, and no further one is started."""

import os
import pathlib
import signal
import subprocess
import threading

STATUS = 128  # added to the signal's number, by the convention of shells


class Asked(BaseException):
    """The runner is asked to end, by the signal `kind`."""

    def __init__(self, kind):
        super().__init__(signal.Signals(kind).name)
        self.kind = kind


def heed_signals():
    """From now on the main thread raises Asked at the first of these signals; it ignores further
    ones, so that it can clean up."""
    def first(kind, _):
        for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(each, signal.SIG_IGN)
        raise Asked(kind)
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(each) != signal.SIG_IGN:  # as under nohup
            signal.signal(each, first)


def _with_folder(folder):
    """Processes whose temporary folder this is, whichever process started them."""
    mark = b"\0TMPDIR=" + os.fsencode(folder) + b"\0"
    for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in b"\0" + path.read_bytes():
                yield int(path.parent.name)
        except OSError:
            pass  # it has ended, or belongs to another user


class Children:
    def __init__(self):
        self._lock = threading.Lock()
        self._folders = set()
        self._ending = False

    def run(self, command, folder):
        """A finished process with its output, or None if the runner is ending. `folder`: its
        temporary folder, which no other has."""
        folder = str(folder)
        with self._lock:
            if self._ending:
                return None
            self._folders.add(folder)
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       text=True, env={**os.environ, "TMPDIR": folder},
                                       start_new_session=True)
        output = "".join(process.communicate())
        with self._lock:
            self._folders.discard(folder)
        return subprocess.CompletedProcess(command, process.returncode, output)

    def end(self):
        """Kills all. A process started by one that is being killed is killed in the next round."""
        with self._lock:
            self._ending = True
            folders = set(self._folders)
        for folder in folders:
            while pids := list(_with_folder(folder)):
                for pid in pids:
                    try:
                        os.kill(pid, signal.SIGKILL)
                    except ProcessLookupError:
                        pass
