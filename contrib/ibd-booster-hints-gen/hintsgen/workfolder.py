"""The folder of unfinished work, which may have the name of a user's folder.

It is ours if it holds the marker; another one that is not empty is refused. Only files of the names
that the tools use are removed, and the folder only if the tool made it and nothing else is in it.
"""

import fcntl
import os
import re

from .common import ToolError, fsync_dir

MARKER = "made-by-booster-gen"
_TEXT = ("Unfinished work of booster-gen.py. The same command continues it; if it is not needed, "
         "the folder may be removed.\n")
_FOUND = "The folder was there before.\n"
_FILES = re.compile(r"(blocks\.index|(run\.json|output)(\.tmp)?|lock)\Z")
_SUBFOLDERS = {
    "coins": re.compile(r"(state\.json(\.tmp)?|\d{6}\.coins)\Z"),
    "container": re.compile(r"\d{6}\.part(\.tmp)?\Z"),
    "bitmap": re.compile(r"\d{6}\.part(\.tmp)?\Z"),
}


class WorkFolder:
    """Locked from open() on, as long as the process lives."""

    def __init__(self, path):
        self.path = path
        self._lock = None

    def open(self):
        marker = os.path.join(self.path, MARKER)
        if not os.path.lexists(marker):
            self._mark(marker)
        self._lock = open(os.path.join(self.path, "lock"), "ab")
        try:
            fcntl.lockf(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ToolError(f"{self.path}: in use by another run") from None

    def _mark(self, marker):
        found = os.path.lexists(self.path)
        if found and os.listdir(self.path):
            raise ToolError(f"{self.path}: was not made by this tool (no {MARKER} in it): name "
                            "another folder with --work-dir, or move it away")
        if not found:
            self._make()
        with open(marker, "x", encoding="ascii") as file:
            file.write(_TEXT + (_FOUND if found else ""))
        fsync_dir(self.path)

    def _make(self):
        """Only the last folder: the others of a path may be on a disk that is not mounted."""
        parent = os.path.dirname(os.path.abspath(self.path))
        if not os.path.isdir(parent):
            raise ToolError(f"{parent}: there is no such folder; make it first")
        os.mkdir(self.path)

    def remove_subfolder(self, name):
        """Removes the tool's files in one of its subfolders, and the subfolder if it is then empty.
        """
        path = os.path.join(self.path, name)
        if os.path.islink(path) or not os.path.isdir(path):
            return
        _remove_files(path, _SUBFOLDERS[name])
        if not os.listdir(path):
            os.rmdir(path)

    def claim_output(self, path):
        """Creates the file `path`, to which the output is written before it is renamed. A file left
        by an earlier run of this tool is removed; any other existing file is an error."""
        note = os.path.join(self.path, "output")
        wanted = os.path.abspath(path)
        if os.path.exists(note):
            with open(note, encoding="utf-8", errors="surrogateescape") as file:
                before = file.read()
            if os.path.isfile(before) and not os.path.islink(before):
                os.remove(before)
        refuse_taken(path)
        with open(note, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(wanted)
        fsync_dir(self.path)
        return open(path, "xb")

    def release_output(self):
        """It has its final name: a later file with the temporary name is not ours."""
        os.remove(os.path.join(self.path, "output"))

    def remove(self):
        """Removes what the tool has made, and the folder unless it was there before or has files of
        others."""
        for name in _SUBFOLDERS:
            self.remove_subfolder(name)
        _remove_files(self.path, _FILES)
        if os.listdir(self.path) != [MARKER]:
            return
        marker = os.path.join(self.path, MARKER)
        with open(marker, encoding="ascii", errors="replace") as file:
            found = file.read().endswith(_FOUND)
        os.remove(marker)
        if not found and not os.path.islink(self.path):
            os.rmdir(self.path)


def refuse_taken(path):
    """A temporary name beside an output may be that of a user's file."""
    if os.path.lexists(path):
        size = os.lstat(path).st_size
        raise ToolError(f"{path} ({size:,} bytes) is where this tool writes before the file is "
                        "complete: left by a run that was killed, or yours; move it away")


def _remove_files(folder, names):
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if names.match(name) and (os.path.islink(path) or os.path.isfile(path)):
            os.remove(path)
