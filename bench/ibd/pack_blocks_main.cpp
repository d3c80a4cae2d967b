// ibd-pack-blocks LEVEL BATCH_BYTES FILE...: packs the blocks in the files, each of one block, in
// batches of up to BATCH_BYTES and of kMaxBatchBlocks, checks that they come back byte for byte,
// and prints: bytes before, bytes after, microseconds of CPU to pack and to unpack.
// bench/packing.py makes a table of it.
#include "packed_support.h"
#include "packing/block_batch.h"

namespace {

using namespace ibd;

struct Totals {
    size_t before = 0;
    size_t after = 0;
    int64_t pack_micros = 0;
    int64_t unpack_micros = 0;
};

bool AddBatch(const std::vector<ByteSpan>& blocks, int level, Totals& totals)
{
    const int64_t start = CpuMicros();
    const auto packed = PackBlocks(blocks, level);
    const int64_t middle = CpuMicros();
    if (!packed) return false;
    const auto unpacked = UnpackBlocks(*packed);
    totals.unpack_micros += CpuMicros() - middle;
    totals.pack_micros += middle - start;
    totals.after += packed->size();
    if (!unpacked || unpacked->size() != blocks.size()) return false;
    for (size_t i = 0; i < blocks.size(); ++i) {
        totals.before += blocks[i].size();
        if (AsChars(blocks[i]) != AsChars((*unpacked)[i])) return false;
    }
    return true;
}

int Run(int level, size_t batch_bytes, const std::vector<Bytes>& blocks)
{
    Totals totals;
    std::vector<ByteSpan> batch;
    size_t size = 0;
    for (size_t i = 0; i <= blocks.size(); ++i) {
        const bool full = i < blocks.size() && (size + blocks[i].size() > batch_bytes ||
                                                batch.size() == kMaxBatchBlocks);
        if (!batch.empty() && (full || i == blocks.size())) {
            if (!AddBatch(batch, level, totals)) {
                fmt::print(stderr, "a batch that ends before block {} does not come back\n", i);
                return 1;
            }
            batch.clear();
            size = 0;
        }
        if (i == blocks.size()) break;
        batch.push_back(blocks[i]);
        size += blocks[i].size();
    }
    fmt::print("{} {} {} {}\n", totals.before, totals.after, totals.pack_micros,
               totals.unpack_micros);
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 4) {
        fmt::print(stderr, "usage: ibd-pack-blocks LEVEL BATCH_BYTES FILE...\n");
        return 2;
    }
    std::vector<Bytes> blocks;
    for (int i = 3; i < argc; ++i) blocks.push_back(ReadFile(argv[i]));
    return Run(std::atoi(argv[1]), std::strtoul(argv[2], nullptr, 10), blocks);
}
