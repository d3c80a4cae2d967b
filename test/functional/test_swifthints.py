"""-ibdboosterfile accepts a swifthints file when the blocks are stored: the node converts it to a
container once, and then uses that like any other container."""

import hashlib
import shutil

from framework import FunctionalTest, coins, hints_tool, tree_digest
from generated import chain, small_chain

CONVERTS = "converting the swifthints"
SUCCESS = "*** IBD Booster: SHA256 check at block height {} succeeded. ***"


class Swifthints(FunctionalTest):
    def setUp(self):
        super().setUp()
        self.made = small_chain()
        self.file = self.dir / "swift"
        self.convert(self.made, self.file)

    def convert(self, made, out, bitmap=None):
        hints_tool("convert", "--force", "--network=regtest", "--format=swifthints",
                   f"--blocks={made.blocks}", bitmap or made.bitmap, out)

    def synced(self):
        """A node that has validated the chain serially."""
        node = self.made.place(self.node())
        self.assertEqual(node.run("-reindex", "-ibdbooster=0", self.made.to_tip), (0, ""))
        node.start()
        self.coins = coins(node)
        node.stop()
        return node

    def rebuild(self, node, file, *args):
        """The log of a rebuild with the file, which ends with the right coins."""
        (node.net_dir / "debug.log").unlink()
        status, errors = node.run(f"-ibdboosterfile={file}", *(args or ["-reindex-chainstate"]),
                                  *self.made.trust, self.made.to_tip)
        self.assertEqual((status, errors), (0, ""))
        log = node.log_text
        node.start()
        self.assertEqual(coins(node), self.coins)
        node.stop()
        return log

    def assert_boosted(self, log, converted):
        self.assertIn(SUCCESS.format(self.made.terminal_height), log)
        self.assertEqual(CONVERTS in log, converted)

    def container(self, node):
        digest = hashlib.sha256(self.file.read_bytes()).hexdigest()
        return node.net_dir / "hints" / f"swifthints-{digest}.hints"

    def test_converted_once(self):
        node = self.synced()
        self.assert_boosted(self.rebuild(node, self.file), True)
        wanted = self.dir / "container"
        hints_tool("convert", "--network=regtest", "--from=swifthints",
                   f"--blocks={self.made.blocks}", self.file, wanted)
        made = self.container(node)
        self.assertEqual(made.read_bytes(), wanted.read_bytes())
        self.assert_boosted(self.rebuild(node, self.file), False)
        self.assert_boosted(self.rebuild(node, self.file, "-reindex"), False)
        self.assertFalse(list(node.net_dir.glob("hints/*.part*")))

    def test_with_a_new_index(self):
        node = self.synced()
        log = self.rebuild(node, self.file, "-reindex")
        self.assert_boosted(log, True)

    def test_what_is_half_made_or_damaged_is_made_anew(self):
        node = self.synced()
        made = self.container(node)
        made.parent.mkdir(exist_ok=True)
        for part in (".part", ".part.gaps"):
            made.with_name(made.name + part).write_bytes(b"half")
        self.assert_boosted(self.rebuild(node, self.file), True)
        good = made.read_bytes()
        made.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
        log = self.rebuild(node, self.file)
        self.assertIn("to be made anew", log)
        self.assert_boosted(log, True)
        self.assertEqual(made.read_bytes(), good)

    def test_found_in_the_folder(self):
        node = self.synced()
        folder = node.net_dir / "hints"
        folder.mkdir(exist_ok=True)
        shutil.copy(self.file, folder / "mine")
        self.assert_boosted(self.rebuild(node, "auto"), True)
        self.assert_boosted(self.rebuild(node, "auto"), False)

    def assert_file_refused(self, node):
        """In one line that names it, and the chainstate stays."""
        before = tree_digest(node.net_dir / "chainstate")
        errors = self.assert_refused(node, "-reindex-chainstate", f"-ibdboosterfile={self.file}",
                                     *self.made.trust, saying="made from other blocks")
        self.assertIn(str(self.file), errors)
        self.assertEqual(tree_digest(node.net_dir / "chainstate"), before)

    def test_damaged(self):
        node = self.synced()
        bytes_ = bytearray(self.file.read_bytes())
        bytes_[-1] ^= 1
        self.file.write_bytes(bytes_)
        self.assert_file_refused(node)
        self.assertEqual(list(node.net_dir.glob("hints/*")), [])
        # In a folder it is skipped.
        folder = node.net_dir / "hints"
        folder.mkdir(exist_ok=True)
        shutil.copy(self.file, folder / "mine")
        log = self.rebuild(node, "auto", "-reindex-chainstate", "-connect=0")
        self.assertIn("left out: hints file", log)
        self.assertNotIn("*** IBD Booster", log)

    def test_of_another_chain(self):
        node = self.synced()
        other = chain("--outputs", "6000", "--outputs-per-block", "40", "--tail", "2100",
                      "--seed", "8")
        self.convert(other, self.file)
        self.assert_file_refused(node)

    def test_wrong(self):
        node = self.synced()
        bad = bytearray(self.made.bitmap.read_bytes())
        bad[len(bad) // 2] ^= 0x18
        bitmap = self.dir / "bad.bitmap"
        bitmap.write_bytes(bad)
        self.convert(self.made, self.file, bitmap)
        log = self.rebuild(node, self.file)
        self.assertIn(CONVERTS, log)
        self.assertIn("the hints are wrong", log)
