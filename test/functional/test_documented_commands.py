"""Every command that README and the manuals show as a block is run as it is printed, in a home
folder whose bitcoin.conf says regtest, with a generated chain in the place of mainnet's. Commands
that cannot run are named, with the reason."""

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess

import generated
from framework import ROOT, FunctionalTest, Node, bindir, program, wait_until

PROGRAMS = {"bitcoind", "bitcoin-cli", "bitcoin-hints", "cmake", "ctest"}
FOLDERS = ("bench", "contrib", "depends", "test")
# The beginning of a line, and the reason why it is not run here.
LEFT_OUT = {
    "cmake": "builds everything anew; CI does it with these presets",
    "ctest": "runs the other tests",
    "contrib/dashboard/dashboard.py": "serves pages until it is stopped; test_dashboard runs it",
    "contrib/packaging/make_package.sh": "builds the package; test/package.sh does too",
    "contrib/quickstart.sh": "installs packages and builds; test_stopping runs it, without both",
    "depends/install.sh": "installs packages; test/run.sh runs it",
    "test/container.sh": "needs an engine for containers, and builds the package in one",
    "test/nightly.sh": "takes hours",
    "test/package.sh": "builds packages for a quarter of an hour",
    "test/run.sh": "runs this test",
    "test/sanitize.sh": "builds and runs the engine's tests with sanitizers",
}
# Parts of commands in the text, with the missing parts beside them.
FRAGMENTS = {"bitcoin-hints convert", "bitcoin-hints generate",
             "bitcoin-hints convert --from=swifthints --blocks=DIR"}
HELP_OPTIONS = {"bitcoind": ["-help", "-help-debug"]}
SECONDS = 600


def documents():
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("doc/**/*.md")),
            *sorted(ROOT.glob("contrib/*/README.md"))]


def blocks(path):
    """The lines of each fenced block."""
    return [block.splitlines() for block in
            re.findall(r"^```\w*\n(.*?)^```$", path.read_text(encoding="utf-8"), re.M | re.S)]


def is_command(line):
    word = (line.split() or [""])[0]
    return word in PROGRAMS or word.startswith(tuple(f"{folder}/" for folder in FOLDERS))


def shown_elsewhere(path):
    """Commands in the text and in indented blocks, which name options but need more to run."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    inline = (" ".join(code.split()) for code in re.findall(r"`([^`]+)`", text))
    for line in [*inline, *re.findall(r"^ {4}(\S.*)$", text, re.M)]:
        if is_command(line) and " " in line:
            yield line


def help_of(word):
    """The help of a program's options; of a shell script, the script."""
    if word.endswith(".sh"):
        return (ROOT / word).read_text(encoding="utf-8")
    command = [str(ROOT / word) if "/" in word else program(word),
               *HELP_OPTIONS.get(word, ["--help"])]
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS,
                          check=True).stdout


def is_synopsis(line):
    return re.search(r"\[-|\b(IN|FILE)\b", line) is not None


def commands(path):
    """One by one, without comments; of `a && b` both."""
    for block in blocks(path):
        for line in filter(is_command, block):
            yield from map(str.strip, line.partition(" #")[0].split("&&"))


class Documented(FunctionalTest):
    def setUp(self):
        super().setUp()
        self.chain = generated.small_chain()
        self.home, self.data, self.clone = (self.dir / name for name in ("home", "data", "clone"))
        for folder in (self.data, self.clone):
            folder.mkdir()
        for name in FOLDERS:
            (self.clone / name).symlink_to(ROOT / name)
        self.env = {**os.environ, "HOME": str(self.home),
                    "PATH": f"{bindir()}:{os.environ['PATH']}"}
        self.synced = self.prepare()
        self.addCleanup(self.kill)

    def prepare(self):
        """A node with blocks, index, coins and undo data, and files that were made elsewhere."""
        node = self.chain.place(Node(self.home / ".bitcoin"))
        conf = ["chain=regtest", "daemonwait=1", "printtoconsole=0", "minimumchainwork=0",
                f"assumevalid={self.chain.terminal_hash}", "[regtest]", "connect=0",
                f"rpcport={node.port}"]
        (node.datadir / "bitcoin.conf").write_text("\n".join([*conf, ""]))
        status, errors = node.run("-daemonwait=0", "-reindex", "-ibdbooster=0", self.chain.to_tip)
        self.assertEqual(status, 0, errors)
        shutil.copy(self.chain.container, self.data / "given.hints")
        subprocess.run([program("bitcoin-hints"), "convert", "--format=bip456-crate",
                        str(self.chain.container), str(self.clone / "signet.hints")], check=True,
                       stdout=subprocess.DEVNULL)
        return node

    def here(self, line):
        """With what this machine has in the place of mainnet's files, heights and network."""
        hints = self.data / "given.hints"
        for there, here in ((" -signet", ""), ("/data/core.sqlite", "/data/utxo.sqlite"),
                            ("=HEIGHT", f"={self.chain.terminal_height}"), ("=HINTS", f"={hints}"),
                            ("=900000", f"={self.chain.terminal_height}"),
                            ("/.bitcoin ", "/.bitcoin/regtest "), ("/signet ", "/regtest "),
                            (" /data/", f" {self.data}/"), ("=/data/", f"={self.data}/")):
            line = line.replace(there, here)
        return line

    def shell(self, line):
        return subprocess.run(["bash", "-c", line], cwd=self.clone, env=self.env, timeout=SECONDS,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False)

    @property
    def pid_file(self):
        return self.synced.net_dir / "bitcoind.pid"

    def kill(self):
        with contextlib.suppress(OSError, ValueError):
            os.kill(int(self.pid_file.read_text()), signal.SIGKILL)

    def stop(self):
        """Once its task is done."""
        if self.pid_file.exists():
            self.wait_for_tip()
            self.assertEqual(self.shell("bitcoin-cli stop").returncode, 0)
            wait_until(lambda: not self.pid_file.exists(), "the node's end")

    def wait_for_tip(self):
        wait_until(lambda: self.shell("bitcoin-cli -rpcwait getblockcount").stdout.strip()
                   == str(self.chain.height), "the tip")

    def run_one(self, line):
        """bitcoin-cli finds a node that runs, at the tip; all others one that was stopped."""
        if not line.startswith("bitcoin-cli"):
            self.stop()
        else:
            if not self.pid_file.exists():
                self.assertEqual(self.shell("bitcoind").returncode, 0)
            self.wait_for_tip()
        done = self.shell(self.here(line))
        self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout}{done.stderr}")
        if line == "bitcoin-cli stop":
            wait_until(lambda: not self.pid_file.exists(), "the node's end")

    def run_all(self, path, least):
        count = 0
        for line in commands(path):
            if line.split()[0] in LEFT_OUT or is_synopsis(line):
                continue
            with self.subTest(line):
                self.run_one(line)
            count += 1
        self.stop()
        self.assertGreaterEqual(count, least)

    def test_of_readme(self):
        self.run_all(ROOT / "README.md", 8)
        # The log line that the text promises.
        (shown,) = [line for block in blocks(ROOT / "README.md") for line in block
                    if line.startswith("***")]
        there = shown.replace(" N ", f" {self.chain.terminal_height} ") in self.synced.log_text
        self.assertTrue(there, shown)

    def test_of_the_text(self):
        """Those of the programs; test_options_of_those_in_the_text looks at the others."""
        lines = {line for path in documents() for line in shown_elsewhere(path)
                 if line.split()[0] in ("bitcoind", "bitcoin-cli", "bitcoin-hints")}
        self.assertEqual(FRAGMENTS - lines, set())
        given, made = self.data / "given.hints", self.data / "made.hints"
        stands_for = {"<call>": "getblock", " FILE HEIGHT": f" {made} {self.chain.terminal_height}",
                      " mainnet.hints ": f" {given} "}
        for line in sorted(lines - FRAGMENTS):
            for there, here in stands_for.items():
                line = line.replace(there, here)
            with self.subTest(line):
                self.run_one(line)
        self.stop()
        self.assertGreater(len(lines - FRAGMENTS), 7)

    def test_of_the_manual_of_bitcoin_hints(self):
        self.run_all(ROOT / "doc" / "bitcoin-hints.md", 3)

    def test_of_the_hints_tools(self):
        self.run_all(ROOT / "contrib" / "ibd-booster-hints-gen" / "README.md", 5)


class Lines(FunctionalTest):
    RUN = {"README.md", "doc/bitcoin-hints.md", "contrib/ibd-booster-hints-gen/README.md"}

    def test_each_is_run_or_left_out_by_name(self):
        seen = set()
        for path in documents():
            for line in commands(path):
                word = shlex.split(line)[0]
                seen.add(word)
                if "/" in word:
                    self.assertTrue(os.access(ROOT / word, os.X_OK), line)
                if str(path.relative_to(ROOT)) not in self.RUN:
                    self.assertIn(word, LEFT_OUT, f"{path}: {line}")
        self.assertEqual(set(LEFT_OUT) - seen, set())

    def test_options_of_those_in_the_text(self):
        count = 0
        more = [ROOT / "bench/README.md", *sorted(ROOT.glob("test/*/README.md"))]
        for path in [*documents(), *more]:
            for line in shown_elsewhere(path):
                word = line.split()[0]
                if word in ("cmake", "ctest"):
                    continue
                with self.subTest(line):
                    options = re.findall(r"(?<=[ \[])--?[a-z][\w-]*", line.partition("$(")[0])
                    text = help_of(word) if options else ""
                    for option in options:
                        self.assertRegex(text, rf"(?<![\w-]){option}\b")
                    if "/" in word:
                        self.assertTrue(os.access(ROOT / word, os.X_OK))
                count += 1
        self.assertGreater(count, 20)

    def test_presets_of_cmake(self):
        presets = (ROOT / "CMakePresets.json").read_text(encoding="utf-8")
        for path in documents():
            for line in commands(path):
                for name in re.findall(r"^cmake --preset (\S+)", line):
                    self.assertIn(f'"name": "{name}"', presets, line)

    def test_synopsis_of_bitcoin_hints(self):
        help_text = subprocess.run([program("bitcoin-hints"), "help"], check=True,
                                   capture_output=True, text=True).stdout
        synopsis = [line for line in commands(ROOT / "doc/bitcoin-hints.md")
                    if is_synopsis(line)]
        self.assertGreater(len(synopsis), 4)
        for line in synopsis:
            self.assertRegex(help_text, rf"(?m)^ *{line.split()[1]}\b|bitcoin-hints "
                             rf"{line.split()[1]}\b", line)
            for option in re.findall(r"--\w+", line):
                self.assertIn(option, help_text, line)
