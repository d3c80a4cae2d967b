"""The generator's stages: scan block files, choose the chain, split coins, encode, assemble.

Everything unfinished lies in one work folder next to the output. Each stage leaves files that are
complete or absent, so a killed run is taken up by running the same command again.
"""

import concurrent.futures
import concurrent.futures.process
import json
import os
import struct
import sys
import zlib

from . import encode
from .bip30 import find_overwritten, without_overwritten
from .blockfiles import HEADER_SIZE, find_block_dir
from .blockparse import transactions
from .chain import HeaderChain, choose_base
from .coins import open_coins
from .common import ToolError, hash_hex, network_name, publish, write_atomic
from .hintsfile import BitmapWriter, ContainerWriter, HintsReader
from .partition import BLOCKS_PER_FILE, DamagedPartition, Partition
from .progress import Progress
from .workfolder import WorkFolder

_SECTION = struct.Struct("<III")   # length of the name, records, CRC-32 of the section's data
_RECORD = struct.Struct(f"<QI{HEADER_SIZE}s")
_WORK_VERSION = 1


class Generator:
    """One run; `options` are the attributes booster-gen.py parses."""

    def __init__(self, options):
        self.options = options
        self.bitmap = options.format == "bitmap"
        self.work_folder = WorkFolder(options.work_dir or options.out + ".work")
        self.work = self.work_folder.path
        self.coins = open_coins(options.utxos)
        self.blocks, self.magic = find_block_dir(options.datadir, self.coins.magic,
                                                 options.network)
        self._pool = None

    def run(self):
        self._refuse_inputs_inside()
        self.work_folder.open()
        with self._start_pool() as self._pool:
            try:
                self._run()
            except concurrent.futures.process.BrokenProcessPool:
                raise ToolError("a worker process was killed (out of memory? try --jobs); run "
                                "the same command again to go on") from None
            except BaseException:
                # Waits for running tasks: a pool that is not joined may print errors when Python
                # exits.
                self._pool.shutdown(wait=True, cancel_futures=True)
                raise
        if not self.options.keep_work:
            self.work_folder.remove()

    def _refuse_inputs_inside(self):
        folder = os.path.realpath(self.work)
        for path in (self.options.utxos, self.blocks.path):
            if os.path.commonpath([folder, os.path.realpath(path)]) == folder:
                raise ToolError(f"{path}: lies in {self.work}, the folder of unfinished work")

    def _start_pool(self):
        jobs = self.options.jobs
        if jobs == 1:
            encode.start_worker(self.blocks, None)
            return _SameProcess()
        return concurrent.futures.ProcessPoolExecutor(
            jobs, initializer=encode.start_worker, initargs=(self.blocks, os.getpid()))

    def _run(self):
        chain = self._scan()
        self.base = self._choose_base(chain)
        self.top = chain.height(self.base)
        self.places = chain.places(self.base)
        del chain
        _say(f"{network_name(self.magic)}, blocks 1 to {self.top:,}, terminal block "
             f"{hash_hex(self.base)}")
        if self.top < 1:
            raise ToolError("the terminal block is the genesis block: there is nothing to hint")
        self._check_identity()
        for _ in range(2):
            try:
                total = self._partition()
                self._encode()
                break
            except DamagedPartition as damaged:
                _say(f"{damaged} is damaged, splitting the coins again")
                self.work_folder.remove_subfolder("coins")
        else:
            raise ToolError(f"{self._folder('coins')}: files change while they are in use")
        self._assemble(total)

    def _folder(self, name):
        return os.path.join(self.work, name)

    # Stage 1: where every block is.

    def _scan(self):
        """Read all record headers, using what an earlier run has in the index file."""
        path = self._folder("blocks.index")
        known = self._load_index(path)
        chain, todo = HeaderChain(), []
        names = self.blocks.names()
        for name in names:
            if name not in known:
                todo.append(name)
        progress = Progress("block files", len(names), "files", len(names) - len(todo))
        with open(path, "ab") as index:
            futures = [self._pool.submit(encode.scan_file, name, self.magic) for name in todo]
            for future in concurrent.futures.as_completed(futures):
                name, records = future.result()
                known[name] = records
                self._append_index(index, name, records)
                progress.add(1)
        progress.close()
        for name in names:
            for record in known.pop(name):
                chain.add(name, *record)
        chain.connect()
        return chain

    def _stamp(self, name):
        stat = os.stat(os.path.join(self.blocks.path, name))
        return f"{self.blocks.path}\n{self.magic.hex()}\n{name}\n{stat.st_size}\n{stat.st_mtime_ns}"

    def _append_index(self, index, name, records):
        title = self._stamp(name).encode()
        data = title + b"".join([_RECORD.pack(*record) for record in records])
        index.write(_SECTION.pack(len(title), len(records), zlib.crc32(data)) + data)
        index.flush()

    def _load_index(self, path):
        """Sections of files that have not changed since; a torn end is cut off."""
        known, good = {}, 0
        if not os.path.exists(path):
            return known
        stamps = {self._stamp(name): name for name in self.blocks.names()}
        with open(path, "rb") as index:
            while len(head := index.read(_SECTION.size)) == _SECTION.size:
                title_size, count, crc = _SECTION.unpack(head)
                data = index.read(title_size + count * _RECORD.size)
                if len(data) < title_size + count * _RECORD.size or zlib.crc32(data) != crc:
                    break
                good = index.tell()
                name = stamps.get(data[:title_size].decode(errors="replace"))
                if name:
                    known[name] = list(_RECORD.iter_unpack(data[title_size:]))
        os.truncate(path, good)
        return known

    # Stage 2: which chain.

    def _choose_base(self, chain):
        options, source = self.options, self.coins.path
        base = self.coins.base_hash
        if options.blockhash and base and base != options.blockhash:
            raise ToolError(f"{source}: base block is {hash_hex(base)}, not the "
                            f"{hash_hex(options.blockhash)} of --blockhash")
        base = base or options.blockhash
        if base is None and options.height is None:
            raise ToolError(f"{source}: no base block is recorded in this database; give the "
                            "snapshot's --height or --blockhash")
        return choose_base(chain, self.blocks.path, base, options.height,
                           options.blockhash is not None, source)

    def _check_identity(self):
        """Drop coins and parts of an earlier run with other input."""
        stat = os.stat(self.options.utxos)
        identity = {"version": _WORK_VERSION, "coins": os.path.abspath(self.options.utxos),
                    "size": stat.st_size, "mtime": stat.st_mtime_ns, "top": self.top,
                    "magic": self.magic.hex(), "base": hash_hex(self.base)}
        path = self._folder("run.json")
        try:
            with open(path, encoding="utf-8") as file:
                if json.load(file) == identity:
                    return
            _say(f"{self.work}: left by a run with other input, starting over")
        except (FileNotFoundError, ValueError):
            pass
        for name in ("coins", "container", "bitmap"):
            self.work_folder.remove_subfolder(name)
        write_atomic(path, json.dumps(identity).encode())

    # Stage 3: coins by height.

    def _partition(self):
        self.partition = Partition(self._folder("coins"))
        try:
            if not self.partition.state["complete"]:
                self.coins.prepare(self._txids_at)
            total = self.partition.build(self.coins, self.top)
            if total == 0 or self.coins.count_is_exact and total != self.coins.count:
                raise ToolError(f"{self.coins.path}: {total:,} coins, expected "
                                f"{self.coins.count:,}")
            return total
        except ToolError as error:
            # No other run can use coins of a snapshot that will not do.
            self.work_folder.remove_subfolder("coins")
            raise ToolError(f"{error} ({self.work} keeps the scan of the block files)") from None

    def _txids_at(self, height):
        if not 0 <= height <= self.top:
            return set()
        return encode.load_block(self.blocks, self.places[height],
                                 lambda data: {item[0] for item in transactions(data)})

    # Stage 4: blocks to records.

    def _part_path(self, part):
        return os.path.join(self._folder(self.options.format), f"{part:06}.part")

    def _encode(self):
        folder = self._folder(self.options.format)
        os.makedirs(folder, exist_ok=True)
        parts = range(self.top // BLOCKS_PER_FILE + 1)
        present = set(os.listdir(folder))
        todo = [part for part in parts if os.path.basename(self._part_path(part)) not in present]
        done = sum(len(self._heights(part)) for part in parts) - sum(
            len(self._heights(part)) for part in todo)
        progress = Progress("blocks", self.top, "blocks", done)
        outputs, queue, pending = 0, iter(todo), set()
        while True:
            # Few jobs in flight: each carries its blocks' places.
            while len(pending) < 3 * self.options.jobs and (part := next(queue, None)) is not None:
                pending.add(self._pool.submit(encode.run_job, self._job(part)))
            if not pending:
                break
            finished, pending = concurrent.futures.wait(
                pending, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in finished:
                blocks, parsed = future.result()
                outputs += parsed
                progress.add(blocks, f"{outputs / progress.elapsed():,.0f} outputs/s")
        progress.close()

    def _heights(self, part):
        return range(max(1, part * BLOCKS_PER_FILE),
                     min(self.top + 1, (part + 1) * BLOCKS_PER_FILE))

    def _job(self, part):
        heights = self._heights(part)
        coins_file = (self.partition.path(part), *self.partition.size_and_crc(part))
        return encode.Job(heights.start, self.places[heights.start:heights.stop], coins_file,
                          self._part_path(part), self.bitmap, self.top)

    # Stage 5: one file.

    def _read_parts(self):
        for part in range(self.top // BLOCKS_PER_FILE + 1):
            path = self._part_path(part)
            content = encode.read_part(path)
            if content is None or len(content.rows) != len(self._heights(part)):
                if os.path.exists(path):
                    os.remove(path)
                raise ToolError(f"{path}: damaged and removed; run the same command again")
            yield content

    def _assemble(self, total):
        coinbases, unspent = [], 0
        for part in self._read_parts():
            coinbases += part.coinbases
            unspent += part.unspent
        if unspent != total:
            raise ToolError(f"{unspent:,} of the snapshot's {total:,} coins were found in the "
                            "blocks")
        overwritten = {} if self.bitmap else find_overwritten(coinbases, self.blocks, self.places)
        if overwritten:
            shown = ", ".join(map(str, sorted(overwritten)))
            _say(f"coinbases overwritten under BIP30, not counted: height {shown}")
        temporary = self.options.out + ".tmp"
        with self.work_folder.claim_output(temporary) as file:
            writer = BitmapWriter(file) if self.bitmap else ContainerWriter(
                file, self.magic, self.base, self.top)
            height = outputs = 0
            for part in self._read_parts():
                for count, ones, record in part.blocks():
                    height += 1
                    if height in overwritten:
                        count, record = without_overwritten(height, coinbases[height - 1], record,
                                                            overwritten[height])
                    writer.add(count, ones, record)
                    outputs += count
            hints_id = writer.finish()
        size = os.path.getsize(temporary)
        HintsReader(temporary).close()
        publish(temporary, self.options.out)
        self.work_folder.release_output()
        _say(f"{self.options.out}: {size:,} bytes, {outputs:,} outputs, {unspent:,} unspent"
             + (f", hints id {hints_id}" if hints_id else ""))


class _SameProcess:
    """Stands in for the process pool with --jobs=1."""

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        return False

    def shutdown(self, **unused):
        pass

    @staticmethod
    def submit(function, *arguments):
        future = concurrent.futures.Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:  # delivered by result(), as a real pool does
            future.set_exception(error)
        return future


def _say(text):
    print(text, file=sys.stderr, flush=True)
