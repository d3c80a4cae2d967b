// See block_assembler.h.
#include "mining/block_assembler.h"

#include "consensus/block_check.h"
#include "consensus/limits.h"
#include "consensus/pow.h"
#include "consensus/subsidy.h"
#include "mempool/chunk_walk.h"
#include "mempool/policy.h"

namespace ibd {

namespace {

// A template is full enough when kMostMisfits chunks in a row did not fit and little weight is
// free: a full pool has far more chunks than a block has room for.
constexpr size_t kMostMisfits = 1'000;
constexpr uint64_t kFreeWeight = 4'000;

/** Up to this height the pushed height takes one byte, and a coinbase script of one byte is too
 *  short. */
constexpr int kLastShortHeight = 16;

/** Locked to its height: the sequence is not final, so the lock time applies. */
MutableTransaction MakeCoinbase(int height, Amount value, ByteSpan script, bool segwit)
{
    MutableTransaction tx;
    MutableInput& input = tx.inputs.emplace_back();
    input.script_sig = Bip34Prefix(height);
    if (height <= kLastShortHeight) input.script_sig.push_back(OP_0);
    input.sequence = kSequenceFinal - 1;
    if (segwit) input.witness = ReservedWitness();
    tx.outputs.push_back({value, {script.begin(), script.end()}});
    tx.lock_time = static_cast<uint32_t>(height - 1);
    return tx;
}

uint64_t WeightOf(const Transaction& tx) { return static_cast<uint64_t>(tx->Weight()); }

/** Adds chunks to a template while there is room. */
class Filler {
public:
    Filler(const AssemblerOptions& options, BlockTemplate& block)
        : m_options(options), m_block(block), m_weight(options.reserved_weight)
    {
    }

    /** As in Core, virtual bytes are rounded up. */
    bool Pays(const PoolChunk& chunk) const
    {
        const FeeSize paid{chunk.sum.fee, VirtualSize(chunk.sum.size)};
        return CompareRates(paid, {m_options.min_fee_rate, 1'000}) >= 0;
    }

    /** Whether searching for more chunks is useless. */
    bool IsFull() const
    {
        return m_misfits > kMostMisfits && m_weight + kFreeWeight > m_options.max_weight;
    }

    /** Skips a chunk that does not fit, and with it, as in Core, the rest of its cluster. */
    void TakeIfItFits(const PoolChunk& chunk)
    {
        if (m_skipped.contains(chunk.cluster)) return;
        uint64_t weight = 0;
        int64_t sigops = 0;
        for (const PoolTx* tx : chunk.Txs()) {
            weight += WeightOf(*tx->tx);
            sigops += tx->sigop_cost;
        }
        // As in Core, a block stays strictly below the limits, and many signature operations make a
        // chunk heavier until it is included.
        const auto adjusted = static_cast<uint64_t>(chunk.sum.size);
        if (m_weight + adjusted >= m_options.max_weight ||
            m_sigops + sigops >= kMaxBlockSigOpsCost) {
            ++m_misfits;
            if (!chunk.IsLast()) m_skipped.insert(chunk.cluster);
            return;
        }
        m_misfits = 0;
        m_weight += weight;
        m_sigops += sigops;
        for (const PoolTx* tx : chunk.Txs()) {
            m_block.txs.push_back(tx->tx);
            m_block.costs.push_back({tx->fee, tx->sigop_cost});
            m_block.fees += tx->fee;
        }
    }

private:
    const AssemblerOptions& m_options;
    BlockTemplate& m_block;
    uint64_t m_weight;
    int64_t m_sigops = kReservedSigOpsCost;
    size_t m_misfits = 0; //!< since a chunk did fit
    std::unordered_set<const PoolCluster*> m_skipped;
};

} // namespace

int32_t BlockAssembler::VersionAfter(const HeaderNode& tip, const ConsensusParams& params)
{
    if (params.pow_no_retargeting && m_options.version) return *m_options.version;
    const Lock lock(m_mutex);
    return ComputeBlockVersion(NodeAncestry(&tip), params, m_version_bits);
}

BlockHeader BlockAssembler::NextHeader(const HeaderNode& tip, const ConsensusParams& params)
{
    BlockHeader header;
    header.version = VersionAfter(tip, params);
    header.prev_hash = tip.hash;
    UpdateTime(header, tip, params, m_env.UnixTime());
    header.bits = GetNextWorkRequired(NodeAncestry(&tip), header.time, params);
    return header;
}

void BlockAssembler::TakeFromPool(BlockTemplate& block)
{
    Filler filler(m_options, block);
    const Lock lock(m_pool.mutex);
    ChunkWalk chunks(m_pool.Chunks());
    while (const PoolChunk* const chunk = chunks.Next()) {
        if (filler.IsFull() || !filler.Pays(*chunk)) return; // nor do later chunks
        filler.TakeIfItFits(*chunk);
    }
}

Result<BlockTemplate> BlockAssembler::Assemble(ChainManager& chain, ByteSpan script, Fill fill)
{
    const HeaderNode& tip = *chain.Tip();
    const ConsensusParams& params = chain.Params().consensus;
    BlockTemplate block;
    block.height = tip.height + 1;
    block.header = NextHeader(tip, params);
    if (fill == Fill::kFromPool) TakeFromPool(block);
    block.coinbase = MakeCoinbase(block.height, block.fees + BlockSubsidy(block.height, params),
                                  script, block.height >= params.segwit_height);
    block.Commit();
    block.Seal();
    const Bytes raw = block.Serialize();
    BlockView view;
    CHECK(view.Parse(raw).Ok());
    Last last{m_options.reserved_weight, block.txs.size()};
    int64_t sigops = kReservedSigOpsCost;
    for (const TransactionRef& tx : block.txs) last.weight += WeightOf(*tx);
    for (const BlockTemplate::Cost& cost : block.costs) sigops += cost.sigops;
    m_log.Info("CreateNewBlock(): block weight: {} txs: {} fees: {} sigops {}", view.Weight(),
               block.txs.size(), block.fees, sigops);
    {
        const Lock lock(m_mutex);
        m_last = last;
    }
    IBD_ASSIGN_OR_RETURN(block.violation, chain.TestBlock(view, /*check_merkle_root=*/false));
    return block;
}

std::optional<BlockAssembler::Last> BlockAssembler::LastMade() const
{
    const Lock lock(m_mutex);
    return m_last;
}

} // namespace ibd
