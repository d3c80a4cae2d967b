"""The installation of a user: the programs in a root of their own, their manual pages and
completions.

The root is that of `cmake --install`; IBD_PACKAGE names a .deb or a tar archive to unpack instead,
as test/package.sh does.
"""

import os
import re
import shutil
import subprocess
import sys
import unittest

import framework
from framework import FunctionalTest
from generated import GeneratedChain

PACKAGING = framework.ROOT / "contrib" / "packaging"
sys.path.insert(0, str(PACKAGING))
import make_docs  # noqa: E402 (needs the path above)
import program_help  # noqa: E402

PROGRAMS = ("bitcoind", "bitcoin-cli", "bitcoin-hints")
ALLOWED_LIBRARIES = {"ld-linux-x86-64.so.2", "libstdc++.so.6", "libm.so.6", "libgcc_s.so.1",
                     "libc.so.6"}
MORE_LIBRARIES = {"bitcoind": {"libzmq.so.5"}}  # doc/dependencies.md says why


def install(root):
    """Fills `root`; the folder with the programs."""
    package = os.environ.get("IBD_PACKAGE", "")
    if package.endswith(".deb"):
        subprocess.run(["dpkg-deb", "-x", package, root], check=True)
    elif package:
        subprocess.run(["tar", "-xf", package, "-C", root, "--strip-components=1"], check=True)
    else:
        subprocess.run(["cmake", "--install", framework.bindir().parent, "--prefix", root],
                       check=True, stdout=subprocess.DEVNULL)
        return root / "bin"
    return root / "usr" / "bin"


class Installed(FunctionalTest):
    def setUp(self):
        super().setUp()
        self.root = self.dir / "root"
        self.root.mkdir()
        self.bin = install(self.root)
        before = os.environ.get("IBD_BINDIR")
        self.chaingen = framework.program("ibd-chaingen")
        self.addCleanup(self.use, before)

    @staticmethod
    def use(bindir):
        if bindir is None:
            os.environ.pop("IBD_BINDIR", None)
        else:
            os.environ["IBD_BINDIR"] = str(bindir)

    def test_the_main_job_runs_from_there(self):
        chain = GeneratedChain(self.dir / "chain", ["--outputs", "20000", "--tail", "2100"])
        self.use(self.bin)
        node = chain.place(self.node("regtest", *chain.trust))
        status, errors = node.run("-reindex", chain.to_tip)
        self.assertEqual((status, errors), (0, ""))
        hints = self.dir / "made.hints"
        framework.hints_tool("generate", f"--height={chain.terminal_height}", node.datadir, hints)
        node.start("-reindex-chainstate", f"-ibdboosterfile={hints}")
        node.wait_for_tip(chain.tip)
        self.assertIn("*** IBD Booster: SHA256 check at block height "
                      f"{chain.terminal_height} succeeded. ***", node.log_text)
        answer = node.cli("getblockcount")
        self.assertEqual(answer.stdout.strip(), str(chain.height), answer.stderr)
        node.stop()

    def test_the_files_are_where_they_belong(self):
        names = {str(path.relative_to(self.root)) for path in self.root.rglob("*")
                 if path.is_file()}
        for program in PROGRAMS:
            self.assertTrue(os.access(self.bin / program, os.X_OK), program)
        self.assertTrue(any(name.endswith("lib/systemd/system/bitcoind.service")
                            for name in names), names)
        self.assertTrue(any(name.endswith("CHANGELOG.md") for name in names), names)
        readme = next(self.root.rglob("README.md"))
        images = re.findall(r"!\[[^]]*\]\(([^)]+)\)", readme.read_text())
        self.assertTrue(images)
        for image in images:
            self.assertTrue((readme.parent / image).is_file(), image)
        unit = next(self.root.rglob("bitcoind.service")).read_text()
        self.assertNotRegex(unit, "@[A-Z_]+@")
        settings = re.search(r"-conf=(\S+)", unit)[1].removeprefix("/usr/local").lstrip("/")
        settings = self.root / settings
        self.assertTrue(settings.is_file(), f"{settings} is not among {names}")

    def test_the_service_may_make_the_calls_that_the_node_makes(self):
        unit = next(self.root.rglob("bitcoind.service")).read_text()
        if not shutil.which("systemd-analyze"):
            self.skipTest("no systemd-analyze (Debian: systemd)")
        allowed = set()
        for line in re.findall(r"(?m)^SystemCallFilter=(.*)$", unit):
            for word in line.lstrip("~").split():
                named = self.system_calls(word)
                allowed = allowed - named if line.startswith("~") else allowed | named
        self.assertIn("read", allowed)
        used = {"setpriority", "sched_setscheduler", "prlimit64", "mlock", "fallocate",
                "sync_file_range", "clone3"}
        for source in (framework.ROOT / "src").rglob("*.cpp"):
            used |= set(re.findall(r"\bSYS_(\w+)", source.read_text()))
        self.assertIn("sched_setattr", used)
        self.assertEqual(used - allowed, set())
        self.assertIn("SystemCallErrorNumber=EPERM", unit)

    def system_calls(self, name):
        if not name.startswith("@"):
            return {name}
        out = subprocess.run(["systemd-analyze", "syscall-filter", name], capture_output=True,
                             text=True, check=True).stdout
        words = [line.strip() for line in out.splitlines()[1:]]
        calls = {word for word in words if re.fullmatch(r"[a-z0-9_]+", word)}
        for group in (word for word in words if word.startswith("@")):
            calls |= self.system_calls(group)
        return calls

    def test_a_package_needs_only_the_named_libraries_and_has_the_pages(self):
        if not os.environ.get("IBD_PACKAGE"):
            self.assertFalse(list(self.root.rglob("man1")), "a build of the tests makes no pages")
            return
        for program in PROGRAMS:
            out = subprocess.run(["readelf", "--dynamic", self.bin / program], capture_output=True,
                                 text=True, check=True).stdout
            needed = set(re.findall(r"\(NEEDED\).*\[(\S+)\]", out))
            self.assertIn("libc.so.6", needed)
            self.assertLessEqual(needed, ALLOWED_LIBRARIES | MORE_LIBRARIES.get(program, set()))
        package = os.environ["IBD_PACKAGE"]
        if package.endswith(".deb"):
            depends = subprocess.run(["dpkg-deb", "--field", package, "Depends"],
                                     capture_output=True, text=True, check=True).stdout
            self.assertEqual(set(re.findall(r"(?:^|, )([^ ,]+)", depends.strip())),
                             {"libc6", "libgcc-s1", "libstdc++6", "libzmq5"})
        pages = [path.name for path in self.root.rglob("man1/*")]
        self.assertEqual(sorted(pages), sorted(f"{name}.1" for name in PROGRAMS))


class Documents(FunctionalTest):
    """Manual pages, completions and the example configuration agree with the programs."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.files = make_docs.documents(framework.bindir())

    def write(self):
        for name, text in self.files.items():
            path = self.dir / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def test_the_same_programs_give_the_same_bytes(self):
        self.assertEqual(make_docs.documents(framework.bindir()), self.files)

    def test_pages_format_and_have_every_option_and_call(self):
        self.write()
        options = [option.name for group in program_help.node_options(framework.bindir())
                   for option in group.options]
        self.assertGreater(len(options), 100)
        shown = self.man("bitcoind")
        for name in options:
            self.assertRegex(shown, rf"(?m)^\s+{re.escape(name)}\b")
        shown = self.man("bitcoin-cli")
        node = self.node().start()
        for name in re.findall(r"(?m)^([a-z]+)", node.rpc("help")):
            self.assertRegex(shown, rf"\b{name}\b")
        shown = self.man("bitcoin-hints")
        for name in ("generate", "convert", "--snapshot=FILE", "bip456-core"):
            self.assertIn(name, shown)

    def man(self, program):
        done = subprocess.run(["groff", "-man", "-Tutf8", "-P-cbou", "-rHY=0", "-rLL=500n", "-ww",
                               self.dir / "man1" / f"{program}.1"],
                              capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.replace("\u2010", "-").replace("\u2212", "-")

    def complete(self, program, line):
        script = self.dir / "bash" / program
        ask = (f"source {script}; COMP_LINE={line!r}; COMP_POINT=${{#COMP_LINE}}; "
               f"compopt() {{ :; }}; $(complete -p {program} | sed 's/.*-F \\([^ ]*\\).*/\\1/'); "
               'printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True,
                              cwd=self.dir)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash_completes_options_calls_files_and_formats(self):
        self.write()
        self.assertEqual(self.complete("bitcoind", "bitcoind -ibdboosterf"),
                         ["-ibdboosterfile=", "-ibdboosterfullvalidation"])
        self.assertEqual(self.complete("bitcoin-cli", "bitcoin-cli getboosteri"),
                         ["getboosterinfo"])
        self.assertEqual(self.complete("bitcoin-hints", "bitcoin-hints convert --format=bip"),
                         ["bip456", "bip456-core", "bip456-crate"])
        (self.dir / "some.hints").touch()
        self.assertEqual(self.complete("bitcoind", "bitcoind -ibdboosterfile=some"),
                         ["some.hints"])

    def test_the_example_configuration_is_accepted_and_names_real_options(self):
        self.write()
        config = self.dir / "bitcoin.conf"
        node = self.node("regtest", f"-conf={config}").start()
        node.stop()
        known = {option.name[1:] for group in program_help.node_options(framework.bindir())
                 for option in group.options}
        named = set(re.findall(r"(?m)^#([a-z0-9-]+)=", config.read_text()))
        self.assertEqual(named, known - {name[1:] for name in make_docs.COMMAND_LINE_ONLY})


if __name__ == "__main__":
    unittest.main()
