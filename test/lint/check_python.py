#!/usr/bin/env python3
"""Finds names in the Python sources that no module, class or function defines, calls with too many
arguments, and imports and variables that nothing uses. Pylint looks for them; a line of a bench or
of an error path that no test runs is looked at as well.
"""
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ["bench", "bench/ibd", "contrib/ibd-booster-hints-gen", "contrib/quickstart",
           "test/functional", "test/interop", "test/support"]
MESSAGES = ["syntax-error", "undefined-variable", "used-before-assignment", "no-member",
            "no-name-in-module", "import-error", "too-many-function-args", "unused-import",
            "unused-variable"]


def sources():
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, stdout=subprocess.PIPE,
                            text=True, check=True)
    return [path for path in listed.stdout.splitlines() if (ROOT / path).exists()]


def main():
    if not shutil.which("pylint"):
        print("pylint is missing: depends/install.sh installs it")
        return 1
    found = [str(ROOT / folder) for folder in FOLDERS]
    command = ["pylint", "--rcfile=/dev/null", "--disable=all", f"--enable={','.join(MESSAGES)}",
               "--score=no", "--init-hook", f"import sys; sys.path[:0] = {found!r}"]
    return subprocess.run([*command, *sources()], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
