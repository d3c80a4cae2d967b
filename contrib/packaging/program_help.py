"""The programs' descriptions of themselves: options from -help, calls from a node's help.

The option and call tables of the programs are the only source of manual pages, completions and the
example configuration, so that none of them can say something else than the program does.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "test" / "support"))

from ports import free_port  # noqa: E402 (needs the path above)

NODE_START_SECONDS = 60


@dataclass
class Option:
    """One option: its name with the dash, the text after the name ("=<n>" or ""), and its help."""

    name: str
    argument: str
    text: str


@dataclass
class Group:
    title: str
    options: list = field(default_factory=list)


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise SystemExit(f"{command[0]} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def parse_groups(text):
    """The groups of options in the output of `-help` of bitcoind or bitcoin-cli."""
    groups = []
    option = None
    for line in text.splitlines():
        if match := re.fullmatch(r"(\S*.*[oO]ptions):", line):
            groups.append(Group(match[1]))
            option = None
        elif match := re.fullmatch(r"  (-[^\s=]+)(=.*)?", line):
            option = Option(match[1], match[2] or "", "")
            groups[-1].options.append(option)
        elif option is not None and line.startswith("       "):
            option.text = f"{option.text} {line.strip()}".strip()
    return [group for group in groups if group.options]


def run_node(bindir, option):
    """The output of bitcoind, which reads the bitcoin.conf of its data directory first."""
    with tempfile.TemporaryDirectory(prefix="ibd-packaging-") as folder:
        return run(pathlib.Path(bindir) / "bitcoind", f"-datadir={folder}", option)


def node_options(bindir):
    return parse_groups(run_node(bindir, "-help"))


def cli_options(bindir):
    return parse_groups(run(pathlib.Path(bindir) / "bitcoin-cli", "-help"))


@dataclass
class ToolHelp:
    """The help of bitcoin-hints: its text in sections, and the words that can be completed."""

    summary: str
    usage: str
    described: str
    remarks: str
    commands: list
    options: list  # of Option
    formats: list


def hints_help(bindir):
    text = run(pathlib.Path(bindir) / "bitcoin-hints", "--help")
    head, _, rest = text.partition("\nUsage:\n")
    usage, _, rest = rest.partition("\n\n")
    described, _, rest = rest.partition("\nOptions:\n")
    options, _, remarks = rest.partition("\n\n")
    written = remarks.partition(":")[2].partition(";")[0]
    return ToolHelp(
        summary=head.strip().partition(" - ")[2], usage=usage, described=described.strip(),
        remarks=remarks.strip(), commands=re.findall(r"^  bitcoin-hints (\S+)", usage, re.M),
        options=[Option(name, argument, help_text) for name, argument, help_text in
                 re.findall(r"^  (--[a-z-]+)(=\S+)? {2,}(\S.*)$", options, re.M)],
        formats=re.sub(r"\([^)]*\)", "", written).replace(",", " ").split())


def version(bindir):
    return run_node(bindir, "-version").splitlines()[0].rpartition(" v")[2]


def calls(bindir):
    """[(category, [name of a call])], from a node that runs only for this request."""
    bindir = pathlib.Path(bindir)
    with tempfile.TemporaryDirectory(prefix="ibd-packaging-") as folder:
        common = [f"-datadir={folder}", "-regtest", f"-rpcport={free_port()}"]
        node = subprocess.Popen([str(bindir / "bitcoind"), *common, "-connect=0", "-listen=0",
                                 "-printtoconsole=0"], stdout=subprocess.DEVNULL)
        try:
            return parse_calls(ask_help(bindir, common, node))
        finally:
            node.terminate()
            node.wait()


def ask_help(bindir, common, node):
    end = time.monotonic() + NODE_START_SECONDS
    while True:
        done = subprocess.run([str(bindir / "bitcoin-cli"), *common, "help"], capture_output=True,
                              text=True, check=False)
        if done.returncode == 0:
            return done.stdout
        if node.poll() is not None or time.monotonic() > end:
            raise SystemExit(f"{bindir / 'bitcoind'} does not answer: {done.stderr.strip()}")
        time.sleep(0.1)


def parse_calls(text):
    found = []
    for line in text.splitlines():
        if match := re.fullmatch(r"== (.+) ==", line):
            found.append((match[1], []))
        elif line.strip() and found:
            found[-1][1].append(line.split()[0])
    return found

