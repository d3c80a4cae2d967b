"""An end of test/run.sh and of the quick start ends what they started; the quick start leaves other
people's folders alone and says how far a build is. With programs in the place of compilers."""

import argparse
import contextlib
import io
import os
import pathlib
import pty
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "contrib" / "quickstart"))

MOST_SECONDS = 120  # generous: nothing passes because of it
# A build: a program that starts another, which has to end. Stops itself some day.
BUILD = """#!/bin/sh
echo "[12/439] Building something"
sh -c 'echo $$ >> "$STARTED"; exec sleep 600'
"""
NOTHING = "#!/bin/sh\nexit 0\n"


def is_running(pid):
    with contextlib.suppress(OSError):
        state = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2]
        return state.split()[0] != "Z"
    return False


class Script(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ibd-stopping-")
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)
        self.tree, self.started = self.dir / "tree", self.dir / "started"
        self.env = {**os.environ, "STARTED": str(self.started),
                    "PATH": f"{self.dir / 'bin'}:{os.environ['PATH']}"}
        self.addCleanup(self.end_all)

    def program(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def copy(self, name):
        (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, self.tree / name)
        return str(self.tree / name)

    def pids(self):
        text = self.started.read_text() if self.started.exists() else ""
        return [int(word) for word in text.split()]

    def end_all(self):
        for pid in self.pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def wait_for(self, condition):
        end = time.monotonic() + MOST_SECONDS
        while not condition():
            self.assertLess(time.monotonic(), end, "what has to end runs on")
            time.sleep(0.02)

    def check_end(self, process, builds, ask):
        """Once `builds` builds run: all of them end on request."""
        self.wait_for(lambda: len(self.pids()) == builds)
        self.assertTrue(all(map(is_running, self.pids())))
        ask(process.pid)
        process.wait()
        self.assertNotEqual(process.returncode, 0)
        self.wait_for(lambda: not any(map(is_running, self.pids())))


class Tests(Script):
    def begin(self):
        script = self.copy("test/run.sh")
        self.program(self.tree / "depends/install.sh", NOTHING)
        for name in ("oracle", "btcd", "core"):
            self.program(self.tree / f"test/interop/build_{name}.sh", BUILD)
        self.program(self.dir / "bin/cmake", BUILD.replace("echo", "[ $# -eq 2 ] && exit\necho", 1))
        return subprocess.Popen([script], env=self.env, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, start_new_session=True)

    def test_ctrl_c(self):
        """A terminal sends it to the group in the foreground: the script's own build ends by that,
        those of the other implementations by the script."""
        self.check_end(self.begin(), 2, lambda pid: os.killpg(pid, signal.SIGINT))


class Nightly(Script):
    # ninja ends by itself on Ctrl-C, with a status of its own.
    NINJA = """#!/bin/sh
trap 'exit 2' INT
echo $$ >> "$STARTED"
while :; do sleep 0.1; done
"""

    def test_ctrl_c(self):
        """The next step does not begin."""
        script = self.copy("test/nightly.sh")
        self.program(self.dir / "bin/cmake", self.NINJA)
        process = subprocess.Popen([script, "clang", "tidy"], env=self.env,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        self.check_end(process, 1, lambda pid: os.killpg(pid, signal.SIGINT))
        self.assertEqual((process.returncode, len(self.pids())), (130, 1))


class Functional(Script):
    # Each class starts a process that would run on, in a session of its own as a daemon does.
    TESTS = """
import os, subprocess, unittest

class A(unittest.TestCase):
    def test(self):
        with open(os.environ["STARTED"], "a") as file:
            other = subprocess.Popen(["sleep", "600"], start_new_session=True)
            file.write(f"{os.getpid()} {other.pid}\\n")
        other.wait()

class B(A):
    pass

class C(A):
    pass
"""

    def begin(self):
        script = self.copy("test/functional/run.py")
        for name in ("testrunner.py", "class_runner.py", "children.py"):
            self.copy(f"test/support/{name}")
        self.program(self.tree / "test/functional/test_some.py", self.TESTS)
        (self.dir / "tmp").mkdir(exist_ok=True)
        return subprocess.Popen([sys.executable, script, "-j", "1"], stdout=subprocess.DEVNULL,
                                env={**self.env, "TMPDIR": str(self.dir / "tmp")},
                                start_new_session=True)

    def test_asked_to_end(self):
        """After Ctrl-C or by itself: no further class begins, and no process or file is left."""
        for ask in (lambda pid: os.killpg(pid, signal.SIGINT),
                    lambda pid: os.kill(pid, signal.SIGTERM)):
            self.started.unlink(missing_ok=True)
            self.check_end(self.begin(), 2, ask)
            self.assertEqual(len(self.pids()), 2)
            self.assertEqual(list((self.dir / "tmp").iterdir()), [])


class QuickStart(Script):
    def begin(self, *options, **more):
        script = self.copy("contrib/quickstart.sh")
        self.program(self.dir / "bin/cmake", BUILD)
        return subprocess.Popen([script, "--no-install", "--dir", str(self.dir / "out"), *options],
                                env=self.env, stderr=subprocess.DEVNULL, start_new_session=True,
                                **more)

    def test_asked_to_end(self):
        for ask in (lambda pid: os.killpg(pid, signal.SIGINT),
                    lambda pid: os.kill(pid, signal.SIGTERM)):
            self.check_end(self.begin(stdout=subprocess.DEVNULL), 1, ask)
            self.started.unlink()

    def test_how_far_a_build_is(self):
        ours, theirs = pty.openpty()
        process = self.begin(stdout=theirs)
        os.close(theirs)
        shown = b""
        while b"12 of 439" not in shown:
            shown += os.read(ours, 4096)
        self.assertRegex(shown, rb"configure +[0-9]+ s  12 of 439")
        os.kill(process.pid, signal.SIGTERM)
        process.wait()
        os.close(ours)

    def test_a_folder_that_it_has_not_made(self):
        out = self.dir / "out"
        for name in ("photo", "quickstart.log"):
            (out / "data").mkdir(parents=True)
            (out / name).write_text("mine")
            process = self.begin(stdout=subprocess.DEVNULL)
            self.assertEqual(process.wait(), 1)
            self.assertEqual((out / name).read_text(), "mine")
            self.assertEqual(sorted(path.name for path in out.iterdir()), ["data", name])
            shutil.rmtree(out)


class Core(Script):
    """The step of the quick start that builds what it compares with."""

    def find(self, build, watch=None):
        import demo
        script = self.dir / "build_core.sh"
        self.program(script, build)
        log = self.dir / "quickstart.log"
        said = io.StringIO()
        with open(log, "w", encoding="utf-8") as out, contextlib.redirect_stdout(said):
            steps = demo.Steps(out, 1)
            if watch:
                steps.run("build", [script], watch)
            with unittest.mock.patch.object(demo, "BUILD_CORE", script):
                args = argparse.Namespace(dir=self.dir, no_core=False)
                return demo.find_core(args, steps), said.getvalue()

    def test_built(self):
        found, said = self.find("#!/bin/sh\necho /where/it/is\n")
        self.assertEqual(found, pathlib.Path("/where/it/is"))
        self.assertNotIn("no comparison", said)

    def test_no_tools(self):
        found, said = self.find("#!/bin/sh\necho 'SKIP core: no cargo here' >&2\nexit 77\n")
        self.assertIsNone(found)
        self.assertIn("no comparison with Bitcoin Core: no cargo here\n", said)

    def test_asked_to_end(self):
        def watch(_seconds):
            if self.pids():
                raise KeyboardInterrupt
        with (unittest.mock.patch.dict(os.environ, self.env),
              self.assertRaises(KeyboardInterrupt)):
            self.find(BUILD, watch)
        self.wait_for(lambda: not any(map(is_running, self.pids())))


class Chart(unittest.TestCase):
    RUNS = {"Bitcoin Core": [(12, 100.0)], "serial validation": [(9, 100.0)],
            "booster, blocks alone": [(4, 100.0)], "booster, hints": [(2, 100.0)]}

    def test_everything_is_inside(self):
        import chart
        import xml.etree.ElementTree
        title = "Rebuilding the chainstate: 8,000,000 outputs, 123,456 blocks"
        for runs in (self.RUNS, {"a name that is longer than any of them has been": [(1, 100.0)]}):
            root = xml.etree.ElementTree.fromstring(chart.svg(title, runs))
            wide = float(root.get("width"))
            for text in root.iter("{http://www.w3.org/2000/svg}text"):
                x, size = float(text.get("x")), float(text.get("font-size"))
                part = {"start": 1, "middle": 0.5, "end": 0}[text.get("text-anchor", "start")]
                self.assertLessEqual(x + part * chart.width(text.text, size), wide, text.text)

    def test_the_fastest_is_not_red(self):
        import chart
        drawn = chart.svg("", self.RUNS)
        for name, colour in zip(self.RUNS, chart.COLOURS):
            self.assertIn(f'fill="{colour}">{name}', drawn)
            red, green, blue = (int(colour[i:i + 2], 16) for i in (1, 3, 5))
            self.assertLessEqual(red, max(green, blue))


if __name__ == "__main__":
    unittest.main()
