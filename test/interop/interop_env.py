"""Where things are: test data, build scripts, the network folders of a data directory.

A missing tool or file skips a test on a user's machine and fails it where CI=true.
"""

import bz2
import functools
import lzma
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.append(str(HERE.parent / "support"))

import testdata  # noqa: E402 (needs the path above)
from testdata import unavailable  # noqa: E402

EXIT_NOTHING_TO_BUILD_WITH = 77

# Folder below -datadir, as Bitcoin Core names it.
NETWORK_FOLDERS = {"main": "", "testnet3": "testnet3", "testnet4": "testnet4",
                   "signet": "signet", "regtest": "regtest"}


def network_dir(datadir, network):
    """The directory that holds blocks/ and chainstate/ for `network` below a node's -datadir."""
    return pathlib.Path(datadir) / NETWORK_FOLDERS[network]


def own_program(name):
    """A program of this build, in build/bin or IBD_BINDIR."""
    path = pathlib.Path(os.environ.get("IBD_BINDIR", ROOT / "build" / "bin")) / name
    if not path.exists():
        unavailable(f"{path} is not built")
    return path


def testdata_path(name):
    return testdata.find(name)


def read_testdata(name):
    """The contents of a test data file, unpacked if it is packed."""
    path = testdata_path(name)
    raw = path.read_bytes()
    if path.suffix == ".xz":
        return lzma.decompress(raw)
    if path.suffix == ".bz2":
        return bz2.decompress(raw)
    if path.suffix == ".zst":
        return subprocess.run(["zstd", "-dcq", str(path)], check=True, capture_output=True).stdout
    return raw


@functools.lru_cache(maxsize=None)
def _build(script):
    done = subprocess.run([str(HERE / script)], stdout=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout.strip()


def built_program(script, override):
    """Path of what `script` builds; the environment variable `override` may name one instead."""
    if os.environ.get(override):
        return pathlib.Path(os.environ[override])
    code, path = _build(script)
    if code == EXIT_NOTHING_TO_BUILD_WITH:
        unavailable(f"{script}: its tools are not installed")
    if code != 0:
        raise AssertionError(f"{script} failed with status {code}")
    return pathlib.Path(path)
