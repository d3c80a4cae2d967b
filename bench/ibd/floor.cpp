// See floor.h.
#include "ibd/floor.h"

#include "consensus/merkle.h"
#include "crypto/sha256_batch.h"
#include "swiftsync/file_block_source.h"
#include "util/thread_time.h"
#include "util/threads.h"

#include <algorithm>

namespace ibd::bench {

namespace {

constexpr size_t kBatch = 1024;

/** Hashes outpoints in batches and folds the digests into a byte. */
class OutpointSink {
public:
    explicit OutpointSink(const Sha256State& midstate) : m_midstate(midstate) {}

    void Add(const uint8_t* txid, uint32_t vout)
    {
        uint8_t* to = m_messages.data() + m_count * kOutpointSize;
        std::memcpy(to, txid, 32);
        WriteLE32(to + 32, vout);
        if (++m_count == kBatch) Flush();
    }
    void Flush()
    {
        HashOutpoints(m_midstate, m_messages.data(), kOutpointSize, m_count, m_digests.data());
        for (size_t i = 0; i < m_count; ++i) m_check ^= m_digests[i][0];
        m_count = 0;
    }
    uint8_t Check() const { return m_check; }

private:
    const Sha256State m_midstate;
    Bytes m_messages = Bytes(kBatch * kOutpointSize);
    std::vector<Hash32> m_digests = std::vector<Hash32>(kBatch);
    size_t m_count = 0;
    uint8_t m_check = 0;
};

Result<FloorResult> Work(BlockSource& source)
{
    OutpointSink sink(Sha256().Write(Bytes(64, 0x5a)).State());
    FloorResult out;
    BlockView view;
    SuppliedBlock block;
    for (;;) {
        IBD_ASSIGN_OR_RETURN(const bool more, source.Next(block));
        if (!more) break;
        IBD_RETURN_IF_ERROR(view.Parse(block.bytes));
        if (BlockMerkleRoot(view).root != view.Header().merkle_root) {
            return BadData("block {}: wrong merkle root", view.Hash().ToHex());
        }
        for (const TxView& tx : view.Txs()) {
            for (uint32_t i = 0; i < tx.outputs.size(); ++i) sink.Add(tx.txid.data(), i);
        }
        for (const InputView& input : view.Inputs()) {
            sink.Add(input.prevout_bytes, ReadLE32(input.prevout_bytes + 32));
        }
        ++out.blocks;
        out.outputs += view.Outputs().size();
        out.inputs += view.Inputs().size();
        out.bytes += block.bytes.size();
    }
    sink.Flush();
    out.check = sink.Check();
    return out;
}

} // namespace

Result<FloorResult> RunFloor(Env& env, const BlockStore& store, const HeaderNode& tip,
                             unsigned threads)
{
    FileBlockSupply supply(env, store, tip);
    IBD_RETURN_IF_ERROR(supply.Begin([](int32_t) { return false; }));
    std::vector<Result<FloorResult>> results(threads, FloorResult{});
    {
        std::vector<NamedThread> workers;
        for (unsigned i = 0; i < threads; ++i) {
            workers.emplace_back(fmt::format("floor-{}", i),
                                 [&, i] { results[i] = Work(*supply.MakeSource()); });
        }
    }
    FloorResult sum;
    for (const auto& result : results) {
        if (!result) return result.GetError();
        sum.blocks += result->blocks;
        sum.outputs += result->outputs;
        sum.inputs += result->inputs;
        sum.bytes += result->bytes;
        sum.check ^= result->check;
    }
    return sum;
}

Result<double> TimeWitnessHashes(Env& env, const BlockStore& store, const HeaderNode& tip)
{
    FileBlockSupply supply(env, store, tip);
    IBD_RETURN_IF_ERROR(supply.Begin([](int32_t) { return false; }));
    const auto source = supply.MakeSource();
    std::chrono::nanoseconds spent{};
    BlockView view;
    SuppliedBlock block;
    std::vector<Wtxid> ids;
    for (;;) {
        IBD_ASSIGN_OR_RETURN(const bool more, source->Next(block));
        if (!more) return std::chrono::duration<double>(spent).count();
        IBD_RETURN_IF_ERROR(view.Parse(block.bytes));
        const std::chrono::nanoseconds start = ThreadCpuTime();
        ComputeWitnessHashes(view, ids);
        spent += ThreadCpuTime() - start;
    }
}

} // namespace ibd::bench
