#!/usr/bin/env python3
"""Bytes that packed blocks save, beside LZO-1, LZ4, zlib-6 and zstd on the same bytes.

    bench/packing.py --build build [--data ../shared/testdata]

Packs the real blocks of the test data, named one by one and not consecutive, alone and in batches
of 1 and 4 MB, at several levels (ibd-pack-blocks checks that each comes back), the blocks 1 to
2,000 of mainnet, and random small transactions in batches. zstd is shown plain and with a
dictionary trained on one half of the blocks and tested on the other. LZO-1 needs liblzo2 (Debian:
liblzo2-2); without it its row is empty. Figures of time are CPU times of one thread."""

import argparse
import bz2
import ctypes
import ctypes.util
import json
import lzma
import pathlib
import random
import subprocess
import sys
import tempfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test/interop"))

from wire import block_transactions  # noqa: E402 (needs the path above)

BLOCKS = [  # mainnet, each at least 10 KB
    "bitcoinj/block169482.dat", "btcd/277647.dat.bz2", "bitcoinj/block227835.dat",
    "bitcoinj/block227836.dat", "bcoin/block300025.raw.xz",
    "blocks/electrs_00000000000000001203c1ea455e38612bdf36e9967fdead11935c8e22283ecc.xz",
    "floresta/block_367891/raw.zst", "blocks/block413567.raw.xz", "bcoin/block426884.raw.xz",
    "blocks/electrs_000000000000000002d249a3d89f63ef3fee203adcca7c24008c13fd854513f2.xz",
    "bitcoinj/block481829.dat.xz",
    "btcd/block-0000000000000000001602407ac49862a7bca9d00f7f402db20b7be2f5de59d2.blk.xz",
    "btcd/block-00000000000000000021868c2cefc52a480d173c849412fe81c4e5ab806f94ab.blk.xz",
    "rust-bitcoin/mainnet_block_000000000000000000000c835b2adcaedc20fdf6ee440009c249452c726dafae"
    ".raw.xz",
    "floresta/block_866342/raw.zst", "blocks/electrumx_mainnet_951658.json.xz"]
LATE = 6  # of these, the last ones, whose transactions are packed by themselves
SMALL = 10_000  # bytes of a transaction at most
TXS = (1, 2, 5, 10, 35, 64)  # of a batch
FRAME = 8  # magic and size in a block file
LEVELS = (1, 3, 9, 19)


def unpacked(path):
    data = path.read_bytes()
    if path.suffix == ".xz":
        data = lzma.decompress(data)
    elif path.suffix == ".bz2":
        data = bz2.decompress(data)[FRAME:]
    elif path.suffix == ".zst":
        data = subprocess.run(["zstd", "-dc", path], stdout=subprocess.PIPE, check=True).stdout
    return bytes.fromhex(json.loads(data)["block"]) if ".json" in path.name else data


def first_blocks(data, count):
    file = lzma.decompress((data / "chains/mainnet_0_14131.blk.xz").read_bytes())
    at, out = 0, []
    while len(out) <= count:
        size = int.from_bytes(file[at + 4:at + 8], "little")
        out.append(file[at + FRAME:at + FRAME + size])
        at += FRAME + size
    return out[1:]


def shared(name):
    found = ctypes.util.find_library(name)
    return ctypes.CDLL(found) if found else None


def lzo1(block):
    """LZO1X-1, which everyone means by LZO-1."""
    library = shared("lzo2")
    if not library:
        return None
    work = ctypes.create_string_buffer(1 << 20)
    out = ctypes.create_string_buffer(len(block) + len(block) // 16 + 67)
    size = ctypes.c_size_t(len(out))
    library.lzo1x_1_compress(block, ctypes.c_size_t(len(block)), out, ctypes.byref(size), work)
    return size.value


def lz4(block):
    library = shared("lz4")
    if not library:
        return None
    out = ctypes.create_string_buffer(len(block) + len(block) // 255 + 16)
    return library.LZ4_compress_default(block, out, len(block), len(out))


def zstd_sizes(folder, files, *options):
    out = folder / "packed.zst"
    total = 0
    for file in files:
        subprocess.run(["zstd", "-q", "-f", *options, file, "-o", out], check=True)
        total += out.stat().st_size
    return total


def with_dictionary(folder, files):
    """Sizes of each half, with a dictionary from pieces of the other, and the sizes before."""
    packed = 0
    for half in (0, 1):
        pieces = folder / f"pieces{half}"
        pieces.mkdir()
        for number, file in enumerate(files[1 - half::2]):
            data = file.read_bytes()
            for at in range(0, len(data), 20_000):
                (pieces / f"{number}-{at}").write_bytes(data[at:at + 2_000])
        subprocess.run(["zstd", "-q", "--train", "-r", pieces, "--maxdict=112640", "-o",
                        folder / "dictionary", "-f"], check=True, stderr=subprocess.DEVNULL)
        packed += zstd_sizes(folder, files[half::2], "-3", "-D", folder / "dictionary")
    return packed


def packing(program, level, batch, files):
    done = subprocess.run([program, str(level), str(batch), *files], stdout=subprocess.PIPE,
                          check=True, text=True)
    return [int(word) for word in done.stdout.split()]


def percent(after, before):
    return f"{100 - 100 * after / before:.1f}" if after else ""


def print_others(folder, files, blocks):
    before = sum(map(len, blocks))
    print(f"{len(blocks)} blocks, {before} bytes\n")
    print("| each block alone | % fewer bytes |\n|---|---|")
    rows = [("LZO-1", [lzo1(block) for block in blocks]),
            ("LZ4", [lz4(block) for block in blocks]),
            ("zlib 6", [len(zlib.compress(block, 6)) for block in blocks])]
    for name, sizes in rows:
        print(f"| {name} | {percent(None if None in sizes else sum(sizes), before)} |")
    for level in LEVELS:
        print(f"| zstd {level} | {percent(zstd_sizes(folder, files, f'-{level}'), before)} |")
    print(f"| zstd 3, dictionary | {percent(with_dictionary(folder, files), before)} |\n")


def print_packed(program, files, batches):
    print("| level | batch | % fewer bytes | pack, MB/s | unpack, MB/s |\n|---|---|---|---|---|")
    for batch in batches:
        for level in LEVELS:
            before, after, pack, unpack = packing(program, level, batch, files)
            name = "one block" if batch == 1 else f"{batch / 1e6:g} MB"
            print(f"| {level} | {name} | {percent(after, before)} | {before / max(pack, 1):.0f} | "
                  f"{before / max(unpack, 1):.0f} |")
    print()


def print_txs(program, folder, blocks):
    """A batch of transactions is one of a block whose header is zeros."""
    txs = [[raw for raw, _ in block_transactions(block)[1:] if len(raw) <= SMALL]
           for block in blocks]
    print("| transactions | batches | mean size | zlib 6, % fewer | packed, % fewer | pack, µs | "
          "unpack, µs |\n|---|---|---|---|---|---|---|")
    for count in TXS:
        choose = random.Random(1)
        groups = [choose.sample(all_of_block, count) for all_of_block in txs
                  if len(all_of_block) >= count for _ in range(40)]
        files = save(folder, f"txs{count}-",
                     [bytes(80) + bytes([count]) + b"".join(group) for group in groups])
        _, after, pack, unpack = packing(program, 1, 1, files)
        before = sum(len(tx) for group in groups for tx in group)
        plain = sum(len(zlib.compress(b"".join(group), 6)) for group in groups)
        print(f"| {count} | {len(groups)} | {before / len(groups) / count:.0f} | "
              f"{percent(plain, before)} | {percent(after, before)} | {pack / len(groups):.0f} | "
              f"{unpack / len(groups):.0f} |")


def save(folder, name, blocks):
    files = []
    for number, block in enumerate(blocks):
        files.append(folder / f"{name}{number:04}")
        files[-1].write_bytes(block)
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared/testdata")
    args = parser.parse_args()
    program = args.build / "bin/ibd-pack-blocks"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        blocks = [unpacked(args.data / block) for block in BLOCKS]
        files = save(folder, "block", blocks)
        print_others(folder, files, blocks)
        print_packed(program, files, (1, 1_000_000, 4_000_000))
        print("| block | bytes | zstd 3, % fewer | packed, % fewer |\n|---|---|---|---|")
        for origin, file in zip(BLOCKS, files):
            before, after, _, _ = packing(program, 1, 1, [file])
            plain = percent(zstd_sizes(folder, [file], "-3"), before)
            print(f"| {origin[:40]} | {before} | {plain} | {percent(after, before)} |")
        print("\nblocks 1 to 2,000 of mainnet\n")
        print_packed(program, save(folder, "early", first_blocks(args.data, 2_000)),
                     (1, 4_000_000))
        print(f"transactions of the last {LATE} blocks, {SMALL} bytes at most, level 1\n")
        print_txs(program, folder, blocks[-LATE:])


if __name__ == "__main__":
    main()
