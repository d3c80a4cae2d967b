"""The phase that a node has reached according to its log. Crash tests kill the node in each phase
and report the phases in which they did."""

import contextlib
import re

# The last of these lines in the log gives the phase. "joined" is followed by the making of the
# hints and, if values are joined, at the same time by the check of blocks against the rules.
LINES = [
    (r"Join: reading \d", "join: reading"),
    (r"Join: joining \d", "join: joining"),
    (r"Join: joining: \d+ partitions in", "join: joined"),
    (r"Join: checking: \d+ blocks in", "join: writing"),
    (r"Join: hints of|Building the chainstate|keep every rule", "starting"),
    (r"Booster: folding \d+ blocks", "folding"),
    (r"Booster: all checks passed", "merging"),
    (r"Booster: chainstate of", "publishing"),
    (r"Undo data: making|IBD Booster: checking every", "undo: starting"),
    (r"Undo: (?:making|checking) .* of pairs", "undo: making"),
    (r"Undo data: first that", "undo: of the last blocks"),
    (r"Undo data: (?:the last|all blocks)|succeeded\. \*\*\*", "connecting"),
]
LINE = re.compile("|".join(f"({pattern})" for pattern, _ in LINES))


def phase_in(log):
    """`log`: of one start."""
    phase = "starting"
    for found in LINE.finditer(log):
        phase = LINES[found.lastindex - 1][1]
    return phase


def tell(phases):
    """Prints how often each was met."""
    for phase, count in sorted(phases.items()):
        print(f"  {phase}: {count}")


class LogTail:
    """A node's log, read on as it grows; `new` has the lines since this object was made."""

    def __init__(self, node):
        self.path, self.size, self.text, self.begin = node.net_dir / "debug.log", 0, "", 0
        self.begin = len(self.read())

    def read(self):
        with contextlib.suppress(FileNotFoundError), open(self.path, "rb") as file:
            file.seek(self.size)
            data = file.read()
            self.size += len(data)
            self.text += data.decode(errors="replace")
        return self.text

    @property
    def new(self):
        return self.read()[self.begin:]
