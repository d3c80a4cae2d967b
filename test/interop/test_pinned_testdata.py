"""Vectors out of pinned packages: there under the names that shared/testdata gives them, the same
bytes, and a reason where no package has them."""

import bz2
import lzma
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
from unittest import mock

import testdata
from testdata import HERE, SHARED, pinned, unavailable

CORE = ["base58_encode_decode", "bip341_wallet_vectors", "blockfilters", "key_io_invalid",
        "key_io_valid", "script_tests", "sighash", "tx_invalid", "tx_valid"]
FROM_CORE = [*(f"core/{name}.json" for name in CORE), "chains/kernel_regtest_206.txt",
             "core/ecdsa_secp256k1_sha256_bitcoin_test.json.xz"]
BTCD_BLOCKS = ["0000000000000000001602407ac49862a7bca9d00f7f402db20b7be2f5de59d2",
               "00000000000000000021868c2cefc52a480d173c849412fe81c4e5ab806f94ab"]
FROM_BTCD = ["chains/mainnet_0_14131.blk.xz", "btcd/277647.dat.bz2", "btcd/277647.utxostore.bz2",
             "btcd/blk_0_to_4.dat.bz2", "btcd/blk_3A.dat.bz2", "btcd/blk_4A.dat.bz2",
             "btcd/blk_5A.dat.bz2", "btcd/many_inputs_tx.hex", "btcd/megatx.bin.bz2",
             *(f"btcd/block-{name}.blk.xz" for name in BTCD_BLOCKS)]
GO = "/usr/local/go/bin"  # the scripts search it even if PATH lacks it
TOOLS = ["bash", "cat", "cut", "dirname", "env", "sha256sum"]  # they use these before the search
ASSETS = "taproot/script_assets_test.json.xz"


def contents(path):
    raw = pathlib.Path(path).read_bytes()
    unpack = {".xz": lzma.decompress, ".bz2": bz2.decompress}.get(pathlib.Path(path).suffix, bytes)
    return unpack(raw)


class PinnedTestdata(unittest.TestCase):
    def check(self, names):
        for name in names:
            with self.subTest(name):
                path, reason = pinned(name)
                if path is None and "not installed" in reason:
                    unavailable(reason)
                self.assertIsNotNone(path, reason)
                if (SHARED / name).exists():
                    self.assertTrue(contents(path) == contents(SHARED / name), "other bytes")

    def test_from_the_package_of_cores_engine(self):
        self.check(FROM_CORE)

    def test_from_btcds_modules(self):
        self.check(FROM_BTCD)
        path, _ = pinned(ASSETS)
        self.assertEqual(contents(path).count(b'"prevouts"'), 2760)

    def test_what_only_the_shared_folder_has(self):
        for name in ("core/mainnet_alt.json", "golden_mainnet14131/golden.json", "bcoin"):
            path, reason = pinned(name)
            self.assertIsNone(path)
            self.assertTrue(reason.startswith(f"no ../shared/testdata/{name}; "), reason)

    def test_without_tools_the_reason_is_named(self):
        """No cargo, no go, an empty cache: the status of a skip, or of a failure in CI."""
        with tempfile.TemporaryDirectory() as folder:
            for tool in TOOLS:
                pathlib.Path(folder, tool).symlink_to(shutil.which(tool))
            bare = {"PATH": folder, "HOME": folder, "IBD_CACHE_DIR": folder}
            for name in ("core/sighash.json", *(() if os.path.isdir(GO) else (ASSETS,))):
                for ci, status in (("", 77), ("true", 1)):
                    done = subprocess.run([HERE / "pinned_testdata.sh", name], text=True,
                                          env={**bare, "CI": ci}, capture_output=True, check=False)
                    self.assertEqual((done.returncode, done.stdout), (status, ""))
                    self.assertIn(" is not installed", done.stderr)

    def test_found_where_the_shared_folder_is_missing(self):
        path, _ = pinned(FROM_CORE[0])
        if path is None:
            unavailable("cargo is not installed")
        with mock.patch.object(testdata, "SHARED", pathlib.Path("/nonexistent")):
            self.assertEqual(testdata.find(FROM_CORE[0]), path)


if __name__ == "__main__":
    unittest.main()
