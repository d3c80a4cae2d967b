// See block_assembler.h.
#include "mining/block_assembler.h"

#include "consensus/block_check.h"
#include "consensus/limits.h"
#include "consensus/pow.h"
#include "consensus/subsidy.h"

namespace ibd {

namespace {

/** A script of one byte is too short, and up to height 16 the height takes no more. */
constexpr int kLastShortHeight = 16;

/** Locked to its height: the sequence is not final, so that the lock time holds. */
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

Result<BlockTemplate> BlockAssembler::Assemble(ChainManager& chain, ByteSpan script)
{
    const HeaderNode& tip = *chain.Tip();
    const ConsensusParams& params = chain.Params().consensus;
    BlockTemplate block;
    block.height = tip.height + 1;
    block.header = NextHeader(tip, params);
    block.coinbase = MakeCoinbase(block.height, block.fees + BlockSubsidy(block.height, params),
                                  script, block.height >= params.segwit_height);
    block.Commit();
    block.Seal();
    const Bytes raw = block.Serialize();
    BlockView view;
    CHECK(view.Parse(raw).Ok());
    m_log.Info("CreateNewBlock(): block weight: {} txs: {} fees: {} sigops {}", view.Weight(),
               block.txs.size(), block.fees, kReservedSigOpsCost);
    {
        const Lock lock(m_mutex);
        m_last = Last{m_options.reserved_weight, block.txs.size()};
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
