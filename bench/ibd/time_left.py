#!/usr/bin/env python3
"""Measures the error of the time left that a node shows, over a generated chain. Runs each kind of
rebuild and syncs from a peer, asks getboosterinfo ten times a second, and compares the time left at
half of the duration with the true remaining time.

    bench/ibd/time_left.py --build build --work /somewhere [--outputs 39600000] [--threads 1]
        [--full-validation] [--only WORD]

--only leaves out the kinds whose name lacks WORD. A run below 8 seconds is not judged, as the time
left is shown in whole seconds. The costs of the steps in src/booster/work_plan.cpp come from the
CPU seconds of each step that it prints.
"""
import shutil
import subprocess
import time

import measure

MAX_ERROR = 0.3  # the target
LEAST_SECONDS = 8  # of a run that is judged
EVERY_SECONDS = 0.1


class Bench:
    def __init__(self, args):
        self.args = args
        self.folder = args.work / f"time-left-{args.outputs}"
        self.hints = args.work / f"time-left-{args.outputs}.hints"
        self.summary = measure.chain(args.build, self.folder, args.outputs, "--tail", measure.TAIL,
                                     "--shuffle", 10, "--container", self.hints)

    def peer(self):
        """Starts a node that serves the chain; returns the -connect option for it."""
        port, rpc = measure.free_port(), measure.free_port()
        command = [self.args.build / "bin/bitcoind", "-regtest", f"-datadir={self.folder}",
                   f"-rpcport={rpc}", "-connect=0", "-listen=1",
                   f"-bind=127.0.0.1:{port}", "-printtoconsole=0", "-ibdboosterundo=0"]
        self.server = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
        while not (measure.rpc(self.folder, rpc, "getmempoolinfo") or {}).get("loaded"):
            if self.server.poll() is not None:
                raise SystemExit(f"the serving node ended: see {self.folder}/regtest/debug.log")
            time.sleep(EVERY_SECONDS)
        return f"-connect=127.0.0.1:{port}"

    def samples(self, *options, folder=None):
        """Samples (seconds, getboosterinfo, CPU seconds) while the node shows a step; the last
        sample is the first one without a step."""
        port = measure.free_port()
        folder = folder or self.folder
        command = [self.args.build / "bin/bitcoind", "-regtest", f"-datadir={folder}",
                   f"-rpcport={port}", "-listen=0", "-printtoconsole=0",
                   f"-ibdboosterthreads={self.args.threads}",
                   f"-assumevalid={self.summary['hints_hash']}", "-minimumchainwork=0", *options]
        names = {option.split("=")[0] for option in options}
        command += [] if "-connect" in names else ["-connect=0"]
        command += [] if "-ibdboosterundo" in names else ["-ibdboosterundo=0"]
        seen = []
        with subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as node:
            while node.poll() is None:
                info = measure.rpc(folder, port, "getboosterinfo")
                if info and (seen or "step" in info):
                    seen.append((time.monotonic(), info, measure.cpu_of(node.pid)))
                    if "step" not in info:
                        break
                time.sleep(EVERY_SECONDS)
            node.terminate()
        return seen

    def run(self, name, *options):
        measure.warm(self.folder / "regtest/blocks")
        return self.judge(name, self.samples(*options))

    def sync(self, name, *options):
        """A sync of an empty node from a peer."""
        fresh = self.folder.with_name(self.folder.name + "-fresh")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir()
        peer = self.peer()
        try:
            return self.judge(name, self.samples(peer, *options, folder=fresh))
        finally:
            self.server.terminate()
            self.server.wait()
            shutil.rmtree(fresh)

    @staticmethod
    def judge(name, samples):
        *seen, last = samples
        begin, end = seen[0][0], last[0]
        half = min(seen, key=lambda sample: abs(sample[0] - (begin + end) / 2))
        left = end - half[0]
        steps = {}
        for (_, info, before), (_, _, after) in zip(seen, [*seen[1:], last]):
            key = f"step {info['step']} of {info['steps']}"
            steps[key] = steps.get(key, 0) + after - before
        error = max(abs(half[1]["timeleft"] - left) - 0.5, 0) / left
        result = {"name": name, "seconds": end - begin, "share": half[1]["progress"],
                  "told": half[1]["timeleft"], "left": left, "steps": steps,
                  "error": error if end - begin >= LEAST_SECONDS else None}
        print(f"  {name}: {result['seconds']:.1f} s; at half-way {result['share']:.0%}, "
              f"{result['told']} s left told, {left:.1f} s true; CPU of "
              + ", ".join(f"{key} {value:.1f} s" for key, value in steps.items()), flush=True)
        return result


def main():
    parser = measure.arguments(__doc__, outputs=39_600_000, repeat=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--full-validation", action="store_true",
                        help="also with every script, which takes minutes")
    parser.add_argument("--only", metavar="WORD", default="")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    bench = Bench(args)
    hints = f"-ibdboosterfile={bench.hints}"
    kinds = [("-reindex -ibdbooster=0", "-reindex", "-ibdbooster=0"),
             ("-reindex-chainstate -ibdbooster=0", "-reindex-chainstate", "-ibdbooster=0"),
             ("-reindex-chainstate -ibdbooster", "-reindex-chainstate", "-ibdbooster"),
             ("-reindex-chainstate with hints", "-reindex-chainstate", hints),
             ("-reindex -ibdbooster", "-reindex", "-ibdbooster"),
             ("-reindex with hints", "-reindex", hints),
             ("-reindex-chainstate -ibdbooster, undo now", "-reindex-chainstate", "-ibdbooster",
              "-ibdboosterundo=now"),
             ("-reindex-chainstate with hints, undo now", "-reindex-chainstate", hints,
              "-ibdboosterundo=now")]
    if args.full_validation:
        kinds.append(("full validation", "-reindex-chainstate", "-ibdbooster",
                      "-ibdboosterfullvalidation"))
    syncs = [("from a peer, -ibdbooster=0", "-ibdbooster=0"),
             ("from a peer, -ibdbooster", "-ibdbooster"), ("from a peer with hints", hints)]
    chosen = [(bench.run, kind) for kind in kinds] + [(bench.sync, kind) for kind in syncs]
    results = [measured(*kind) for measured, kind in chosen if args.only in kind[0]
               for _ in range(args.repeat)]
    judged = [result["error"] for result in results if result["error"] is not None]
    rows = [(r["name"], f"{r['seconds']:.1f}", f"{100 * r['share']:.0f} %", f"{r['told']} s",
             f"{r['left']:.1f} s",
             "too short" if r["error"] is None else f"{100 * r['error']:.0f} %") for r in results]
    facts = bench.summary
    text = "\n".join([
        f"{facts['outputs']:,} outputs, {facts['bytes'] / 1e6:.0f} MB in {facts['height']:,} "
        f"blocks; {args.threads} thread(s).", "",
        *measure.table(("run", "seconds", "share at half-way", "told", "true", "error"), *rows),
        "", *(measure.verdict_table([("largest error at half-way", max(judged), "<=", MAX_ERROR)])
              if judged else ["No run was long enough to be judged."]), ""])
    measure.write(args.work, "time-left", text, results)


if __name__ == "__main__":
    main()
