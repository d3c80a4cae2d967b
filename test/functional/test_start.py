"""A start as Bitcoin Core's: errors and warnings and their words, the files of a new data
directory, where the block index is, commands at the end, and the log."""

import json
import pathlib
import shutil

from framework import FunctionalTest
from regtest_chain import Chain, coinbase, subsidy

REINDEX = "Please restart with -reindex or -reindex-chainstate to recover.\n"


def fill(node, blocks=3):
    for block in Chain().grow(blocks).blocks:
        assert node.rpc("submitblock", block.raw().hex()) is None
    return node


class Refusals(FunctionalTest):
    def assert_says(self, node, text, *args):
        self.assertEqual(node.run(*args), (1, f"Error: {text}\n"))

    def test_whole_texts(self):
        node = self.node()
        none = self.dir / "none"
        for option, text in (
                ("-nosuchoption", "Error parsing command line arguments: Invalid parameter "
                                  "-nosuchoption"),
                ("-includeconf=a", 'Error parsing command line arguments: -includeconf cannot be '
                                   'used from commandline; -includeconf="a"'),
                ("-signet", "Invalid combination of -regtest, -signet, -testnet, -testnet4 and "
                            "-chain. Can use at most one."),
                ("-chain=x", "Unknown chain x."),
                ("word", "Command line contains unexpected token 'word', see bitcoind -h for a "
                         "list of options."),
                (f"-blocksdir={none}", f'Specified blocks directory "{none}" does not exist.'),
                (f"-datadir={none}", f'Specified data directory "{none}" does not exist.'),
                (f"-conf={none}", "Error reading configuration file: specified config file "
                                  f'"{none}" could not be opened.'),
                ("-mocktime=4294967296", "-mocktime must be at most 4294967295"),
                ("-maxmempool=1", "-maxmempool must be at least 5 MB"),
                ("-maxmempool=-9223372036855", "-maxmempool must be at least 5 MB"),
                ("-maxuploadtarget=x", "Unable to parse -maxuploadtarget: 'x'"),
                ("-proxy=host.invalid", "Invalid -proxy address or hostname: 'host.invalid'"),
                ("-onlynet=foo", "Unknown network specified in -onlynet: 'foo'"),
                ("-pid=/none/pid",
                 "Unable to create the PID file '/none/pid': No such file or directory (2)"),
                ("-blockcompression=x", "-blockcompression=x: must be 0 to 19"),
                ("-uacomment=(", "User Agent comment (() contains unsafe characters."),
                ("-vbparams=x:1:2", "Invalid deployment (x)")):
            with self.subTest(option):
                self.assert_says(node, text, option)
        # A refused start says so in the log if that was open by then.
        self.assertIn("[error] -maxmempool must be at least 5 MB", node.log_text)

    def test_configuration_files(self):
        node = self.node()
        conf = node.datadir / "bitcoin.conf"
        conf.write_text("[regtest]\nserver\n")
        self.assert_says(node, "Error reading configuration file: parse error on line 2: server")
        conf.write_text("rpcport=1\naddnode=a\n[regtest]\nrpcbind=127.0.0.1\n")
        # The port is on the command line as well, so it has an effect.
        self.assert_says(node, "Config setting for -addnode only applied on regtest network when "
                               "in [regtest] section.\n")
        conf.write_text("includeconf=gone.conf\n")
        self.assert_says(node, "Error reading configuration file: Failed to include configuration "
                               "file gone.conf")

    def test_settings_file(self):
        node = self.node().start().stop()
        path = node.net_dir / "settings.json"
        path.write_text('{"dbcache": 5, "dbcache": 6}')
        self.assert_says(node, "Settings file could not be read:\n- Found duplicate key dbcache in "
                               f"settings file {path}")
        for value in ({"a": 1}, [[1]], [None]):
            path.write_text(json.dumps({"uacomment": value}))
            self.assert_says(node, f"Settings file {path}: "
                                   f"{json.dumps(value, separators=(',', ':'))} is no value for "
                                   "uacomment")
        path.write_text('{"signet": true}')
        self.assertEqual(node.run()[0], 1)

    def test_oddities_are_told(self):
        node = self.node()
        conf = node.datadir / "bitcoin.conf"
        conf.write_text("nonsense=1\n[nowhere]\n")
        self.assertEqual(node.run("-stopafterblockimport", "-checkpoints=0"), (
            0, "Warning: Option '-checkpoints' is set but checkpoints were removed. This option "
               f"has no effect.\nWarning: {conf}:2 Section [nowhere] is not recognized.\n\n"))
        self.assertIn("[warning] Ignoring unknown configuration value nonsense", node.log_text)

    def test_blocks_file_that_is_not_there(self):
        node, none = self.node(), self.dir / "none.dat"
        self.assertEqual(node.run(f"-loadblock={none}", "-stopafterblockimport"), (0, ""))
        self.assertIn(f"[warning] Could not open blocks file {none}", node.log_text)


class Files(FunctionalTest):
    def test_warns_of_a_disk_that_cannot_hold_the_chain(self):
        mebibyte, most = 1 << 20, 856 << 30
        for chain, options, needed, size in (("main", (), most, 856),
                                             ("main", ("-prune=550",), 550 * mebibyte, 856),
                                             ("regtest", (), 0, 0)):
            node = self.node(chain).start("-dnsseed=0", "-fixedseeds=0", *options)
            free = shutil.disk_usage(node.datadir).free
            node.rpc("stop")
            status, errors = node.wait()
            warning = (f'Warning: Disk space for "{node.blocks_dir}" may not accommodate the block '
                       f"files. Approximately {size} GB of data will be stored in this directory.")
            self.assertEqual((status, warning in errors), (0, free < needed + 50 * mebibyte))

    def test_new_data_directory(self):
        node = self.node().start("-dbcache=5").stop()
        self.assertEqual(list((node.net_dir / "wallets").iterdir()), [])
        settings = json.loads((node.net_dir / "settings.json").read_text())
        self.assertEqual(list(settings), ["_warning_"])
        folders = {path.name for path in node.net_dir.iterdir() if path.is_dir()}
        self.assertEqual(folders, {"blocks", "chainstate", "wallets"})
        # A setting that a program wrote there is kept and used.
        (node.net_dir / "settings.json").write_text('{"stopafterblockimport": true, "x": 1}')
        self.assertEqual(node.run(), (0, ""))
        self.assertEqual(json.loads((node.net_dir / "settings.json").read_text())["x"], 1)
        self.assertIn("Setting file arg: stopafterblockimport = true", node.log_text)
        shutil.rmtree(node.net_dir)
        self.assertEqual(node.run("-nosettings", "-stopafterblockimport"), (0, ""))
        self.assertFalse((node.net_dir / "settings.json").exists())

    def test_index_stays_in_the_data_directory(self):
        node = fill(self.node().start()).stop()
        elsewhere = self.dir / "elsewhere"
        theirs = elsewhere / "regtest" / "blocks"
        theirs.mkdir(parents=True)
        # As Core lays it out with -blocksdir.
        index_only = node.blocks_dir
        for path in index_only.iterdir():
            if path.name != "index":
                path.rename(theirs / path.name)
        node.args.append(f"-blocksdir={elsewhere}")
        self.assertEqual(node.start().rpc("getblockcount"), 3)
        node.stop()
        self.assertFalse((theirs / "index").exists())
        self.assertEqual([path.name for path in index_only.iterdir()], ["index"])
        # As this program did up to version 0.1: the index is moved.
        (index_only / "index").rename(theirs / "index")
        self.assertEqual(node.start().rpc("getblockcount"), 3)
        node.stop()
        self.assertFalse((theirs / "index").exists())
        self.assertIn(f"The block index was moved from {theirs / 'index'} to", node.log_text)

    def test_lost_index(self):
        node = fill(self.node().start()).stop()
        shutil.rmtree(node.blocks_dir / "index")
        # A question to the user stands without "Error:", as with Core.
        self.assertEqual(node.run(), (1, "Error initializing block database.\n" + REINDEX))
        node.start("-test=reindex_after_failure_noninteractive_yes")
        node.wait_for_height(3).stop()

    def test_damaged_databases(self):
        for folder, what in (("chainstate", "coins"), ("blocks/index", "block")):
            node = self.node().start().stop()
            (node.net_dir / folder / "CURRENT").write_text("no name of a file")
            self.assertEqual(node.run(), (1, f"Error opening {what} database.\n" + REINDEX))
            self.assertIn(f"[error] database {node.net_dir / folder}: LevelDB error: Corruption",
                          node.log_text)
            node.start("-reindex").stop()

    def test_included_file_chooses_the_network(self):
        node = self.node("signet")
        (node.datadir / "bitcoin.conf").write_text("includeconf=net.conf\n")
        (node.datadir / "net.conf").write_text("signet=1\n")
        command = node.command
        node.command = lambda *args: [word for word in command(*args) if "-chain=" not in word]
        self.assertEqual(node.run("-stopafterblockimport"), (0, ""))
        self.assertIn("Included configuration file net.conf", node.log_text)


class Life(FunctionalTest):
    def test_end_waits_for_commands(self):
        one, two = self.dir / "one", self.dir / "two"
        node = self.node("regtest", f"-shutdownnotify=sleep 1; touch {one}",
                         f"-shutdownnotify=touch {two}", "-shutdownnotify=exit 3")
        node.start().stop()
        self.assertTrue(one.exists() and two.exists())
        self.assertIn("runCommand error: system(exit 3) returned 768", node.log_text)

    def test_bip34_from_genesis_on(self):
        node = fill(self.node("regtest", "-testactivationheight=bip34@0").start())
        self.assertEqual(node.rpc("getblockcount"), 3)
        node.stop()

    def test_compaction(self):
        node = fill(self.node().start())
        node.stop()
        node.start("-forcecompactdb")
        for folder in ("blocks/index", "chainstate"):
            for line in ("Starting", "Finished"):
                self.assertEqual(node.log_text.count(
                    f"{line} database compaction of {node.net_dir / folder}\n"), 1)
        self.assertEqual(node.rpc("getblockcount"), 3)
        node.stop()

    def test_no_blocks(self):
        node = self.node("signet").start("-listen=0", "-connect=0")
        self.assertEqual(node.rpc("getblockchaininfo")["warnings"], [])
        node.stop()
        self.assertNotIn("without effect", node.log_text)

    def test_user_agent(self):
        node = self.node().start("-uacomment=one", "-uacomment=two 2")
        self.assertTrue(node.rpc("getnetworkinfo")["subversion"].endswith("(one; two 2)/"))
        node.stop()

    def test_invalid_block_in_the_log(self):
        node, chain = self.node().start("-checklevel=3"), Chain()
        for block in chain.grow(2).blocks:
            self.assertIsNone(node.rpc("submitblock", block.raw().hex()))
        bad = chain.candidate()
        bad.txs[0] = coinbase(1000, subsidy(3))
        bad = bad.mine()
        self.assertEqual(node.rpc("submitblock", bad.raw().hex()), "bad-cb-height")
        node.stop().start().stop()
        for part in ("Block validation error: bad-cb-height",
                     f"InvalidChainFound: invalid block={bad.hash()} height=3 log2_work=",
                     "InvalidChainFound: current best=", "Loaded best chain: hashBestChain=",
                     "Verification: checked last 2 blocks at level 3",
                     "Verification: no coin database inconsistencies"):
            self.assertIn(part, node.log_text)

    def test_threads_that_read_coins_ahead(self):
        for option, count in (("", 8), ("-prevoutfetchthreads=3", 3),
                              ("-prevoutfetchthreads=17", 16), ("-prevoutfetchthreads=0", 0),
                              ("-noprevoutfetchthreads", 0)):
            node = self.node().start(*filter(None, [option]))
            tasks = pathlib.Path(f"/proc/{node.process.pid}/task").glob("*/comm")
            names = [task.read_text().strip() for task in tasks]
            self.assertEqual(sorted(name for name in names if name.startswith("prevout")),
                             [f"prevout.{n:02}" for n in range(count)])
            told = f"Block input prevout fetching uses {count} additional threads"
            (self.assertIn if count else self.assertNotIn)(told, node.log_text)
            node.stop()

    def test_where_lines_of_the_log_come_from(self):
        node = self.node().start("-logthreadnames", "-logsourcelocations", "-nologratelimit",
                                 "-debug=rpc", "-debug=leveldb")
        node.rpc("getblockcount")
        node.stop()
        for pattern in (r"init\] \[node/node\.cpp:\d+\] \[SetStatus\] init message: Verifying",
                        r"init\] \[node/bitcoind_main\.cpp:\d+\] \[LogStart\] Log rate limiting "
                        r"disabled\n",
                        r"http\.\d\d\] \[jsonrpc/[a-z_]+\.cpp:\d+\] \[\w+\] \[rpc\] "
                        r".*getblockcount",
                        r"init\] \[storage/kv_store\.cpp:\d+\] \[Logv\] \[leveldb\] ",
                        r"shutoff\] \[node/node\.cpp:\d+\] \[ShutDown\] Shutdown done\n"):
            self.assertRegex(node.log_text, r"Z \[" + pattern)

    def test_lines_of_the_log(self):
        node = self.node().start("-logthreadnames", "-dbcache=4")
        node.rpc("setmocktime", 1_600_000_000)
        node.stop()
        log = node.log_text
        self.assertTrue(log.startswith("\n" * 5))
        for part in ('Command-line arg: dbcache="4"', f"Using data directory {node.net_dir}",
                     "(not found, skipping)", "Cache configuration:",
                     "* Using 0.5 MiB for block index database", "Validating signatures for all",
                     "Setting nMinimumChainWork=" + "0" * 64, "init message: Verifying blocks…",
                     "Block index and chainstate loaded", "nBestHeight = 0",
                     f"Opening LevelDB in {node.net_dir / 'chainstate'}",
                     "Opened LevelDB successfully",
                     "init message: Done loading", "Shutdown in progress...", "Shutdown done",
                     " (mocktime: 2020-09-13T12:26:40Z) ["):
            self.assertIn(part, log)
        self.assertNotIn("Increasing minrelaytxfee", log)

    def test_lines_about_what_options_change(self):
        node = self.node("regtest", "-vbparams=testdummy:0:999:12", "-vbparams=testdummy:-1:5",
                         "-incrementalrelayfee=0.00005").start()
        for values in ("start=0, timeout=999, min_activation_height=12",
                       "start=-1, timeout=5, min_activation_height=0"):
            self.assertIn("Setting version bits activation parameters for testdummy to " + values,
                          node.log_text)
        self.assertIn("Increasing minrelaytxfee to 0.00005000 BTC/kvB to match "
                      "incrementalrelayfee", node.log_text)
        self.assertEqual(str(node.rpc("getmempoolinfo")["minrelaytxfee"]), "0.00005000")
