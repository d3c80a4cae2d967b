"""Generated regtest chains (test/sim): made once per process, copied or linked for each node."""

import functools
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from framework import program

# The assume-valid gate requires two weeks of work above the terminal block.
TAIL = 2100


@functools.lru_cache(maxsize=None)
def _scratch():
    return tempfile.TemporaryDirectory(prefix="ibd-generated-")


class GeneratedChain:
    """Block files, and the true hints in every format, of `outputs` outputs and a bare tail."""

    def __init__(self, folder, options):
        self.folder = pathlib.Path(folder)
        self.text = self.folder / "unspent.txt"
        self.container = self.folder / "chain.hints"
        self.bitmap = self.folder / "chain.bitmap"
        out = subprocess.run([program("ibd-chaingen"), "--out", str(self.folder),
                              "--hints", str(self.text), "--container", str(self.container),
                              "--bitmap", str(self.bitmap), *options],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        self.facts = json.loads(out.stdout)
        self.height, self.tip = self.facts["height"], self.facts["tip"]
        self.terminal_height = self.facts["hints_height"]
        self.terminal_hash = self.facts["hints_hash"]

    @property
    def blocks(self):
        return self.folder / "regtest" / "blocks"

    def place(self, node, copied=False):
        """Makes hard links, so that a chain of any size takes no disk space. The node appends to
        block files only if it is given new blocks; for such a node they must be `copied`."""
        node.blocks_dir.mkdir(parents=True)
        for source in self.blocks.iterdir():
            (shutil.copy if copied else os.link)(source, node.blocks_dir / source.name)
        return node

    @property
    def trust(self):
        """The options with which the terminal block is below the assumed-valid one."""
        return [f"-assumevalid={self.terminal_hash}", "-minimumchainwork=0"]

    @property
    def to_tip(self):
        return f"-stopatheight={self.height}"


@functools.lru_cache(maxsize=None)
def chain(*options):
    folder = pathlib.Path(_scratch().name, str(len(os.listdir(_scratch().name))))
    folder.mkdir()
    return GeneratedChain(folder, options)


def small_chain(outputs=6000):
    return chain("--outputs", str(outputs), "--outputs-per-block", "40", "--tail", str(TAIL),
                 "--seed", "7")


def medium_chain(*more):
    """Long enough that a phase of the join can be seen from outside."""
    return chain("--outputs", "250000", "--tail", str(TAIL), "--seed", "5", "--shuffle", "10",
                 *more)


def large_chain():
    """At least two million outputs: scattered, obfuscated files with stale branches."""
    outputs = os.environ.get("IBD_OUTPUTS", "2100000")
    return chain("--outputs", outputs, "--tail", str(TAIL), "--shuffle", "20", "--xor", "--stale",
                 "--torn")
