"""The golden chain: the first 14,132 blocks of mainnet, and Bitcoin Core's answers to calls about
them."""

import functools
import lzma
import pathlib
import tarfile
import tempfile

import interop_env
from framework import loads

TIP_HEIGHT = 14131
TIP_HASH = "00000000b3e750f37fdb42e1018799a9f44b546d393b130b369590a072430a1c"
# Hash of the coins at the tip, as in Core's gettxoutsetinfo.
COINS_HASHES = {
    "hash_serialized_3": "74c5a654587d4eaac9248b73889453e0b2fbc918bbc7bb8d8e6301d4d8c98db3",
    "muhash": "859e27f17a6cce9768b75dd0dbd969890157d29a152b0f4a0afa6c67cbcd5975"}
FOLDER = "golden_mainnet14131/"
# A chain this short has less work than mainnet demands before it trusts -assumevalid.
ANY_WORK = "-minimumchainwork=" + "0" * 64


@functools.lru_cache(maxsize=None)
def answers():
    return loads(interop_env.read_testdata(FOLDER + "golden.json").decode())


@functools.lru_cache(maxsize=None)
def _scratch():
    return tempfile.TemporaryDirectory(prefix="ibd-golden-")


def unpacked(name):
    """Path of a test data file without its .xz, unpacked once per process."""
    path = pathlib.Path(_scratch().name, pathlib.Path(name).stem)
    if not path.exists():
        path.write_bytes(lzma.decompress(interop_env.testdata_path(name).read_bytes()))
    return path


def block_file():
    return unpacked("chains/mainnet_0_14131.blk.xz")


def unpack_core_datadir(target):
    """Bitcoin Core's own data directory at the tip."""
    archive = interop_env.testdata_path(FOLDER + "core_datadir_mainnet14131.tar.xz")
    with tarfile.open(archive) as tar:
        tar.extractall(target)
    return target


def place_blocks(node, key=b""):
    """The chain as the node's only block file, obfuscated with `key` if there is one."""
    node.blocks_dir.mkdir(parents=True)
    data = block_file().read_bytes()
    if key:
        repeated = key * (len(data) // len(key) + 1)
        mixed = int.from_bytes(data, "little") ^ int.from_bytes(repeated[:len(data)], "little")
        data = mixed.to_bytes(len(data), "little")
    (node.blocks_dir / "xor.dat").write_bytes(key or bytes(8))
    (node.blocks_dir / "blk00000.dat").write_bytes(data)
