"""depends/install.sh and configuring, with stand-ins for the tools that they ask."""

import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Scripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ibd-depends-")
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)
        (self.dir / "bin").mkdir()

    def stand_in(self, name, script):
        path = self.dir / "bin" / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def run_with_stand_ins(self, *command):
        env = {**os.environ, "PATH": f"{self.dir}/bin:{os.environ['PATH']}", "HOME": str(self.dir),
               "IBD_CACHE_DIR": str(self.dir / "cache"), "CI": ""}
        return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


class Install(Scripts):
    def installed(self, cargo, status="install ok installed", has_cargo_web=True):
        """The packages that install.sh installs by apt-get; none if it does not call it."""
        self.stand_in("cargo", f"echo 'cargo {cargo} (abc 2024-01-01)'")
        self.stand_in("dpkg-query", f"echo '{status}'")
        self.stand_in("apt-get", f'[ "$1" = update ] || echo "$@" > {self.dir}/asked')
        self.stand_in("apt-cache", f"exit {0 if has_cargo_web else 100}")
        self.stand_in("id", "echo 0")
        asked = self.dir / "asked"
        asked.unlink(missing_ok=True)
        done = self.run_with_stand_ins(ROOT / "depends" / "install.sh")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        words = asked.read_text().split() if asked.exists() else []
        return [word for word in words if not word.startswith("-") and word != "install"]

    def test_recent_cargo_is_enough(self):
        for version in ("1.78.0", "1.95.0", "2.0.0"):
            self.assertEqual(self.installed(version), [])

    def test_old_cargo_is_joined_by_cargo_web(self):
        for version in ("0.66.0", "1.77.2", "1.9.0"):
            self.assertEqual(self.installed(version), ["cargo-web"])

    def test_releases_without_cargo_web(self):
        self.assertEqual(self.installed("1.70.0", has_cargo_web=False), ["cargo"])

    def test_missing_packages(self):
        wanted = (ROOT / "depends" / "packages.txt").read_text().split()
        self.assertEqual(self.installed("1.80.0", status="unknown"), wanted)
        self.assertEqual(self.installed("1.70.0", status="unknown"), [*wanted, "cargo-web"])


class Configure(Scripts):
    def configure(self, *options):
        return self.run_with_stand_ins("cmake", "-S", ROOT, "-B", self.dir / "build", "-G", "Ninja",
                                       *options)

    def test_without_the_pinned_library(self):
        """One clear line, which names the reason and both ways out."""
        self.stand_in("cargo", "echo cargo 0.66.0")
        done = self.configure()
        self.assertNotEqual(done.returncode, 0)
        told = " ".join(done.stderr.split())
        self.assertIn("No pinned libsecp256k1 (SKIP secp256k1: cargo 0.66 is too old, 1.78 is "
                      "needed): run depends/install.sh, or configure with "
                      "-DIBD_SYSTEM_SECP256K1=ON for the distribution's", told)

    def test_a_prefix_without_elligator_swift(self):
        (self.dir / "lib").mkdir()
        (self.dir / "lib" / "libsecp256k1.a").touch()
        done = self.configure(f"-DIBD_SECP256K1_ROOT={self.dir}")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no static libsecp256k1 with ElligatorSwift", " ".join(done.stderr.split()))

    def test_a_prefix_without_leveldb(self):
        for file in ("lib/libsecp256k1.a", "lib/pkgconfig/libsecp256k1.pc",
                     "include/secp256k1_ellswift.h"):
            (self.dir / file).parent.mkdir(parents=True, exist_ok=True)
            (self.dir / file).write_text("Version: 0\n")
        done = self.configure(f"-DIBD_SECP256K1_ROOT={self.dir}",
                              f"-DIBD_LEVELDB_ROOT={self.dir}")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("there is no include/leveldb/db.h in", " ".join(done.stderr.split()))


if __name__ == "__main__":
    unittest.main()
