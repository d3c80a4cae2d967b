#!/usr/bin/env python3
"""Builds the fuzz targets (clang, libFuzzer, address and undefined-behaviour sanitizers) and runs
each from the inputs in test/fuzz/seeds.

    test/fuzz/run.py                                       what test/run.sh does: seconds each
    test/fuzz/run.py --seconds 3600 --corpus ~/corpus      a long run, which keeps what it finds
    test/fuzz/run.py --targets script,undo                 some of them only
    test/fuzz/run.py --only-build                          builds the targets
    test/fuzz/run.py --corpus ~/corpus --keep-seeds        the least of the corpus that covers as
                                                           much becomes the seeds

Where clang is missing it says so and does nothing; with CI=true that is a failure. An input that
breaks a target stays on disk; its path and the command that runs it again are printed.

A seed file is text: one input in hex on each line.
"""
import argparse
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "test" / "support"))

import testrunner  # noqa: E402 (needs the path above)

SEEDS = ROOT / "test/fuzz/seeds"
BUILD = ROOT / "build-fuzz"
COMPILER = "clang++-14"  # of the fuzz preset
MAX_INPUT = 4096  # bytes
MAX_SEED, MAX_SEEDS_BYTES = 1000, 12_000  # of one seed, and of all seeds of one target


def target_names():
    return sorted(p.stem.removeprefix("fuzz_") for p in (ROOT / "test/fuzz").glob("fuzz_*.cpp"))


def build(names):
    subprocess.run(["cmake", "--preset", "fuzz"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    # The modules that take locks as well: clang alone checks that they do (src/util/mutex.h).
    targets = [*(f"fuzz_{name}" for name in names), "ibd_rpc", "ibd_node"]
    subprocess.run(["cmake", "--build", BUILD, "--target", *targets], check=True)


def read_seeds(name):
    file = SEEDS / f"{name}.hex"
    return [bytes.fromhex(line) for line in file.read_text().split("\n") if line]


def program(name):
    return BUILD / "bin" / f"fuzz_{name}"


def last_words(text, marked):
    return [line.split()[-1] for line in text.split("\n") if marked in line]


def fuzz(name, args, work):
    """Runs one target; returns what to say, and whether all is well."""
    seeds = work / name
    seeds.mkdir()
    for i, seed in enumerate(read_seeds(name)):
        (seeds / f"{i:03}").write_bytes(seed)
    corpus = (args.corpus or work / "corpus") / name
    corpus.mkdir(parents=True, exist_ok=True)
    crashes = BUILD / "crashes" / name
    crashes.mkdir(parents=True, exist_ok=True)
    command = [program(name), f"-max_total_time={args.seconds}", f"-max_len={MAX_INPUT}",
               "-timeout=20", "-rss_limit_mb=2048", "-print_final_stats=1",
               f"-artifact_prefix={crashes}/", corpus, seeds]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False,
                          env={**os.environ, "TMPDIR": str(work)})
    if done.returncode == 0:
        count, runs = len(list(seeds.iterdir())), last_words(done.stderr, "executed_units")[0]
        return f"{name}: {count} seeds, {runs} inputs run, none failed", True
    paths = last_words(done.stderr, "Test unit written to")
    lines = [f"{name}: FAILED", done.stderr[-6000:]]
    lines += [f"input: {path}\nagain: {program(name)} {path}" for path in paths]
    return "\n".join(lines), False


def keep_seeds(name, corpus, work):
    """Writes the smallest inputs that together cover what the corpus and the old seeds cover."""
    pool, least = work / f"{name}-pool", work / f"{name}-least"
    for folder in (pool, least):
        folder.mkdir()
    for i, seed in enumerate(read_seeds(name)):
        (pool / f"old{i}").write_bytes(seed)
    for file in (corpus / name).iterdir():
        if file.stat().st_size <= MAX_SEED:
            shutil.copy(file, pool)
    subprocess.run([program(name), "-merge=1", least, pool], check=True, capture_output=True)
    inputs = sorted((f.read_bytes() for f in least.iterdir()), key=lambda d: (len(d), d))
    step = -(-sum(map(len, inputs)) // MAX_SEEDS_BYTES)  # over the limit: some of every length
    kept = inputs[::max(step, 1)]
    (SEEDS / f"{name}.hex").write_text("".join(data.hex() + "\n" for data in kept))
    print(f"{name}: {len(kept)} seeds", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=int, default=5, help="for each target")
    parser.add_argument("--targets", default=",".join(target_names()))
    parser.add_argument("--corpus", type=Path, help="folder that keeps the inputs found")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="targets at a time")
    parser.add_argument("--keep-seeds", action="store_true")
    parser.add_argument("--only-build", action="store_true")
    args = parser.parse_args()
    names = args.targets.split(",")
    if unknown := set(names) - set(target_names()):
        parser.error(f"no such target: {', '.join(sorted(unknown))}")
    if not shutil.which(COMPILER):
        print(f"fuzz: skipped, there is no {COMPILER} (Debian: clang-14 and libclang-rt-14-dev)")
        testrunner.record("fuzz", 0, 0, [f"{name}: {COMPILER} is not installed" for name in names])
        return 1 if os.environ.get("CI") == "true" else 0
    if args.keep_seeds and not args.corpus:
        parser.error("--keep-seeds needs --corpus")
    build(names)
    if args.only_build:
        return 0
    with tempfile.TemporaryDirectory() as folder:
        if args.keep_seeds:
            for name in names:
                keep_seeds(name, args.corpus, Path(folder))
            return 0
        passes = []
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            for text, passed in pool.map(lambda name: fuzz(name, args, Path(folder)), names):
                print(text, flush=True)
                passes.append(passed)
    testrunner.record("fuzz", sum(passes), len(passes) - sum(passes), [])
    return 0 if all(passes) else 1


if __name__ == "__main__":
    sys.exit(main())
