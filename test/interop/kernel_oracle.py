"""Drives the kernel oracle: Bitcoin Core's own engine as a program (see README.md).

    oracle = KernelOracle.find()            # builds it if needed, skips the test if it cannot
    tip = oracle.tip(directory, "regtest")

`directory` is the one that holds blocks/ and chainstate/; network_dir() of interop_env gives it for
a node's -datadir. The engine writes to the directory that it opens, so read a running node's or a
precious directory through a copy: copied_datadir().
"""

import contextlib
import dataclasses
import pathlib
import shutil
import subprocess
import tempfile

from interop_env import built_program
from wire import serialized_output


class OracleError(Exception):
    """The engine refused a directory or reported a fatal error; the text is its message."""


@dataclasses.dataclass(frozen=True)
class Tip:
    height: int
    hash: str


@dataclasses.dataclass(frozen=True)
class Import:
    tip: Tip
    new: int
    rejected: int
    undecodable: int
    orphan: int
    seconds: float
    seconds_with_flush: float


@dataclasses.dataclass(frozen=True)
class Verdict:
    """verdict: connected (the new tip), stored (valid so far, no new tip), duplicate, invalid,
    undecodable, error. kind is the BlockValidationResult, reason the reject reason and detail."""
    verdict: str
    hash: str
    tip: Tip | None
    kind: str
    reason: str

    @property
    def reject(self):
        """The reason alone, as submitblock returns it."""
        return self.reason.split(",")[0]


@dataclasses.dataclass(frozen=True)
class SpentCoin:
    tx: int
    input: int
    amount: int
    height: int
    coinbase: bool
    script: bytes


@dataclasses.dataclass
class StoredBlock:
    height: int
    hash: str
    raw: bytes
    spent: list


@dataclasses.dataclass(frozen=True)
class CoinsInfo:
    best: str
    coins: int
    amount: int
    hash_serialized_3: str = ""
    muhash: str = ""


@dataclasses.dataclass(frozen=True)
class Coin:
    txid: str
    vout: int
    height: int
    coinbase: bool
    amount: int
    script: bytes


@dataclasses.dataclass(frozen=True)
class ScriptCase:
    """One verification. index "*" checks all inputs. `spent` is [(amount, script)] for all inputs;
    without script and amount those of the input come from there. flags: int or "P2SH,WITNESS"."""
    tx: bytes
    index: int | str
    flags: int | str
    spent: tuple = ()
    script: bytes | None = None
    amount: int | None = None

    def line(self):
        assert (self.script is None) == (self.amount is None), "give both or neither"
        spent = ",".join(f"{amount}:{script.hex()}" for amount, script in self.spent) or "-"
        script = "-" if not self.script else self.script.hex()
        amount = "-" if self.amount is None else self.amount
        flags = self.flags if self.flags != "" else 0
        return f"{script} {amount} {self.tx.hex()} {self.index} {flags} {spent}"


@dataclasses.dataclass(frozen=True)
class BlockTiming:
    inputs: int
    failed: int
    ms: float


def _script(text):
    return b"" if text == "-" else bytes.fromhex(text)


def _tip(line):
    word, height, block_hash = line.split()
    assert word == "tip", line
    return Tip(int(height), block_hash)


def _verdict(line):
    verdict, block_hash, height, tip, kind, reason = line.split(" ", 5)
    tip = None if height == "-" else Tip(int(height), tip)
    return Verdict(verdict, block_hash, tip, kind, reason)


def _coin(words):
    txid, vout, height, coinbase, amount, script = words
    return Coin(txid, int(vout), int(height), coinbase == "1", int(amount), _script(script))


class ConnectSession:
    """Blocks handed to the engine one at a time: session.submit(raw) -> Verdict."""

    def __init__(self, command):
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=subprocess.PIPE, text=True)

    def submit(self, raw):
        try:
            self._process.stdin.write(raw.hex() + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass
        line = self._process.stdout.readline()
        if not line:
            raise OracleError(self._process.stderr.read())
        return _verdict(line.rstrip("\n"))

    def close(self):
        """Flushes to disk; returns the final tip."""
        out, err = self._process.communicate()
        if self._process.returncode != 0:
            raise OracleError(err)
        return _tip(out.splitlines()[0])

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self._process.returncode is None:
            if kind is None:
                self.close()
            else:
                self._process.kill()
                self._process.communicate()


class KernelOracle:
    def __init__(self, program):
        self.program = pathlib.Path(program)

    @classmethod
    def find(cls):
        return cls(built_program("build_oracle.sh", "IBD_KERNEL_ORACLE"))

    def _command(self, *words):
        return [str(self.program), *map(str, words)]

    def _run(self, *words, stdin=None):
        done = subprocess.run(self._command(*words), input=stdin, text=True, check=False,
                              capture_output=True)
        if done.returncode != 0:
            raise OracleError(done.stderr.strip() or f"status {done.returncode}")
        return done.stdout.splitlines()

    def tip(self, directory, network):
        """Opens the directory (the engine checks the last blocks at level 3) and reads its tip."""
        return _tip(self._run("tip", "--network", network, "--datadir", directory)[0])

    def chain(self, directory, network):
        """Hashes of the active chain; the index is the height."""
        lines = self._run("chain", "--network", network, "--datadir", directory)
        return [line.split()[1] for line in lines]

    def read(self, directory, network, height, count=1):
        """Blocks with the coins they spend, from block and undo files."""
        blocks = []
        for line in self._run("read", "--network", network, "--datadir", directory,
                              "--height", height, "--count", count):
            words = line.split()
            if words[0] == "block":
                blocks.append(StoredBlock(int(words[1]), words[2], bytes.fromhex(words[3]), []))
            elif words[0] == "spent":
                tx, index, amount, coin_height, coinbase = map(int, words[1:6])
                blocks[-1].spent.append(
                    SpentCoin(tx, index, amount, coin_height, coinbase == 1, _script(words[6])))
        return blocks

    def connect(self, directory, network, blocks, par=1):
        """Verdict of each block, handed over in order, then the final tip."""
        text = "".join(raw.hex() + "\n" for raw in blocks)
        lines = self._run("connect", "--network", network, "--datadir", directory, "--par", par,
                          stdin=text)
        at = next(i for i, line in enumerate(lines) if line.startswith("tip "))
        return [_verdict(line) for line in lines[:at]], _tip(lines[at])

    def session(self, directory, network, par=1):
        return ConnectSession(self._command("connect", "--network", network,
                                            "--datadir", directory, "--par", par))

    def check_blocks(self, network, blocks):
        """Context-free checks: [(word, kind)] with word ok, bad or undecodable."""
        lines = self._run("check", "--network", network,
                          stdin="".join(raw.hex() + "\n" for raw in blocks))
        return [(words[0], words[2] if len(words) > 2 else "") for words in map(str.split, lines)]

    def import_files(self, directory, network, files, par=1):
        """Makes or extends a data directory from block files or files of hex lines."""
        tip, blocks, times = self._run("import", "--network", network, "--datadir", directory,
                                       "--par", par, *files)
        counts = list(map(int, blocks.split()[2::2]))
        return Import(_tip(tip), *counts, *self._times(times))

    def reindex(self, directory, network, par=1, chainstate_only=False):
        """Rebuilds from the block files in the directory: (tip, seconds, seconds with flush)."""
        extra = ["--chainstate-only"] if chainstate_only else []
        tip, times = self._run("reindex", "--network", network, "--datadir", directory,
                               "--par", par, *extra)
        return _tip(tip), *self._times(times)

    @staticmethod
    def _times(line):
        words = line.split()
        return float(words[1]), float(words[3])

    def coins_info(self, directory, hashes=True):
        """Best block, count and value of the coins, and the hashes gettxoutsetinfo gives."""
        lines = self._run("coins", "--datadir", directory, *(["--hashes"] if hashes else []))
        values = dict(line.split() for line in lines)
        for name in ("coins", "amount"):
            values[name] = int(values[name])
        return CoinsInfo(**values)

    def coins(self, directory):
        """Every coin, in database order."""
        lines = self._run("coins", "--datadir", directory, "--list")
        return [_coin(line.split()[1:]) for line in lines if line.startswith("coin ")]

    def coin(self, directory, txid, vout):
        """The coin, or None."""
        words = self._run("coin", "--datadir", directory, f"{txid}:{vout}")[0].split()
        return None if words[0] == "absent" else _coin(words[1:])

    def check_txs(self, raws):
        """One word per transaction from the context-free rules: OK, TX_DECODE, reject reason."""
        return self._run("check-tx", stdin="".join(raw.hex() + "\n" for raw in raws))

    def verify_scripts(self, cases, par=1):
        """One word per case: OK, TX_DECODE, BAD_FLAGS, or the script error ("EVAL_FALSE").

        With index "*" a failure is "ERROR INPUT"."""
        text = "".join(case.line() + "\n" for case in cases)
        return self._run("verify-scripts", "--par", par, stdin=text)

    def verify_block(self, block, spent, flags="MANDATORY", par=1, repeat=1):
        """Times the verification of all inputs. `spent`: [(amount, script)] in input order."""
        with tempfile.TemporaryDirectory() as folder:
            block_file, spent_file = pathlib.Path(folder, "block"), pathlib.Path(folder, "spent")
            block_file.write_bytes(block)
            spent_file.write_bytes(b"".join(map(serialized_output, spent)))
            lines = self._run("verify-block", block_file, spent_file, "--flags", flags,
                              "--par", par, "--repeat", repeat)
        words = [line.split() for line in lines]
        return [BlockTiming(int(w[1]), int(w[3]), float(w[5])) for w in words]

    def headers(self, network, lines):
        """Answers "TIME NEXT PROBE PERMITTED" to lines "TIME BITS PROBE ..." of a header chain
        whose work is not checked."""
        return self._run("headers", "--network", network, stdin="".join(f"{x}\n" for x in lines))

    def flags(self):
        """Script flag names and their bits, with MANDATORY, STANDARD, ALL and API (the flags the
        kernel's public interface accepts)."""
        return {name: int(bits) for name, bits in map(str.split, self._run("flags"))}


@contextlib.contextmanager
def copied_datadir(directory):
    """A throw-away copy of blocks/ and chainstate/ (nothing else) of a closed data directory."""
    with tempfile.TemporaryDirectory(prefix="ibd-interop-") as folder:
        for name in ("blocks", "chainstate"):
            shutil.copytree(pathlib.Path(directory, name), pathlib.Path(folder, name),
                            ignore=shutil.ignore_patterns("LOCK", ".lock"))
        yield pathlib.Path(folder)


def assert_engine_agrees(test, oracle, directory, network, tip, next_block=None):
    """Core's engine opens a copy of what our node wrote, reports the same tip and, if given a
    further block, connects it. Returns the coins' hashes as Core computes them."""
    with copied_datadir(directory) as copy:
        test.assertEqual(oracle.tip(copy, network), tip)
        info = oracle.coins_info(copy)
        test.assertEqual(info.best, tip.hash)
        if next_block is not None:
            verdicts, new_tip = oracle.connect(copy, network, [next_block])
            test.assertEqual(verdicts[0].verdict, "connected", verdicts[0])
            test.assertEqual(new_tip.height, tip.height + 1)
    return info


def assert_same_coins(test, oracle, directory_a, directory_b):
    """Both chainstates hold the same coins, record by record; names the first that differs."""
    a, b = oracle.coins(directory_a), oracle.coins(directory_b)
    for left, right in zip(a, b):
        test.assertEqual(left, right)
    test.assertEqual(len(a), len(b))


def engine_datadir(oracle, directory, network, blocks, par=1):
    """A data directory written by Core's engine from raw blocks, for our node to open."""
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", suffix=".hex", delete=False) as file:
        file.writelines(raw.hex() + "\n" for raw in blocks)
    try:
        return oracle.import_files(directory, network, [file.name], par)
    finally:
        pathlib.Path(file.name).unlink()
