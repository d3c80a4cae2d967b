#!/usr/bin/env python3
"""The tests that the changes since a commit concern, for test/run.sh --since.

    since.py REV      prints three lines: unit tests, functional tests, sources for clang-tidy

A change to a module concerns the unit tests of this module and of all modules that use it. A change
to a test program concerns that program. A change to what all tests share concerns all unit tests.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHARED = re.compile(r"^(cmake/|CMake|depends/|test/(sim|unit/support|unit/CMakeLists)|src/CMake)")


def users(uses, changed):
    """The changed modules and all that use them, directly or not."""
    found = set(changed)
    while more := {name for name, used in uses.items() if found & set(used)} - found:
        found |= more
    return found


def concerned(paths, uses):
    """(modules whose unit tests run, parts of names of functional tests, sources to tidy)"""
    paths = list(paths)
    modules = {path.split("/")[1] for path in paths if path.startswith("src/")} & set(uses)
    found = users(uses, modules)
    found |= {path.split("/")[2] for path in paths if path.startswith("test/unit/")} & set(uses)
    if any(SHARED.match(path) for path in paths):
        found = set(uses)
    functional = sorted({match[1] for path in paths
                         if (match := re.match(r"test/functional/(test_\w+)\.py$", path))})
    tidy = sorted(path for path in paths if re.match(r"src/.*\.cpp$", path))
    return sorted(found), functional, tidy


def changed_paths(revision):
    """Existing files that were committed since the revision, changed, or are new."""
    listed = subprocess.run(["git", "diff", "--name-only", "--diff-filter=d", revision], cwd=ROOT,
                            check=True, capture_output=True, text=True).stdout
    new = subprocess.run(["git", "ls-files", "--others", "--exclude-standard"], cwd=ROOT,
                         check=True, capture_output=True, text=True).stdout
    return sorted({*listed.splitlines(), *new.splitlines()})


def more_programs(paths, modules):
    """Test programs that belong to no module, by their folders and the modules that they test."""
    out = []
    for folder, tested in (("full_validation", {"join", "swiftsync", "validation"}),
                           ("sim", {"consensus"})):
        if any(path.startswith(f"test/{folder}/") for path in paths) or tested & set(modules):
            out.append(f"unit_{folder}")
    return out


def main():
    table = json.loads((ROOT / "cmake" / "modules.json").read_text())
    uses = {row["name"]: row["uses"] for row in table["modules"]}
    paths = changed_paths(sys.argv[1])
    modules, functional, tidy = concerned(paths, uses)
    units = [f"unit_{name}" for name in modules if (ROOT / "test/unit" / name).is_dir()]
    print(*units, *more_programs(paths, modules))
    print(*functional)
    print(*tidy)


if __name__ == "__main__":
    main()
