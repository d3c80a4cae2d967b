"""Machines that fail: no permission, a second instance, a full disk. One clear line, a status that
is not zero, and the data on disk is as good as before."""

import contextlib
import http.client
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import interop_env
from framework import (SANITIZED, FunctionalTest, Node, RpcError, coins, tree_digest,
                       wait_until)
from generated import chain
from regtest_chain import COINBASE_MATURITY, Chain, spend

NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


@contextlib.contextmanager
def small_disk(mebibytes):
    """A file system of that size; without the right to mount the test is skipped."""
    with tempfile.TemporaryDirectory(prefix="ibd-disk-") as folder:
        command = ["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "tmpfs", folder]
        mounted = subprocess.run(command, capture_output=True, check=False)
        if mounted.returncode != 0:
            interop_env.unavailable("may not mount a small file system")
        try:
            yield folder
        finally:
            # Even if a node still uses it, for example after a failed test.
            subprocess.run(["umount", "--lazy", folder], check=True)


def fill(path, room):
    """Takes the space of a file system but for `room` bytes, while others write to it."""
    with open(path, "wb") as file:
        free = os.statvfs(path.parent).f_bavail * os.statvfs(path.parent).f_frsize
        while free > room:
            try:
                os.posix_fallocate(file.fileno(), file.tell(), free - room)
                return
            except OSError:
                free -= 64 * 1024


class Permissions(FunctionalTest):
    def as_user(self):
        """Root may write anywhere, so refusals are tested as another user."""
        if os.geteuid() != 0:
            return ()
        if shutil.which("setpriv") is None:
            interop_env.unavailable("root without setpriv")
        os.chmod(self.dir, 0o755)
        return NOBODY

    def test_unwritable_directory(self):
        user = self.as_user()
        node = self.node()
        os.chmod(node.datadir, 0o555)
        error = self.assert_refused(node, prefix=user)
        self.assertIn(str(node.datadir), error)
        self.assertEqual(list(node.datadir.iterdir()), [])

    def test_unwritable_network_directory(self):
        user = self.as_user()
        node = self.node().start().stop()
        before = tree_digest(node.net_dir)
        for path in [node.net_dir, *node.net_dir.rglob("*")]:
            os.chmod(path, 0o555 if path.is_dir() else 0o444)
        error = self.assert_refused(node, prefix=user)
        self.assertIn(str(node.net_dir), error)
        self.assertEqual(tree_digest(node.net_dir), before)

    def test_unwritable_chainstate(self):
        user = self.as_user()
        node = self.node().start().stop()
        if user:
            for path in [node.datadir, *node.datadir.rglob("*")]:
                os.chown(path, 65534, 65534)
        chainstate = node.net_dir / "chainstate"
        before = tree_digest(chainstate)
        for path in [*chainstate.iterdir(), chainstate]:
            os.chmod(path, 0o555 if path.is_dir() else 0o444)
        error = self.assert_refused(node, prefix=user)
        self.assertIn("chainstate", error)
        self.assertEqual(tree_digest(chainstate), before)
        for path in [chainstate, *chainstate.iterdir()]:
            os.chmod(path, 0o755 if path.is_dir() else 0o644)
        node.start(prefix=user).stop()

    def owned(self, user):
        """A node with some blocks whose files are the user's."""
        node = self.node().start()
        for block in Chain().grow(3).blocks:
            self.assertIsNone(node.rpc("submitblock", block.raw().hex()))
        node.stop()
        if user:
            for path in [node.datadir, *node.datadir.rglob("*")]:
                os.chown(path, 65534, 65534)
        return node

    def test_what_reindex_may_not_write(self):
        """It is found before index and chainstate are removed."""
        user = self.as_user()
        node = self.owned(user)
        blocks = node.blocks_dir
        for path in (blocks / "rev00000.dat", blocks / "blk00000.dat", blocks,
                     node.net_dir / "chainstate", blocks / "index"):
            with self.subTest(path.name):
                mode = path.stat().st_mode
                before = [tree_digest(node.net_dir / "chainstate"), tree_digest(blocks)]
                os.chmod(path, mode & ~0o222)
                error = self.assert_refused(node, "-reindex", prefix=user)
                self.assertIn(str(path), error)
                self.assertIn("Nothing was removed", error)
                self.assertEqual(before, [tree_digest(node.net_dir / "chainstate"),
                                          tree_digest(blocks)])
                os.chmod(path, mode)
        node.start(prefix=user)
        self.assertEqual(node.rpc("getblockcount"), 3)
        node.stop()
        node.start("-reindex", prefix=user).wait_for_height(3).stop()

    def test_unreadable_peers(self):
        """As Bitcoin Core: the file counts as absent, and is replaced."""
        user = self.as_user()
        node = self.owned(user)
        peers = node.net_dir / "peers.dat"
        self.assertTrue(peers.exists())
        os.chmod(peers, 0)
        node.start(prefix=user).stop()
        self.assertIn("Creating peers.dat because the file was not found (", node.log_text)
        self.assertGreater(peers.stat().st_size, 0)
        self.assertTrue(peers.stat().st_mode & 0o400)

    def test_directory_is_a_file(self):
        node = self.node()
        node.datadir.rmdir()
        node.datadir.write_text("")
        self.assertIn(str(node.datadir), self.assert_refused(node))

    def test_second_instance(self):
        node = self.node().start()
        second = self.node(datadir=node.datadir)
        error = self.assert_refused(second)
        self.assertIn(str(node.datadir), error)
        self.assertIn("already", error)
        self.assertEqual(node.rpc("getblockcount"), 0)

    def test_port_taken(self):
        node = self.node().start()
        other = self.node()
        other.port = node.port
        self.assert_refused(other, saying="Unable to start HTTP server. See debug log for details.")
        self.assertIn(str(node.port), other.log_text)


@contextlib.contextmanager
def bound(source, folder):
    """`source` is mounted at `folder`; without the right to mount the test is skipped."""
    if subprocess.run(["mount", "--bind", source, folder], check=False).returncode != 0:
        interop_env.unavailable("may not mount a file system")
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


class MountPoint(FunctionalTest):
    """A chainstate that cannot be replaced: this is found before any work is done."""

    READS = ("Join: ", "Booster: folding")  # in the log of a booster

    def setUp(self):
        super().setUp()
        self.made = chain("--outputs", "6000", "--tail", "2100", "--seed", "3")
        self.hints = f"-ibdboosterfile={self.made.container}"

    def placed(self):
        node = self.made.place(self.node())
        chainstate = node.net_dir / "chainstate"
        chainstate.mkdir()
        return node, chainstate

    def assert_left_alone(self, node, saying):
        """The booster fails at once if it was requested; otherwise the node does without it."""
        unasked = ["-ibdboosterleast=5000", *self.made.trust]
        self.assert_requests_refused(node, saying, ["-reindex"])
        self.assert_serial(node, saying, "-reindex", *unasked)
        self.assert_requests_refused(node, saying, ["-reindex-chainstate"])
        self.assert_serial(node, saying, "-reindex-chainstate", *unasked)
        begin = len(node.log_text)
        node.start(self.hints, *self.made.trust).stop()  # there is a chainstate
        self.assertNotIn(saying, node.log_text[begin:])
        for file in (node.net_dir / "chainstate").iterdir():
            file.unlink()
        self.assert_requests_refused(node, saying, [])
        self.assert_serial(node, saying, *unasked)

    def assert_requests_refused(self, node, saying, rebuild):
        for request in (self.hints, "-ibdbooster"):
            self.assert_refused(node, *rebuild, request, *self.made.trust, saying=saying)
            for work in self.READS:
                self.assertNotIn(work, node.log_text)

    def assert_serial(self, node, saying, *args):
        begin = len(node.log_text)
        node.start(*args).wait_for_tip(self.made.tip).stop()
        log = node.log_text[begin:]
        self.assertEqual(len(re.findall(f"{saying}.*Validating serially", log)), 1)
        for work in self.READS:
            self.assertNotIn(work, log)

    def test_disk(self):
        node, chainstate = self.placed()
        with small_disk(64) as disk, bound(disk, chainstate):
            self.assert_left_alone(node, f"'{chainstate}' is a mount point")

    def test_folder_of_the_same_disk(self):
        """The volume of a container, for example."""
        node, chainstate = self.placed()
        volume = self.dir / "volume"
        volume.mkdir()
        with bound(volume, chainstate):
            self.assertEqual(os.stat(chainstate).st_dev, os.stat(node.net_dir).st_dev)
            self.assert_left_alone(node, f"'{chainstate}' is a mount point")

    def test_foreign_folder(self):
        node, chainstate = self.placed()
        (node.net_dir / "chainstate.ibdbooster").mkdir()
        (node.net_dir / "chainstate.ibdbooster" / "mine").touch()
        self.assert_left_alone(node, f"'{chainstate}.ibdbooster' is where the booster would work")

    def test_not_a_mount_point(self):
        """The lines that the other tests do not find."""
        node, _ = self.placed()
        self.assertEqual(node.run("-reindex", "-ibdboosterleast=5000", *self.made.trust,
                                  self.made.to_tip), (0, ""))
        self.assertIn("succeeded. ***", node.log_text)
        self.assertIn(self.READS[0], node.log_text)


class OutOfResources(FunctionalTest):
    """Memory or threads run out: one line, and the next start uses the durable data."""

    def check(self, *options):
        if shutil.which("prlimit") is None:
            interop_env.unavailable("no prlimit")
        if SANITIZED:
            self.skipTest("a sanitizer reserves more addresses than the limit")
        made = chain("--outputs", "6000", "--tail", "2100", "--seed", "3")
        node = made.place(self.node())
        booster = [f"-ibdboosterfile={made.container}", *made.trust]
        error = self.assert_refused(node, "-reindex", *booster, *options,
                                    prefix=("prlimit", f"--as={2 << 30}"))
        self.assertIn(error.strip(), node.log_text)
        self.assertEqual(node.run("-reindex", *booster, made.to_tip)[0], 0)
        self.assertIn("succeeded. ***", node.log_text)
        return error

    def test_memory(self):
        self.assertIn("out of memory", self.check("-ibdboostermem=4096", "-ibdboosterthreads=1"))

    def test_threads(self):
        """Their stacks take 8 MiB of addresses each; the first failure is reported."""
        self.assertRegex(self.check("-ibdboosterthreads=1000"),
                         "out of memory|the system refuses")


class FullDisk(FunctionalTest):
    """The disk fills up while the node works. With enough space again it continues to the right
    result."""
    FREE_AT_START = 64  # MiB; with less than 50 it would not even start

    def setUp(self):
        super().setUp()
        self.made = chain("--outputs", "400000", "--tail", "2100", "--seed", "3")
        whole = self.made.place(self.node())
        self.assertEqual(whole.run("-reindex", self.made.to_tip)[0], 0)
        whole.start()
        self.wanted = coins(whole)
        whole.stop()
        self.size = sum(path.stat().st_size for path in self.made.blocks.iterdir()) // 2**20 + 1

    def assert_one_line(self, status, errors):
        self.assertEqual(status, 1, errors)
        lines = [line for line in errors.strip().splitlines() if not line.startswith("- ")]
        self.assertEqual(len(lines), 1, errors)
        self.assertTrue(errors.startswith("Error: "), errors)

    def filled_up(self, *args, room):
        """Starts with enough space, all but `room` KiB of which is filled at once; returns its
        output.
        """
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(small_disk(self.size + self.FREE_AT_START))
            node = Node(pathlib.Path(folder, "node"))
            stack.callback(node.kill)  # before the disk goes away
            node.blocks_dir.mkdir(parents=True)
            for source in self.made.blocks.iterdir():
                shutil.copy(source, node.blocks_dir)
            node.launch(*args)
            wait_until(lambda: "Using data directory" in node.log_text, "the start")
            filler = pathlib.Path(folder, "filler")
            fill(filler, room * 1024)
            status, errors = self.wait_or_stop(node)
            if status != 0:
                self.assert_one_line(status, errors)
            for source in self.made.blocks.iterdir():
                self.assertTrue((node.blocks_dir / source.name).read_bytes()
                                .startswith(source.read_bytes()))
            # Full at the start already: refused, in one line too.
            if room == 0:
                self.assert_one_line(*node.run(*args))
            filler.unlink()
            subprocess.run(["mount", "-o", f"remount,size={self.size + 512}m", folder], check=True)
            node.start(*args)
            node.wait_for_tip(self.made.tip)
            self.assertEqual(coins(node), self.wanted)
            node.stop()
        return status, errors

    def wait_or_stop(self, node):
        """The end of a node that either fails or arrives at the tip in spite of all."""
        def done():
            if not node.running:
                return True
            try:
                return node.rpc("getbestblockhash") == self.made.tip
            except (OSError, http.client.HTTPException, RpcError, ValueError):
                return False  # ValueError: not JSON, because there was no space for the cookie
        wait_until(done, "an end")
        if node.running:
            node.process.terminate()
        return node.wait()

    def assert_disk_was_named(self, outcomes):
        """A slow, sanitized node may find the disk full before it has written its login."""
        self.assertTrue(any(status == 1 for status, _ in outcomes), outcomes)
        named = "(?i)space|Unable to start HTTP server" if SANITIZED else "(?i)space"
        for status, errors in outcomes:
            if status == 1:
                self.assertRegex(errors, named)

    def test_serial(self):
        self.assert_disk_was_named([self.filled_up("-reindex", room=room)
                                    for room in (0, 200, 1500)])

    def test_booster(self):
        args = ["-reindex", f"-ibdboosterfile={self.made.container}", *self.made.trust]
        self.assert_disk_was_named([self.filled_up(*args, room=room) for room in (0, 200, 1500)])


class NoRoomForUndo(FunctionalTest):
    """There is space for all but the next extension of the undo file: the block whose undo data
    cannot be written is not partly applied to the coins, and connects once there is space."""
    ROOM = int(50.6 * 2**20)  # enough to write coins, not for another MiB of undo data

    def cut_preallocated(self, path):
        """To where the records end, with a few zeros that the last checksum may end in."""
        data = path.read_bytes()
        os.truncate(path, min(len(data), len(data.rstrip(b"\0")) + 8))

    def test_block_connects_later(self):
        chain_ = Chain().grow(COINBASE_MATURITY + 2)
        txid, amount = chain_.coinbase_of(1)
        last = chain_.candidate([spend(txid, 0, amount)])
        whole = self.node().start()
        for block in [*chain_.blocks, last]:
            self.assertIsNone(whole.rpc("submitblock", block.raw().hex()))
        wanted = coins(whole)
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(small_disk(160))
            node = Node(pathlib.Path(folder, "node"))
            stack.callback(node.kill)  # before the disk goes away
            node.start()
            for block in chain_.blocks:
                self.assertIsNone(node.rpc("submitblock", block.raw().hex()))
            node.stop()
            self.cut_preallocated(node.blocks_dir / "rev00000.dat")
            node.start()
            filler = pathlib.Path(folder, "filler")
            fill(filler, self.ROOM)
            with self.assertRaises((RpcError, OSError, http.client.HTTPException)):
                node.rpc("submitblock", last.raw().hex())
            status, errors = node.wait()
            self.assertEqual(status, 1, errors)
            self.assertIn("rev00000.dat: disk space is too low", errors)
            filler.unlink()
            node.start()
            node.wait_for_tip(last.hash())
            self.assertEqual([tip["status"] for tip in node.rpc("getchaintips")], ["active"])
            self.assertEqual(coins(node), wanted)
            node.stop()
            node.start("-reindex-chainstate")
            node.wait_for_tip(last.hash())
            self.assertEqual(coins(node), wanted)
            node.stop()
