#!/usr/bin/env python3
"""clang-tidy over the sources that differ from a commit, or over all of src: every finding is an
error. .clang-tidy says which checks, and why.

    test/lint/clang_tidy.py [BASE | --all] [--jobs N]        BASE: a commit, default main

A file takes half a minute, so this is no part of the tests. A file that was clean is not checked
again until its preprocessed text, its comments or the checks change; the cache keeps a stamp for
it in $XDG_CACHE_HOME/ibd-booster/tidy (~/.cache by default).

clang reads neither gcc's precompiled headers nor all of its options, so the compile commands come
from a tree of clang's own, build-clang. It is configured; one generated source is built in it.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build-clang"
TIDY = "clang-tidy-14"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ibd-booster" / "tidy"
# A generated source, and the file that includes it.
TABLE = BUILD / "generated/cli/node_calls.inc"
TABLE_USER = "src/cli/param_table.cpp"


def output(*command):
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def sources(base):
    """The .cpp files of src: all, or those that differ from `base`."""
    if base is None:
        return output("git", "ls-files", "src/*.cpp").split()
    return output("git", "diff", "--name-only", "--diff-filter=d", base, "--",
                  "src/*.cpp").split()


def configure(files):
    """Makes what `files` need to compile; returns the compile commands by file."""
    output("cmake", "-S", ".", "-B", str(BUILD), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
           "-DCMAKE_C_COMPILER=clang-14", "-DCMAKE_CXX_COMPILER=clang++-14",
           "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
    if TABLE_USER in files:
        output("cmake", "--build", str(BUILD), "--target", str(TABLE))
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    return {Path(each["file"]).relative_to(ROOT).as_posix(): each for each in commands
            if Path(each["file"]).is_relative_to(ROOT)}


def stamp(command, checks):
    """A digest of all that the verdict on a file depends on."""
    words = shlex.split(command["command"])
    at = words.index("-o")
    words[at:at + 2] = ["-E", "-C"]
    words.remove("-c")
    text = subprocess.run(words, cwd=command["directory"], check=True, capture_output=True).stdout
    digest = hashlib.sha256(checks)
    digest.update(text.replace(str(ROOT).encode(), b"."))
    return digest.hexdigest()


def check(file, command, checks):
    """What clang-tidy finds in `file`; empty: nothing."""
    kept = CACHE / stamp(command, checks)
    if kept.exists():
        return ""
    run = subprocess.run([TIDY, "-p", str(BUILD), "--quiet", file], cwd=ROOT, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if run.returncode != 0:
        found = re.sub(r"(?m)^\d+ warnings generated\.\n", "", run.stdout)
        return found or f"{file}: {TIDY} ended with status {run.returncode}\n"
    kept.touch()
    return ""


def main():
    parser = argparse.ArgumentParser(description="runs clang-tidy")
    parser.add_argument("base", nargs="?", default="main")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("JOBS", "1")))
    args = parser.parse_args()
    files = sources(None if args.all else args.base)
    if not files:
        print("nothing to check")
        return 0
    CACHE.mkdir(parents=True, exist_ok=True)
    commands = configure(files)
    checks = (ROOT / ".clang-tidy").read_bytes() + output(TIDY, "--version").encode()
    unknown = [file for file in files if file not in commands]
    if unknown:
        print(f"no compile command for {' '.join(unknown)}", file=sys.stderr)
        return 1
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        found = pool.map(lambda file: check(file, commands[file], checks), files)
        for at, (file, text) in enumerate(zip(files, found), 1):
            bad += bool(text)
            print(f"[{at}/{len(files)}] {file}{': ' if text else ''}", flush=True)
            print(text, end="", flush=True)
    print(f"{bad} of {len(files)} files have findings" if bad else f"{len(files)} files are clean")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
