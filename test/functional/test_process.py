"""The process: options, bitcoin.conf, daemon, signals, the files it leaves."""

import signal
import subprocess

from framework import FunctionalTest, free_port, program, wait_until
from interop_env import unavailable
from regtest_chain import FIRST_BLOCK_TIME, Chain


class Options(FunctionalTest):
    def out(self, *args):
        # The data directory is made before anything else is looked at, as with Core.
        return subprocess.run([program("bitcoind"), f"-datadir={self.dir}", *args], check=False,
                              capture_output=True, text=True, timeout=600)

    def test_help_and_version(self):
        done = self.out("-help")
        self.assertEqual(done.returncode, 0)
        for name in """-datadir -conf -chain -signet -reindex -reindex-chainstate -loadblock
                -dbcache -par -assumevalid -blocksdir -blocksxor -daemon -daemonwait -pid
                -debug -debuglogfile -printtoconsole -blocknotify -startupnotify
                -ibdboosterfile -ibdboosteraggregate -server -rpcuser -rpcpassword -rpcauth
                -rpcport -rpcbind -rpcallowip -rpcthreads -rpccookiefile -rpcwhitelist""".split():
            self.assertIn(f"\n  {name}", done.stdout)
        self.assertTrue(all(len(line) <= 80 for line in done.stdout.splitlines()))
        done = self.out("-version")
        self.assertEqual(done.returncode, 0)
        self.assertIn("ibd-booster version v0.1.0", done.stdout)

    def test_pinned_cryptography(self):
        """Static, and named by -version. (A build with the system's library says so.)"""
        told = self.out("-version").stdout.splitlines()[1]
        if told.endswith(" of the system, shared"):
            unavailable("configured with -DIBD_SYSTEM_SECP256K1=ON")
        self.assertRegex(told, r"^libsecp256k1 [0-9]+\.[0-9]+\.[0-9]+( of .*)?, static$")
        linked = subprocess.run(["ldd", program("bitcoind")], capture_output=True, text=True,
                                check=True).stdout
        self.assertIn("libevent", linked)
        self.assertNotIn("secp256k1", linked)

    def test_configuration_file(self):
        node = self.node()
        port, other = free_port(), free_port()
        (node.datadir / "more.conf").write_text("[regtest]\nstopatheight=77\n")
        (node.datadir / "bitcoin.conf").write_text(
            f"# a comment\nlogtimemicros=1\nincludeconf=more.conf\nrpcport={other}\n"
            f"[main]\nlogtimemicros=0\n[regtest]\nrpcport={port}\nlogthreadnames=1\n")
        node.process = subprocess.Popen([program("bitcoind"), f"-datadir={node.datadir}",
                                         "-regtest", "-connect=0", "-printtoconsole=0"])
        node.port = port
        wait_until(lambda: (node.net_dir / ".cookie").exists(), "the cookie")
        node._errors = open("/dev/null")
        node.wait_for_rpc()
        log = node.log_text
        self.assertRegex(log.lstrip().splitlines()[0], r"^\S+\.\d{6}Z \[")
        for part in ("logtimemicros", "logthreadnames", "stopatheight"):
            self.assertIn(part, log)
        done = subprocess.run([program("bitcoin-cli"), f"-datadir={node.datadir}", "-regtest",
                               "getblockcount"], capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout, "0\n", done.stderr)
        node.stop()

    def test_a_second_configuration_file_is_refused(self):
        node, elsewhere = self.node(), self.dir / "elsewhere"
        elsewhere.mkdir()
        ignored = elsewhere / "bitcoin.conf"
        (node.datadir / "bitcoin.conf").write_text(f"datadir={elsewhere}\n")
        ignored.write_text("logthreadnames=1\n")
        # Without -datadir on the command line: the file moves it.
        command = [program("bitcoind"), "-regtest", "-connect=0", "-printtoconsole=0",
                   "-stopafterblockimport",
                   f"-conf={node.datadir / 'bitcoin.conf'}", f"-rpcport={node.port}"]

        def run(*args):
            done = subprocess.run([*command, *args], capture_output=True, text=True, check=False,
                                  timeout=600)
            return done.returncode, done.stderr
        status, error = run()
        self.assertEqual(status, 1)
        for part in ("Error: ", str(elsewhere), str(node.datadir / "bitcoin.conf")):
            self.assertIn(part, error)
        self.assertEqual(run("-allowignoredconf"), (0, ""))
        log = (elsewhere / "regtest" / "debug.log").read_text()
        self.assertIn('[warning] Data directory', log)
        self.assertIn('from command line argument "-conf=', log)
        ignored.unlink()
        self.assertEqual(run(), (0, ""))
        # One file by two names is no second file.
        ignored.symlink_to(node.datadir / "bitcoin.conf")
        self.assertEqual(run(), (0, ""))

    def test_options_without_effect_are_named(self):
        node = self.node("regtest", "-debug=tor")
        (node.datadir / "bitcoin.conf").write_text("listen=0\nwalletnotify=x\n")
        node.start("-maxtxfee=1").stop()
        warning = [line for line in node.log_text.splitlines() if "without effect" in line]
        self.assertEqual(len(warning), 1, node.log_text)
        self.assertTrue(warning[0].endswith(": -maxtxfee -walletnotify"), warning)

    def test_pid_file(self):
        node = self.node().start("-nopid")
        self.assertEqual({"bitcoind.pid", "0"} & {path.name for path in node.net_dir.iterdir()},
                         set())
        node.stop()
        node.start("-pid=other.pid")
        self.assertEqual((node.net_dir / "other.pid").read_text(), f"{node.process.pid}\n")
        node.stop()
        self.assert_refused(node, f"-pid={self.dir / 'none' / 'x.pid'}",
                            saying="Unable to create the PID file '")

    def test_stop_after_import(self):
        self.assertEqual(self.node().run("-stopafterblockimport"), (0, ""))

    def test_networks_have_folders(self):
        for chain, genesis in (("main", "000000000019d668"), ("test", "000000000933ea01"),
                               ("testnet4", "00000000da84f2ba"), ("signet", "00000008819873e9")):
            node = self.node(chain).start()
            self.assertTrue(node.rpc("getblockhash", 0).startswith(genesis))
            self.assertEqual(node.rpc("getblockchaininfo")["chain"], chain)
            self.assertTrue((node.net_dir / "blocks" / "blk00000.dat").exists())
            node.stop()


class Clock(FunctionalTest):
    def test_mock_time(self):
        chain, now = Chain(), FIRST_BLOCK_TIME + 1_000_000
        node = self.node("regtest", f"-mocktime={now}").start()
        block = chain.candidate()
        block.time = now + 2 * 60 * 60 + 1
        raw = block.mine().raw().hex()
        self.assertEqual(node.rpc("submitblock", raw), "time-too-new")
        node.rpc("setmocktime", now + 1)
        self.assertIsNone(node.rpc("submitblock", raw))
        # A tip of these years is old by the real clock.
        self.assertFalse(node.rpc("getblockchaininfo")["initialblockdownload"])
        self.assert_rpc_error(-8, "not -1", node.rpc, "setmocktime", -1)
        node.stop().args.clear()
        node.start()
        self.assertTrue(node.rpc("getblockchaininfo")["initialblockdownload"])
        node.stop()
        self.assert_refused(node, "-mocktime=-1", saying="-mocktime")

    def test_real_networks_keep_real_time(self):
        node = self.node("signet").start()
        self.assert_rpc_error(-1, "regtest", node.rpc, "setmocktime", 1)


class Life(FunctionalTest):
    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            node = self.node().start()
            node.process.send_signal(number)
            self.assertEqual(node.wait(), (0, ""))
            self.assertTrue(node.log_text.rstrip().endswith("Shutdown done"))
            self.assertFalse((node.net_dir / "bitcoind.pid").exists())
            self.assertFalse((node.net_dir / ".cookie").exists())
            node.start().stop()

    def test_log_is_reopened(self):
        node = self.node().start()
        (node.net_dir / "debug.log").rename(node.net_dir / "old.log")
        node.process.send_signal(signal.SIGHUP)

        def reopened():
            node.rpc("logging", ["rpc"])
            return (node.net_dir / "debug.log").exists()
        wait_until(reopened, "a new log")

    def test_daemon(self):
        for option in ("-daemonwait", "-daemon"):
            node = self.node()
            done = subprocess.run(node.command(option), capture_output=True, text=True, check=False,
                                  timeout=600)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("starting", done.stdout)
            if option == "-daemon":
                done = node.cli("-rpcwait", "getblockcount")
                self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(node.rpc("getblockcount"), 0)
            pid = int((node.net_dir / "bitcoind.pid").read_text())
            self.assertNotEqual(pid, 0)
            node.rpc("stop")
            wait_until(lambda: not (node.net_dir / "bitcoind.pid").exists(), "the end")

    def test_daemonwait_tells_of_failure(self):
        node = self.node()
        done = subprocess.run(node.command("-daemonwait", "-reindex",
                                           f"-ibdboosterfile={self.dir / 'none'}"),
                              capture_output=True, text=True, check=False, timeout=600)
        self.assertEqual(done.returncode, 1)
        self.assertIn("none", done.stderr)

    def test_notify(self):
        mark = self.dir / "mark"
        node = self.node("regtest", f"-startupnotify=echo %s > {mark}").start()
        wait_until(lambda: mark.exists() and mark.read_text(), "the command")
        self.assertEqual(mark.read_text(), "%s\n")
        node.stop()
