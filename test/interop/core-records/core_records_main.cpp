// Bitcoin Core's own reading and writing of a block and its undo data, timed, for bench/records.py:
//
//     core-records BLOCK UNDO DIR MS
//
// BLOCK and UNDO are files with the serialized data, DIR an empty folder. Prints the CPU
// nanoseconds of one call, each repeated for MS milliseconds of CPU time. build_core_records.sh
// builds it.

#include <chain.h>
#include <consensus/validation.h>
#include <kernel/chainparams.h>
#include <kernel/context.h>
#include <kernel/notifications_interface.h>
#include <logging.h>
#include <node/blockstorage.h>
#include <primitives/block.h>
#include <streams.h>
#include <sync.h>
#include <undo.h>
#include <util/signalinterrupt.h>
#include <util/translation.h>
#include <validation.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace {

constexpr int kHeight = 413'567;

double CpuNs()
{
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return double(now.tv_sec) * 1e9 + double(now.tv_nsec);
}

/** CPU time of one of `calls` repetitions that fill `ms`; the first call is not counted. */
template <typename Call>
double Time(double ms, Call call)
{
    call();
    const double start = CpuNs();
    double calls = 0;
    double spent = 0;
    do {
        call();
        ++calls;
        spent = CpuNs() - start;
    } while (spent < ms * 1e6);
    return spent / calls;
}

void Require(bool done, const char* what)
{
    if (!done) throw std::runtime_error(what);
}

void Print(const char* name, double ns) { std::printf("%s: %.0f\n", name, ns); }

DataStream Contents(const char* path)
{
    std::ifstream file{path, std::ios::binary};
    Require(file.is_open(), path);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    return DataStream{std::as_bytes(std::span{bytes})};
}

void TimeAll(DataStream block_bytes, DataStream undo_bytes, const fs::path& folder, double ms)
{
    const kernel::Context context;
    const auto params = CChainParams::Main();
    kernel::Notifications notifications;
    const util::SignalInterrupt interrupt;
    node::BlockManager manager{interrupt,
                               {.chainparams = *params,
                                .blocks_dir = folder,
                                .notifications = notifications,
                                .block_tree_db_params = {.path = folder / "index",
                                                         .cache_bytes = 1 << 20,
                                                         .memory_only = true}}};
    CBlock block;
    block_bytes >> TX_WITH_WITNESS(block);
    CBlockUndo undo;
    undo_bytes >> undo;
    const uint256 hash = block.GetHash();
    CBlockIndex before;
    before.phashBlock = &block.hashPrevBlock;
    CBlockIndex index{block};
    index.phashBlock = &hash;
    index.pprev = &before;
    index.nHeight = kHeight;

    FlatFilePos pos;
    Print("write", Time(ms, [&] {
              LOCK(::cs_main);
              pos = manager.WriteBlock(block, kHeight);
              Require(!pos.IsNull(), "WriteBlock failed");
          }));
    index.nFile = pos.nFile;
    Print("write undo", Time(ms, [&] {
              LOCK(::cs_main);
              index.nStatus = 0;
              BlockValidationState state;
              Require(manager.WriteBlockUndo(undo, state, index), "WriteBlockUndo failed");
          }));
    CBlock read;
    Print("read",
          Time(ms, [&] { Require(manager.ReadBlock(read, pos, hash), "ReadBlock failed"); }));
    Print("raw read", Time(ms, [&] {
              const auto raw = manager.ReadRawBlock(pos);
              Require(raw.has_value(), "ReadRawBlock failed");
          }));
    CBlockUndo read_undo;
    Print("read undo", Time(ms, [&] {
              Require(manager.ReadBlockUndo(read_undo, index), "ReadBlockUndo failed");
          }));
    Require(read_undo.vtxundo.size() == undo.vtxundo.size(), "the undo data differs");
}

} // namespace

// The library asks for it.
const TranslateFn G_TRANSLATION_FUN{nullptr};

int main(int argc, char** argv)
{
    if (argc != 5) {
        std::fprintf(stderr, "core-records BLOCK UNDO DIR MS\n");
        return 1;
    }
    try {
        LogInstance().DisableLogging();
        TimeAll(Contents(argv[1]), Contents(argv[2]), fs::PathFromString(argv[3]),
                std::atof(argv[4]));
        return 0;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "core-records: %s\n", e.what());
        return 1;
    }
}
