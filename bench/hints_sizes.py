#!/usr/bin/env python3
"""Sizes of hints in every format, alone and packed by xz -9 and zstd -19, as one table.

On the hints of an invented chain with mainnet's mixture (bench_hints), and on those of block files
where --real names some, e.g. the first 14,132 blocks of mainnet. Needs xz and zstd."""

import argparse
import gzip
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "ibd"))
import measure  # noqa: E402 (the path has to be set before)

CONVERTED = ("container1", "bitmap", "indexed", "bip456", "btcd", "gaps", "swifthints")


def size_after(command, path):
    """Bytes that a compressor makes of a file."""
    with open(path, "rb") as file:
        return len(subprocess.run(command, stdin=file, stdout=subprocess.PIPE, check=True).stdout)


def sizes(path):
    return (path.stat().st_size, size_after(["xz", "-9", "-c"], path),
            size_after(["zstd", "-19", "-q", "-c"], path))


def rows(folder):
    """A row for each file in a folder, and one for btcd's without its own gzip."""
    packed = folder / "btcd"
    (folder / "btcd-unpacked").write_bytes(gzip.decompress(packed.read_bytes()))
    files = sorted(path for path in folder.iterdir() if path.is_file())
    found = {path.name.removesuffix("-crate"): sizes(path) for path in files}
    reference = found["bip456"][0]
    for name, (plain, xz, zstd) in sorted(found.items(), key=lambda item: min(item[1])):
        yield (name, f"{plain:,}", f"{plain / reference:.3f}", f"{xz:,}", f"{zstd:,}")


def report(title, folder):
    head = ("format", "bytes", "of BIP 456's", "xz -9", "zstd -19")
    return "\n".join([f"{title}:", "", *measure.table(head, *rows(folder)), ""])


def invented(args):
    folder = args.work / "invented"
    out, _ = measure.timed([args.build / "bin/bench_hints", args.blocks, folder])
    estimate = int(re.search(r"estimate: (\d+) bytes", out)[1])
    container = (folder / "container").stat().st_size
    return (report(f"Hints of {args.blocks:,} invented blocks", folder) +
            f"\nContext mixing would take {estimate:,} bytes; the container takes "
            f"{container / estimate:.3f} times that.\n")


def real(args):
    folder = args.work / "real"
    folder.mkdir(parents=True, exist_ok=True)
    tool = args.build / "bin/bitcoin-hints"
    measure.timed([tool, "generate", "--force", args.real, folder / "container"])
    for name in CONVERTED:
        measure.timed([tool, "convert", "--force", f"--format={name}", f"--blocks={args.real}",
                       folder / "container", folder / name])
    return report(f"Hints of the blocks in {args.real.name}", folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--build", type=Path, default=Path("build"))
    parser.add_argument("--work", type=Path, required=True, help="folder for the hints files")
    parser.add_argument("--blocks", type=int, default=42_545, help="of the invented chain")
    parser.add_argument("--real", type=Path, help="folder of block files")
    args = parser.parse_args()
    text = invented(args)
    if args.real:
        text += "\n" + real(args)
    measure.write(args.work, "hints-sizes", text, {})


if __name__ == "__main__":
    main()
