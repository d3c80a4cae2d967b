"""The relations of node and tools with other processes: signals, standard streams, children."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import threading

from framework import FunctionalTest, program, wait_until
from interop_env import unavailable
from regtest_chain import Chain, SubmitsBlocks
from scripted_server import LineServer

NOT_DOWNLOADING = "-maxtipage=10000000000"
SIGNAL_MASKS = "SigBlk SigIgn".split()
THREAD_LIBRARY_SIGNALS = 3 << 31  # 32 and 33: the C library's own, which posix_spawn() ignores


def children(pid):
    return [int(child) for tasks in pathlib.Path(f"/proc/{pid}/task").glob("*/children")
            for child in tasks.read_text().split()]


def state(pid):
    """One letter, or nothing once it is gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


class Commands(SubmitsBlocks, FunctionalTest):
    def setUp(self):
        super().setUp()
        self.chain = Chain()

    def test_signals_and_files(self):
        """A child has no blocked or ignored signals, and no open files but the standard streams.
        The node is started with every signal ignored that can be."""
        status, files = self.dir / "status", self.dir / "files"
        command = f"ls -l /proc/self/fd > {files}; cat /proc/self/status > {status}.new; " \
                  f"mv {status}.new {status}"
        node = self.node("regtest", f"-startupnotify={command}")
        node.start(prefix=["sh", "-c", "trap '' INT QUIT HUP PIPE CHLD; exec \"$0\" \"$@\""])
        wait_until(status.exists, "the command's end")
        masks = dict(re.findall(r"^(Sig\w+):\s+([0-9a-f]+)$", status.read_text(), re.M))
        for name in SIGNAL_MASKS:
            self.assertEqual(int(masks[name], 16) & ~THREAD_LIBRARY_SIGNALS, 0, name)
        # `ls` itself opens the folder.
        listed = [line for line in files.read_text().splitlines()
                  if " -> " in line and not line.endswith("/fd")]
        self.assertEqual(len(listed), 3, listed)

    def test_signals_to_the_node(self):
        """After signals that it handles it can still stop; other signals kill it, as they kill
        Bitcoin Core.
        """
        node = self.node("regtest", "-blocknotify=true")
        for kind in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGQUIT):
            # A shell starts background commands with SIGQUIT ignored, which is inherited.
            self.addCleanup(signal.signal, kind, signal.signal(kind, signal.SIG_DFL))
            node.start()
            node.process.send_signal(kind)
            self.assertEqual(node.wait()[0], -kind)
        for kind in (signal.SIGHUP, signal.SIGCHLD, signal.SIGPIPE, signal.SIGWINCH):
            node.start()
            for _ in range(3):
                node.process.send_signal(kind)
                self.assertEqual(node.rpc("getblockcount"), 0)
            node.process.send_signal(signal.SIGTERM)
            self.assertEqual(node.wait(), (0, ""))

    def test_failures_are_logged(self):
        node = self.node("regtest", NOT_DOWNLOADING, "-startupnotify=exit 3",
                         "-blocknotify=kill -TERM $$; echo %s", "-shutdownnotify=exit 1",
                         "-shutdownnotify=/no/such/command", "-shutdownnotify=true").start()
        said = "runCommand error: system({}) returned {}".format
        wait_until(lambda: said("exit 3", 3 << 8) in node.log_text, "the failure of a start's")
        self.submit(node, 1)
        line = said(f"kill -TERM $$; echo {node.rpc('getbestblockhash')}", int(signal.SIGTERM))
        wait_until(lambda: line in node.log_text, "the failure of a block's")
        node.stop()
        self.assertIn(said("exit 1", 1 << 8), node.log_text)
        self.assertIn(said("/no/such/command", 127 << 8), node.log_text)
        self.assertNotIn("system(true)", node.log_text)

    def test_shutdown_commands_run_at_the_same_time(self):
        """Each waits for the other."""
        a, b = self.dir / "a", self.dir / "b"
        meet = "touch {}; while [ ! -e {} ]; do sleep 0.05; done".format
        node = self.node("regtest", f"-shutdownnotify={meet(a, b)}",
                         f"-shutdownnotify={meet(b, a)}").start()
        node.stop()
        self.assertNotIn("runCommand error", node.log_text)

    def check_no_zombies(self, node, pid):
        """Commands, and their processes in the background, are reaped while the node runs."""
        self.submit(node, 20)
        ended = self.dir / "ended"
        wait_until(lambda: ended.exists() and len(ended.read_text().split()) >= 40, "the commands")
        wait_until(lambda: not children(pid), "no child left")

    def orphan_maker(self):
        ended = self.dir / "ended"
        return f"-blocknotify=(sleep 0.1; echo x >> {ended}) & echo x >> {ended}"

    def test_no_zombies(self):
        node = self.node("regtest", NOT_DOWNLOADING, self.orphan_maker()).start()
        self.check_no_zombies(node, node.process.pid)

    def test_no_zombies_as_process_1(self):
        space = ["unshare", "--pid", "--fork", "--kill-child"]
        if subprocess.run([*space, "true"], check=False, capture_output=True).returncode != 0:
            unavailable("no permission for a process namespace (unshare --pid)")
        node = self.node("regtest", NOT_DOWNLOADING, self.orphan_maker())
        node.start(prefix=space)
        (pid,) = children(node.process.pid)
        self.check_no_zombies(node, pid)
        os.kill(pid, signal.SIGTERM)
        wait_until(lambda: state(pid) == "", "the end of process 1")


class Streams(FunctionalTest):
    def start_with(self, streams, *args):
        """Starts the node with streams that are closed ("-"), or pipes without a reader ("|")."""
        node = self.node("regtest", "-connect=0")
        command = node.command(*args)
        command.remove("-printtoconsole=0")
        read, write = os.pipe()
        os.close(read)

        def set_streams():
            for fd, kind in streams.items():
                os.close(fd) if kind == "-" else os.dup2(write, fd)

        node.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=set_streams,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        pass_fds=[write])
        os.close(write)
        node._errors = open(os.devnull)
        return node

    def test_starts_without_streams(self):
        """Every combination of streams that are closed or broken: neither SIGPIPE nor a failing
        write ends the node, and no file of the node takes the number of a stream."""
        for out in "-|":
            for err in "-|":
                for extra in ([], ["-daemonwait"], ["-dbcache=4000000"]):
                    with self.subTest(out=out, err=err, extra=extra):
                        node = self.start_with({1: out, 2: err}, *extra)
                        if "-daemonwait" in extra:
                            self.assertEqual(node.process.wait(), 0)
                            pid = int((node.net_dir / "bitcoind.pid").read_text())
                        else:
                            pid = node.process.pid
                            node.wait_for_rpc()
                        for fd in (0, 1, 2):
                            target = os.readlink(f"/proc/{pid}/fd/{fd}")
                            self.assertNotIn(str(node.datadir), target)
                        node.rpc("stop")
                        wait_until(lambda pid=pid: state(pid) in ("", "Z"), "the node's end")
                        if "-daemonwait" not in extra:
                            self.assertEqual(node.process.wait(), 0)

    def test_a_refused_start_without_streams_has_its_status(self):
        for kind in "-|":
            for args in (["-nosuchoption=1"], ["-prune=2"], ["-printtoconsole=0", "word"]):
                node = self.start_with({1: kind, 2: kind}, *args)
                self.assertEqual(node.process.wait(), 1, (kind, args))

    def test_texts_on_a_full_disk(self):
        for name, *args in (["bitcoind", "-help"], ["bitcoind", "-version"],
                            ["bitcoind", "-nosuchoption=1"], ["bitcoin-cli", "-help"],
                            ["bitcoin-hints", "--help"], ["bitcoin-hints", "nothing"]):
            with open("/dev/full", "w") as full, self.subTest(name=name, args=args):
                done = subprocess.run([program(name), f"-datadir={self.dir}", *args]
                                      if name != "bitcoin-hints" else [program(name), *args],
                                      check=False, stdout=full, stderr=full)
                self.assertGreaterEqual(done.returncode, 0, "ended by a signal")

    def test_tools_end_with_the_reader_of_their_output(self):
        """Quietly, also where the parent process ignores SIGPIPE."""
        for command in ("bitcoin-cli -help", "bitcoin-hints --help"):
            name, argument = command.split()
            read, write = os.pipe()
            os.close(read)
            done = subprocess.run(["sh", "-c", f"trap '' PIPE; exec \"$0\" {argument}",
                                   program(name)], check=False, stdout=write,
                                  stderr=subprocess.PIPE)
            os.close(write)
            self.assertEqual((done.returncode, done.stderr), (-signal.SIGPIPE, b""), command)

    def test_python_tools_end_with_the_reader_of_their_output(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        for tool in sorted((root / "contrib").rglob("*.py")):
            if "__main__" not in tool.read_text():
                continue
            read, write = os.pipe()
            os.close(read)
            done = subprocess.run([shutil.which("python3"), tool, "--help"], check=False,
                                  stdout=write, stderr=subprocess.PIPE, text=True)
            os.close(write)
            self.assertNotIn("Traceback", done.stderr, tool)


class Client(FunctionalTest):
    def answer(self, text):
        """Serves one HTTP request and keeps the connection."""
        held = threading.Event()
        self.addCleanup(held.set)

        def serve(connection):
            while connection.line():
                pass
            connection.send(text)
            held.wait()
        return LineServer(self, serve)

    def call(self, server, *words):
        return subprocess.run(
            [program("bitcoin-cli"), "-regtest", f"-datadir={self.dir}", "-rpcuser=u",
             "-rpcpassword=p", f"-rpcport={server.port}", *words],
            check=False, capture_output=True, text=True, timeout=120)

    def test_an_answer_ends_with_its_body(self):
        """The connection stays open, as behind a proxy. A client that waited for its end would wait
        900 seconds."""
        head = "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n"
        body = '{"result":7,"error":null,"id":1}'
        chunks = f"{len(body) - 5:x}\r\n{body[:-5]}\r\n5;x=y\r\n{body[-5:]}\r\n0\r\n"
        for rest in (f"Content-Length: {len(body)}\r\n\r\n{body}",
                     f"Transfer-Encoding: chunked\r\n\r\n{chunks}\r\n",
                     f"Transfer-Encoding: chunked\r\n\r\n{chunks}Trailer: yes\r\n\r\n"):
            done = self.call(self.answer(head + rest), "getblockcount")
            self.assertEqual((done.returncode, done.stdout), (0, "7\n"), done.stderr)
        broken = self.answer(head + "Transfer-Encoding: chunked\r\n\r\nnot hex\r\n")
        done = self.call(broken, "help")
        self.assertNotEqual(done.returncode, 0)

    def test_args_given_twice(self):
        node = self.node("regtest").start()
        done = subprocess.run([program("bitcoin-cli"), "-regtest", f"-datadir={node.datadir}",
                               f"-rpcport={node.port}", "-named", "getblockhash", "0", "args=[0]"],
                              check=False, capture_output=True, text=True)
        self.assertEqual(done.returncode, 8)
        self.assertEqual(done.stderr, "error code: -8\nerror message:\n"
                                      "Parameter args specified multiple times\n")
