"""Files that are not the node's, or not what it expects: links, pipes, folders and devices where a
file should be, names that only look like its own, options with empty and odd values. The node says
the fault in one line, or continues; it never waits forever and ignores no signal."""

import os
import re
import shutil
import signal
import subprocess
import threading

from framework import NO_UNDO, FunctionalTest, program, tree_digest, wait_until
from generated import small_chain
from regtest_chain import Chain

REINDEX = "Please restart with -reindex or -reindex-chainstate to recover.\n"
LOG_KEPT, LOG_SHRUNK_ABOVE = 10_000_000, 11_000_000  # bytes
PATH_ARGUMENT = re.compile(r"^  (-\w+)=<(?:file|dir|loc)>$")
BOOSTER_NUMBER = re.compile(r"^  (-ibdbooster\w+)=<n>$")
# A wrong name must not be reported as a machine failure or a bug.
NOT_AN_ANSWER = ("out of memory", "the system refuses", "unexpected exception", "CHECK",
                 "fatal internal error", "filesystem error")


def options_of_help(pattern):
    text = subprocess.run([program("bitcoind"), "-help-debug"], capture_output=True, text=True,
                          check=True).stdout
    return [found.group(1) for found in map(pattern.match, text.splitlines()) if found]


def put(kind, path):
    """Something of that kind at `path`."""
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "dead link":
        path.symlink_to(path.parent / "nowhere" / "gone")
    return path


class ForeignFiles(FunctionalTest):
    def assert_answers(self, node, *args):
        """Either one error, which is returned, or a start that works and stops on request."""
        node.launch(*args)
        try:
            wait_until(lambda: not node.running or self.serves(node), f"{args}", timeout=120)
            if not node.running:
                status, errors = node.wait()
                self.assertIn(status, (0, 1), errors)
                for text in NOT_AN_ANSWER:
                    self.assertNotIn(text, errors)
                told = [line for line in errors.splitlines() if line.startswith("Error")]
                self.assertEqual(len(told), status, errors)
                return errors
            node.process.send_signal(signal.SIGTERM)
            status, errors = node.wait()
            self.assertEqual(status, 0, errors)
            return ""
        finally:
            node.kill()

    @staticmethod
    def serves(node):
        """In the log, because there may be no cookie. An import may wait for a pipe while RPC is
        served."""
        log = node.errors_and_log()
        return "init message: Done loading" in log or "Importing blocks file" in log


class Options(ForeignFiles):
    def setUp(self):
        super().setUp()
        self.shown = self.dir / "shown"

    def quick(self):
        """A node that logs to its console, because its log file may be the tested file."""
        node = self.node()
        node.args += ["-printtoconsole=1", "-nolisten"]
        output = open(self.shown, "w+")
        self.addCleanup(output.close)

        def launch(*args):
            output.truncate(0)
            output.seek(0)
            node._errors = open(self.dir / "errors", "w+")
            words = [word for word in node.command(*args) if word != "-printtoconsole=0"]
            node.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output,
                                            stderr=node._errors)
            return node
        node.launch = launch
        node.errors_and_log = self.shown.read_text
        return node

    def test_paths_of_every_kind(self):
        names = options_of_help(PATH_ARGUMENT)
        self.assertLessEqual({"-conf", "-loadblock", "-ibdboosterfile", "-ibdboosterdir", "-asmap",
                              "-blocksdir", "-chainstatedir", "-indexdir", "-datadir",
                              "-debuglogfile", "-pid", "-settings", "-rpccookiefile"}, set(names))
        for name in names:
            for kind in ("empty", "missing", "pipe", "folder", "dead link"):
                with self.subTest(name, kind=kind):
                    path = "" if kind == "empty" else put(kind, self.dir / "odd")
                    said = self.assert_answers(self.quick(), f"{name}={path}")
                    if said and name.startswith("-ibdbooster"):
                        self.assertIn(name, said)

    def test_numbers_of_the_booster(self):
        names = options_of_help(BOOSTER_NUMBER)
        self.assertLessEqual({"-ibdboosterthreads", "-ibdboostermem", "-ibdboosterwait",
                              "-ibdboosterleast"}, set(names))
        node = self.node()
        for name in names:
            for value in ("abc", "", "3x", "99999999999999999999"):
                with self.subTest(name, value=value):
                    self.assert_refused(node, f"{name}={value}", saying=f"{name}={value}: must be")
        self.assert_refused(node, "-servehints=abc", saying="-servehints=abc: must be")

    def test_combinations_without_effect(self):
        node = self.node()
        self.assert_refused(node, "-ibdboosterhash=" + "00" * 32,
                            saying="-ibdboosterhash without -ibdboosterfile")
        made = small_chain()
        made.place(node)
        self.assertEqual(node.run("-reindex", f"-ibdboosterfile={made.container}", *made.trust,
                                  NO_UNDO, "-stopatheight=1"), (0, ""))
        self.assertIn("-stopatheight=1 is below the terminal block at height "
                      f"{made.terminal_height}", node.log_text)

    def test_a_missing_file_is_told_with_its_option(self):
        node = self.node()
        (node.datadir / "bitcoin.conf").write_text("[regtest]\nibdboosterfile=/none/x.hints\n")
        self.assert_refused(node, saying="-ibdboosterfile: cannot open for reading "
                                         "'/none/x.hints'")

    def test_configuration_from_a_pipe(self):
        node = self.node()
        node.launch("-conf=/dev/stdin", "-stopafterblockimport",
                    prefix=["sh", "-c", 'echo uacomment=piped | "$@"', "sh"])
        self.assertEqual(node.wait(), (0, ""))
        self.assertIn('Config file arg: uacomment="piped"', node.log_text)


class Log(FunctionalTest):
    def long_log(self, path):
        line = b"a line of a run before\n"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(line * (LOG_SHRUNK_ABOVE // len(line) + 1))
        path.chmod(0o640)
        return path

    def test_is_shortened_in_place(self):
        node = self.node()
        real = self.long_log(self.dir / "logs" / "bitcoin.log")
        second = self.dir / "second.log"
        os.link(real, second)
        node.net_dir.mkdir()
        (node.net_dir / "debug.log").symlink_to(real)
        self.assertEqual(node.run("-stopafterblockimport"), (0, ""))
        self.assertTrue((node.net_dir / "debug.log").is_symlink())
        self.assertLess(real.stat().st_size, LOG_SHRUNK_ABOVE)
        self.assertGreater(real.stat().st_size, LOG_KEPT - 100)
        self.assertEqual(real.stat().st_ino, second.stat().st_ino)
        self.assertEqual(real.stat().st_mode & 0o777, 0o640)
        self.assertEqual(list(real.parent.iterdir()), [real])
        self.assertTrue(real.read_bytes().startswith(b"a line"))

    def test_settings_stay_where_a_link_leads(self):
        node = self.node().start().stop()
        real = self.dir / "mine.json"
        (node.net_dir / "settings.json").rename(real)
        (node.net_dir / "settings.json").symlink_to(real)
        real.write_text('{"uacomment": "linked"}')
        self.assertEqual(node.run("-stopafterblockimport"), (0, ""))
        self.assertTrue((node.net_dir / "settings.json").is_symlink())
        self.assertIn("_warning_", real.read_text())


class BlockFiles(FunctionalTest):
    def filled(self):
        made = small_chain()
        node = made.place(self.node("regtest", *made.trust, NO_UNDO), copied=True)
        self.assertEqual(node.run("-reindex", "-stopafterblockimport"), (0, ""))
        return node, made

    def test_names_that_only_look_like_ours(self):
        node, made = self.filled()
        blocks = node.blocks_dir
        (blocks / "blk000001.dat").touch()
        (blocks / "blk1.dat").touch()
        put("folder", blocks / "blk00099.dat")
        put("dead link", blocks / "blk00098.dat")
        put("pipe", blocks / "blk00097.dat")
        put("folder", blocks / "rev00099.dat")
        for more in ([], ["-ibdbooster"], [f"-ibdboosterfile={made.container}"]):
            with self.subTest(more):
                (node.net_dir / "debug.log").unlink()
                node.start("-reindex", *more).wait_for_tip(made.tip).stop()
                for name in ("blk000001.dat (no name", "blk1.dat (no name",
                             "blk00099.dat (a folder)", "blk00098.dat (a link to nothing)",
                             "blk00097.dat (a pipe)", "rev00099.dat (a folder)"):
                    self.assertIn(name, node.log_text)
        self.assertTrue((blocks / "blk000001.dat").exists())
        # Files after a link that leads nowhere would be removed, so nothing is begun.
        self.assert_refused(node, "-reindex", "-prune=550",
                            saying=f"'{blocks / 'blk00098.dat'}' is a link to nothing")
        self.assertEqual(node.start().rpc("getbestblockhash"), made.tip)
        node.stop()

    def test_a_name_that_is_written_to_next(self):
        """Whatever has it is named when the node starts, not when the file before it is full."""
        node, made = self.filled()
        blocks = node.blocks_dir
        undo = (blocks / "rev00000.dat").read_bytes()
        for name in ("blk00001.dat", "rev00001.dat", "rev00000.dat"):
            path = blocks / name
            for kind in ("folder", "pipe", "lost link"):
                path.unlink(missing_ok=True)
                if kind == "lost link":
                    path.symlink_to(self.dir / "unmounted" / name)
                else:
                    put(kind, path)
                for args in ([], ["-reindex"], ["-reindex-chainstate"]):
                    with self.subTest(name=name, kind=kind, args=args):
                        self.assert_refused(node, *args, saying=f"'{path}' is a")
                        self.assertIn("and the node is to write there", node.errors)
                path.rmdir() if kind == "folder" else path.unlink()
            # If a link leads to an existing folder, the file is created in it.
            path.symlink_to(self.dir / name)
            node.start("-checklevel=0").stop()
            path.unlink()
        (blocks / "rev00000.dat").write_bytes(undo)
        self.assertEqual(node.start().rpc("getbestblockhash"), made.tip)
        node.stop()

    def test_pruning_removes_only_ours(self):
        node, _ = self.filled()
        blocks = node.blocks_dir
        others = [blocks / "blk000007.dat", blocks / "rev000007.dat"]
        for path in others:
            path.write_text("theirs")
        put("folder", blocks / "rev00077.dat")
        ours = blocks / "blk00042.dat"
        ours.touch()
        self.assertEqual(node.run("-reindex", "-prune=550", "-stopafterblockimport"), (0, ""))
        self.assertFalse(ours.exists())
        for path in [*others, blocks / "rev00077.dat"]:
            self.assertTrue(path.exists())

    def test_a_file_in_a_snapshot_folder(self):
        """Core's text, then the folder and the file; nothing is removed before it is moved."""
        node, made = self.filled()
        folder = node.net_dir / "chainstate_snapshot"
        shutil.copytree(node.net_dir / "chainstate", folder)
        (folder / "base_blockhash").write_bytes(bytes.fromhex(made.tip)[::-1])
        (folder / "mine.txt").write_text("mine")
        before = tree_digest(node.net_dir, ignore=("debug.log", "settings.json"))
        for option in ("-reindex-chainstate", "-reindex"):
            error = self.assert_refused(node, option,
                                        saying="Couldn't remove snapshot chainstate. "
                                        f"'{folder}' also holds 'mine.txt'")
            self.assertIn("move it out of the folder", error)
            self.assertEqual(tree_digest(node.net_dir, ignore=("debug.log", "settings.json")),
                             before)
        (folder / "mine.txt").rename(self.dir / "mine.txt")
        node.start("-reindex-chainstate").wait_for_tip(made.tip).stop()
        self.assertFalse(folder.exists())

    def test_what_cannot_be_read_is_found_before_anything_goes(self):
        node, made = self.filled()
        loop = node.blocks_dir / "blk00050.dat"
        loop.symlink_to(loop)
        for more in ([], ["-ibdbooster"]):
            self.assert_refused(node, "-reindex", *more, saying=str(loop))
        loop.unlink()
        self.assertEqual(node.start().rpc("getbestblockhash"), made.tip)
        node.stop()

    def test_what_the_index_knows_is_looked_at(self):
        node, made = self.filled()
        file = node.blocks_dir / "blk00000.dat"
        whole = file.read_bytes()
        refused = (1, "Error loading block database.\n" + REINDEX)
        file.write_bytes(whole[:len(whole) // 2])
        self.assertEqual(node.run(), refused)
        self.assertIn(f"{file} has {len(whole) // 2} bytes, but the index knows of",
                      node.log_text)
        file.unlink()
        self.assertEqual(node.run(), refused)
        self.assertEqual(node.run("-reindex-chainstate"), refused)
        self.assertIn(f"Unable to open file {file}", node.log_text)
        file.write_bytes(whole)
        self.assertEqual(node.start().rpc("getbestblockhash"), made.tip)
        node.stop()

    def test_what_an_interrupted_first_start_leaves(self):
        """A file with the first block alone needs no index; one with more is not overwritten."""
        node = self.node().start()
        node.stop()

        def lose_index():
            shutil.rmtree(node.blocks_dir / "index")
            shutil.rmtree(node.net_dir / "chainstate")

        lose_index()
        node.start()
        for block in Chain().grow(3).blocks:
            self.assertIsNone(node.rpc("submitblock", block.raw().hex()))
        node.stop()
        lose_index()
        self.assertEqual(node.run(), (1, "Error initializing block database.\n" + REINDEX))
        node.start("-reindex")
        self.assertEqual(node.rpc("getblockcount"), 3)

    def test_missing_undo_data_is_a_warning(self):
        node = self.node().start()
        for block in Chain().grow(3).blocks:
            self.assertIsNone(node.rpc("submitblock", block.raw().hex()))
        node.stop()
        undo = node.blocks_dir / "rev00000.dat"
        undo.rename(self.dir / "kept")
        node.start("-checklevel=0").stop()
        self.assertIn("Undo data is missing, which a reorganisation may need: Unable to open file "
                      f"{undo}", node.log_text)

    def test_a_key_that_a_link_has_lost(self):
        node, made = self.filled()
        key = node.blocks_dir / "xor.dat"
        away = self.dir / "disk" / "xor.dat"
        away.parent.mkdir()
        key.rename(away)
        key.symlink_to(away)
        self.assertEqual(node.start().rpc("getbestblockhash"), made.tip)
        node.stop()
        away.parent.rename(self.dir / "unmounted")
        for args in ([], ["-reindex"], ["-reindex-chainstate"]):
            self.assert_refused(node, *args, saying=f"'{key}' is a symbolic link to '{away}'")
            self.assertTrue(key.is_symlink())
        (self.dir / "unmounted").rename(away.parent)
        node.start("-reindex").wait_for_tip(made.tip).stop()


class Streams(ForeignFiles):
    def test_blocks_from_a_pipe(self):
        made = small_chain()
        node = self.node("regtest", *made.trust)
        file = sorted(made.blocks.glob("blk*.dat"))[0]
        feed = ["sh", "-c", f'cat "{file}" | "$@"', "sh"]
        node.launch("-loadblock=/dev/stdin", prefix=feed)
        node.wait_for_rpc()
        node.wait_for_tip(made.tip).stop()

    def test_a_silent_pipe_does_not_hold_the_node(self):
        node = self.node()
        pipe = put("pipe", self.dir / "pipe")
        node.start(f"-loadblock={pipe}")
        wait_until(lambda: f"Importing blocks file {pipe}" in node.log_text, "the import")
        self.assertEqual(node.rpc("getblockcount"), 0)
        node.process.send_signal(signal.SIGTERM)
        self.assertEqual(node.wait(), (0, ""))
        # Nor one that brings bytes for ever.
        node.start("-loadblock=/dev/zero")
        wait_until(lambda: "Importing blocks file /dev/zero" in node.log_text, "the import")
        node.process.send_signal(signal.SIGTERM)
        self.assertEqual(node.wait(), (0, ""))

    def test_empty_and_missing_block_files(self):
        node = self.node()
        for name in ("", str(self.dir / "none"), str(self.dir)):
            with self.subTest(name):
                self.assertEqual(node.run(f"-loadblock={name}", "-stopafterblockimport"), (0, ""))
                self.assertIn(f"[warning] Could not open blocks file {name}\n", node.log_text)

    def test_snapshot_into_a_pipe(self):
        node = self.node().start()
        for block in Chain().grow(20).blocks:
            self.assertIsNone(node.rpc("submitblock", block.raw().hex()))
        whole = node.rpc("dumptxoutset", str(self.dir / "file.dat"), "latest")
        pipe = put("pipe", self.dir / "pipe.dat")
        read = []
        reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
        reader.start()
        streamed = node.rpc("dumptxoutset", str(pipe), "latest")
        reader.join()
        self.assertEqual(streamed, {**whole, "path": str(pipe)})
        self.assertEqual(read, [(self.dir / "file.dat").read_bytes()])
        self.assertTrue(pipe.is_fifo())
        # Without a reader the call waits, and the node still stops.
        caller = threading.Thread(target=self.swallow, args=(node, pipe))
        caller.start()
        wait_until(lambda: any(call["method"] == "dumptxoutset" for call in
                               node.rpc("getrpcinfo")["active_commands"]), "the call")
        node.stop()
        caller.join()

    @staticmethod
    def swallow(node, pipe):
        try:
            node.rpc("dumptxoutset", str(pipe), "latest")
        except Exception:  # of whatever kind: the node is gone
            pass

    def test_pipes_among_the_files_of_the_node(self):
        """Each file that a start looks for by name, replaced by a pipe without a writer."""
        made = small_chain()
        node = made.place(self.node("regtest", *made.trust, NO_UNDO), copied=True)
        node.errors_and_log = lambda: node.log_text
        self.assertEqual(node.run("-reindex", "-stopafterblockimport"), (0, ""))
        net, work = node.net_dir, node.net_dir / "ibdbooster"
        rebuild = ["-reindex-chainstate", f"-ibdboosterfile={made.container}"]
        auto = ["-reindex-chainstate", "-ibdboosterfile=auto", "-ibdboosterwait=0"]
        full = ["-reindex-chainstate", "-ibdbooster", "-ibdboosterfullvalidation"]
        cases = [(net / name, [[]]) for name in
                 ("settings.json", "peers.dat", "anchors.dat", "banlist.json", "bitcoind.pid",
                  ".cookie", ".lock", "onion_v3_private_key", "i2p_private_key",
                  "../bitcoin.conf", "blocks/rev00000.dat", "blocks/index/CURRENT",
                  "blocks/index/LOG")]
        cases += [(net / name, [[], rebuild]) for name in
                  ("chainstate/CURRENT", "blocks/xor.dat", "blocks/blk00000.dat",
                   "blocks/.lock")]
        cases += [(net / "hints" / name, [auto]) for name in ("x.hints", "kept-1-00.hints")]
        cases += [(work / name, [[], rebuild, full]) for name in
                  ("checkpoint.dat", "join.dat", "badhints.txt", "suspecthints.txt",
                   "fullvalidation.txt", ".lock", "run00000.dat")]
        for file, starts in cases:
            for start in starts:
                with self.subTest(str(file.relative_to(net)), start=start):
                    self.start_with_a_pipe(node, file, start)
        node.start("-reindex-chainstate").wait_for_tip(made.tip).stop()

    def start_with_a_pipe(self, node, file, start):
        kept = self.dir / "kept"
        file.parent.mkdir(exist_ok=True)
        if file.exists():
            file.rename(kept)
        os.mkfifo(file)
        (node.net_dir / "debug.log").unlink(missing_ok=True)
        try:
            self.assert_answers(node, *start)
        finally:
            if file.is_fifo():
                file.unlink()
            if kept.exists():  # unless the node has made another
                kept.unlink() if file.exists() else kept.rename(file)

    def test_a_pipe_as_hints(self):
        node, pipe = self.node(), put("pipe", self.dir / "pipe")
        for more in ([], ["-ibdboosterhash=" + "0" * 64]):
            self.assert_refused(node, f"-ibdboosterfile={pipe}", *more,
                                saying=f"-ibdboosterfile: cannot use '{pipe}'")


if __name__ == "__main__":
    import unittest
    unittest.main()
