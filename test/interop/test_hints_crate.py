"""BIP 456's files beside the published crate: the same bytes for the same hints, and each reads
what the other has written."""

import pathlib
import random
import subprocess
import tempfile
import unittest

from framework import program
from generated import small_chain
from interop_env import built_program

SEED = random.randrange(1 << 32)


def lines_of(blocks):
    """Lines of runs of zeros, of each block's unspent indices."""
    out = []
    for indices in blocks:
        runs, following = [], 0
        for index in indices:
            runs.append(str(index - following))
            following = index + 1
        out.append(",".join(runs) + "\n")
    return "".join(out)


def random_blocks(rng, count):
    for _ in range(count):
        outputs = rng.choice((1, 2, 7, 100, 3000, 60000))
        density = rng.choice((0, 0.0005, 0.06, 0.5, 0.98, 1))
        yield [i for i in range(outputs) if rng.random() < density]


class HintsCrate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.crate = built_program("build_hints_oracle.sh", "IBD_HINTS_ORACLE")

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ibd-interop-")
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def convert(self, source, kind, target, to, *options):
        subprocess.run([program("bitcoin-hints"), "convert", "--network=regtest",
                        f"--from={kind}", f"--format={to}", *options, str(source), str(target)],
                       check=True, stdout=subprocess.DEVNULL)
        return target

    def compare(self, text):
        """Both ways, from lines of runs."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.dir))
        lines = folder / "lines"
        lines.write_text(text)
        ours = self.convert(lines, "gaps", folder / "ours", "bip456-crate")
        theirs = folder / "theirs"
        subprocess.run([self.crate, "write", str(theirs)], check=True, input=text, text=True)
        self.assertEqual(ours.read_bytes(), theirs.read_bytes())
        read = subprocess.run([self.crate, "read", str(ours)], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
        self.assertEqual(read, text)
        back = self.convert(theirs, "bip456-crate", folder / "back", "gaps")
        self.assertEqual(back.read_text(), text)

    def test_random_hints(self):
        rng = random.Random(SEED)
        with self.subTest(seed=SEED):
            self.compare(lines_of(random_blocks(rng, 150)))

    def test_edges(self):
        for name, blocks in {"empty": [[]] * 20, "one": [[0]], "first and far": [[0, 65535]],
                             "all": [list(range(n)) for n in range(1, 70)],
                             "last": [[n] for n in range(300)]}.items():
            with self.subTest(hints=name):
                self.compare(lines_of(blocks))

    def test_a_generated_chain(self):
        made = small_chain()
        lines = self.convert(made.container, "container1", self.dir / "made", "gaps")
        self.compare(lines.read_text())

    def test_what_is_cut_off(self):
        """Neither takes a part for the whole."""
        whole = self.dir / "whole"
        subprocess.run([self.crate, "write", str(whole)], check=True, text=True,
                       input=lines_of(random_blocks(random.Random(SEED), 8)) + "5,5\n")
        data = whole.read_bytes()
        cut = self.dir / "cut"
        for size in range(0, len(data), max(1, len(data) // 40)):
            cut.write_bytes(data[:size])
            theirs = subprocess.run([self.crate, "read", str(cut)], check=False,
                                    capture_output=True)
            ours = subprocess.run([program("bitcoin-hints"), "info", "--from=bip456-crate",
                                   str(cut)], check=False, capture_output=True)
            self.assertNotEqual((theirs.returncode, ours.returncode), (0, 0))
            self.assertNotEqual(ours.returncode, 0, size)
