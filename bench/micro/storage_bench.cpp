// Reading and writing a block and its undo data in block files, and the floor of each: one pread or
// pwrite of as many bytes, and their hashing. bench/records.py runs it by turns with Core's code.
//
//     bench_storage --block FILE --undo FILE --work DIR [--ms 100] [--only NAME]
//
// FILE of --undo is made if it is absent. Prints the CPU nanoseconds of one call.
#include "bench_support.h"
#include "ibd/command_line.h"
#include "primitives/block.h"
#include "primitives/txid_hasher.h"
#include "storage/block_store.h"
#include "storage/undo.h"
#include "util/endian.h"

#include <fcntl.h>
#include <unistd.h>

using namespace ibd;
using namespace ibd::bench;

namespace {

constexpr uint32_t kHeight = 413'567;
constexpr uint32_t kTime = 1'464'000'000;

/** Prints the CPU time of calls. */
struct Timer {
    double ms = 0;    //!< CPU time to fill with calls
    std::string only; //!< name of the one to repeat; empty: all

    /** The first call is not counted. */
    template <typename Call>
    void Run(const char* name, Call call) const
    {
        call();
        if (!only.empty() && only != name) return;
        const double start = Runner::CpuNs();
        double calls = 0, spent = 0;
        do {
            call();
            ++calls;
            spent = Runner::CpuNs() - start;
        } while (spent < ms * 1e6);
        fmt::print("{}: {:.0f}\n", name, spent / calls);
    }
};

/** Coins that the inputs of the block could spend: to a script hash or a key hash, depending on the
 *  input. Amounts and heights are invented. */
BlockUndo InventedUndo(const BlockView& block)
{
    uint64_t state = 1;
    const auto next = [&] { return state = state * 6364136223846793005 + 1442695040888963407; };
    BlockUndo undo;
    for (const TxView& tx : block.Txs().subspan(1)) {
        TxUndo& spent = undo.txs.emplace_back();
        for (const InputView& input : tx.inputs) {
            Coin coin;
            coin.value = static_cast<Amount>(next() >> 33);
            coin.height = static_cast<uint32_t>((next() >> 33) % kHeight);
            const bool of_script = !input.script_sig.empty() && input.script_sig[0] == 0;
            Bytes script = of_script ? Bytes{0xa9, 0x14} : Bytes{0x76, 0xa9, 0x14};
            for (int i = 0; i < 20; ++i) script.push_back(static_cast<uint8_t>(next() >> 40));
            Append(script, of_script ? Bytes{0x87} : Bytes{0x88, 0xac});
            coin.script.Assign(script);
            spent.spent.push_back(std::move(coin));
        }
    }
    return undo;
}

/** A small block for the test: a coinbase and some copies of a spend. */
Bytes SmallBlock()
{
    Bytes raw(BlockHeader::kSize);
    Writer writer(raw);
    constexpr int kTxs = 20;
    writer.CompactSize(kTxs);
    for (int i = 0; i < kTxs; ++i) {
        writer.U32(1);
        writer.CompactSize(1);
        writer.Raw(Bytes(32, static_cast<uint8_t>(i)));
        writer.U32(i == 0 ? UINT32_MAX : 0);
        writer.CompactSize(100);
        writer.Raw(Bytes(100, 1));
        writer.U32(0);
        writer.CompactSize(1);
        writer.U64(1);
        writer.CompactSize(25);
        writer.Raw(Bytes(25, 2));
        writer.U32(0);
    }
    return raw;
}

/** A file to which the floor writes and from which it reads. */
class FloorFile {
public:
    explicit FloorFile(const Path& path)
        : m_fd(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644))
    {
        if (m_fd < 0) Fail("cannot open " + path.string());
    }
    ~FloorFile() { ::close(m_fd); }
    FloorFile(const FloorFile&) = delete;

    void Append(ByteSpan bytes)
    {
        constexpr off_t kChunk = 16 << 20; // as block files grow
        for (; m_end + static_cast<off_t>(bytes.size()) > m_reserved; m_reserved += kChunk) {
            if (::posix_fallocate(m_fd, m_reserved, kChunk) != 0) Fail("no room");
        }
        if (::pwrite(m_fd, bytes.data(), bytes.size(), m_end) != ssize_t(bytes.size())) {
            Fail("cannot write");
        }
        m_end += static_cast<off_t>(bytes.size());
    }
    /** The first bytes. */
    void Read(MutableByteSpan out) const
    {
        if (::pread(m_fd, out.data(), out.size(), 0) != ssize_t(out.size())) Fail("cannot read");
    }

private:
    int m_fd;
    off_t m_end = 0, m_reserved = 0;
};

void TimeFloor(const Path& work, ByteSpan block, ByteSpan undo, const Timer& timer)
{
    FloorFile blocks(work / "floor-blocks"), undos(work / "floor-undo");
    timer.Run("write floor", [&] { blocks.Append(block); });
    timer.Run("write undo floor", [&] {
        Keep(Sha256d(undo));
        undos.Append(undo);
    });
    Bytes out(block.size());
    timer.Run("raw read floor", [&] { blocks.Read(out); });
    BlockView view;
    Require(view.Parse(block));
    std::vector<TxView> txs(view.Txs().begin(), view.Txs().end());
    TxidHasher hasher;
    timer.Run("read floor", [&] {
        blocks.Read(out);
        for (TxView& tx : txs) hasher.Add(tx);
        hasher.Run();
    });
    const auto part = MutableByteSpan(out).first(undo.size());
    timer.Run("read undo floor", [&] {
        undos.Read(part);
        Keep(Sha256d(part));
    });
}

void TimeStore(const Path& work, const BlockView& block, const BlockUndo& undo, const Timer& timer)
{
    const auto env = MakePosixEnv();
    const auto log = MakeNullLogger();
    const auto store = Require(
        BlockStore::Open(*env, *log, {.blocks_dir = work, .magic = {0xf9, 0xbe, 0xb4, 0xd9}}));
    const BlockHash& prev = block.Header().prev_hash;
    FilePos pos, undo_pos;
    timer.Run("write", [&] { pos = Require(store->WriteBlock(block.Raw(), kHeight, kTime)); });
    timer.Run("write undo", [&] {
        undo_pos = Require(store->WriteUndo(pos.file, undo.Encode(), prev, kHeight));
    });
    timer.Run("read", [&] {
        const auto raw = Require(store->ReadBlock(pos, &block.Hash()));
        BlockView view;
        Require(view.Parse(raw));
        Keep(view);
    });
    timer.Run("raw read", [&] {
        const auto raw = Require(store->ReadBlock(pos));
        Keep(raw);
    });
    timer.Run("read undo", [&] { Keep(Require(store->ReadBlockUndo(undo_pos, prev))); });
    if (Require(store->ReadBlockUndo(undo_pos, prev)) != undo) Fail("the undo data differs");
}

void TimeAll(const Path& work, ByteSpan raw, const Path& undo_path, const Timer& timer)
{
    const auto env = MakePosixEnv();
    BlockView block;
    Require(block.Parse(raw));
    if (!env->Exists(undo_path)) {
        Require(WriteFileAtomically(*env, undo_path, InventedUndo(block).Encode()));
    }
    const Bytes undo = Require(ReadWholeFile(*env, undo_path));
    TimeStore(work, block, Require(BlockUndo::Decode(undo)), timer);
    // The floor gets the memory of these files: fresh memory may cost much more.
    for (const std::string& name : Require(env->List(work))) {
        if (name.ends_with(".dat")) Require(env->Remove(work / name));
    }
    TimeFloor(work, raw, undo, timer);
}

} // namespace

int main(int argc, char** argv)
{
    if (Runner(argc, argv).Once()) {
        char folder[] = "/tmp/bench-storage-XXXXXX";
        if (!::mkdtemp(folder)) Fail("no temporary folder");
        TimeAll(folder, SmallBlock(), Path(folder) / "undo", {});
        std::filesystem::remove_all(folder);
        return 0;
    }
    const Options options = ParseOptions(
        argc, argv, 1,
        {{"--block", ""}, {"--undo", ""}, {"--work", ""}, {"--ms", "100"}, {"--only", ""}},
        "bench_storage --block FILE --undo FILE --work DIR [--ms 100] [--only NAME]");
    const auto env = MakePosixEnv();
    const Bytes raw = Require(ReadWholeFile(*env, options.at("--block")));
    TimeAll(options.at("--work"), raw, options.at("--undo"),
            {std::atof(options.at("--ms").c_str()), options.at("--only")});
}
