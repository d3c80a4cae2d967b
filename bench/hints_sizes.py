#!/usr/bin/env python3
"""Sizes of hints in every format, alone and packed by xz -9 and zstd -19, as one table.

On the hints of an invented chain with mainnet's mixture (bench_hints), on those of block files
where --real names some, e.g. the first 14,132 blocks of mainnet, and where --generated says how
many outputs, on those of a chain of ibd-chaingen --like-mainnet beside what was published of
mainnet. Needs xz and zstd."""

import gzip
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "ibd"))
import measure  # noqa: E402 (the path has to be set before)

CONVERTED = ("container1", "bitmap", "indexed", "bip456", "btcd", "gaps", "swifthints")
# Mainnet's sizes, in bits for each unspent output: file, whether xz -6 packs it, published, at
# height.
PUBLISHED = (("bitmap", False, 16.1, 850_900), ("bitmap", True, 3.87, 850_900),
             ("btcd-unpacked", False, 8.2, 928_000), ("btcd-unpacked", True, 3.58, 850_900),
             ("bip456", False, 5.6, 930_000), ("btcd", False, 4.2, 933_038))


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


def convert(args, blocks, source, *targets):
    for target in targets:
        measure.timed([args.build / "bin/bitcoin-hints", "convert", "--force",
                       f"--format={target.name}", f"--blocks={blocks}", source, target])


def generated(args):
    """A chain with blocks, and the difference of its hints from mainnet's."""
    folder, chain = args.work / "generated", args.work / f"chain-{args.generated}"
    folder.mkdir(parents=True, exist_ok=True)
    made = measure.chain(args.build, chain, args.generated, "--like-mainnet",
                         "--container", chain / "chain.hints")
    convert(args, chain / "regtest", chain / "chain.hints", folder / "container",
            *(folder / name for name in CONVERTED))
    table = report(f"Hints of {made['height']:,} generated blocks", folder)
    lines = [("density, %", f"{100 * made['unspent'] / made['spendable']:.1f}",
              "6.2 at 850,900")]
    for name, packed, published, height in PUBLISHED:
        path = folder / name
        size = size_after(["xz", "-6", "-c"], path) if packed else path.stat().st_size
        lines.append((f"{name}{', xz -6' if packed else ''}",
                      f"{8 * size / made['unspent']:.2f}", f"{published} at {height:,}"))
    head = ("bits for each unspent output", "generated", "mainnet, published")
    return table + "\n" + "\n".join([*measure.table(head, *lines), ""])


def real(args):
    folder = args.work / "real"
    folder.mkdir(parents=True, exist_ok=True)
    measure.timed([args.build / "bin/bitcoin-hints", "generate", "--force", args.real,
                   folder / "container"])
    convert(args, args.real, folder / "container", *(folder / name for name in CONVERTED))
    return report(f"Hints of the blocks in {args.real.name}", folder)


def main():
    parser = measure.paths(__doc__, "folder for the hints files")
    parser.add_argument("--blocks", type=int, default=42_545, help="of the invented chain")
    parser.add_argument("--real", type=Path, help="folder of block files")
    parser.add_argument("--generated", type=int, help="outputs of a generated chain")
    args = parser.parse_args()
    text = invented(args)
    if args.generated:
        text += "\n" + generated(args)
    if args.real:
        text += "\n" + real(args)
    measure.write(args.work, "hints-sizes", text, {})


if __name__ == "__main__":
    main()
