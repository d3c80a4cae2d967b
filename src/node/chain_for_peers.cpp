// See chain_for_peers.h.
#include "node/chain_for_peers.h"

#include <algorithm>

namespace ibd {

const HeaderNode& ChainForPeers::Tip() const
{
    if (const HeaderNode* const tip = m_chain->Tip()) return *tip;
    const ChainReader reader = m_chain->Read();
    return *reader.Tree().Genesis();
}

const HeaderNode& ChainForPeers::BestHeader() const
{
    const ChainReader reader = m_chain->Read();
    return *reader.Tree().BestHeader();
}

const HeaderNode* ChainForPeers::Find(const BlockHash& hash) const
{
    const ChainReader reader = m_chain->Read();
    return reader.Find(hash);
}

BlockFacts ChainForPeers::Facts(const HeaderNode& node) const
{
    const ChainReader reader = m_chain->Read();
    const bool valid = node.IsValid(kValidScripts);
    return {node.HasData(), node.tx_count != 0, node.Failed(), valid, node.HasUndo()};
}

Found<std::vector<Coin>> ChainForPeers::SpentCoins(const HeaderNode& node)
{
    if (node.height == 0) return std::vector<Coin>();
    if (m_chain->Where(node).undo.IsNull()) return std::nullopt;
    IBD_ASSIGN_OR_RETURN(BlockUndo undo, m_chain->ReadUndo(node));
    return undo.TakeCoins();
}

// The lock is released between headers: hashing two thousand takes milliseconds.
RuleResult ChainForPeers::AcceptHeaders(std::span<const BlockHeader> headers,
                                        const HeaderNode** last)
{
    const HeaderNode* const best = &BestHeader();
    for (const BlockHeader& header : headers) {
        IBD_RETURN_IF_VIOLATED(m_chain->AcceptHeader(header, last));
    }
    if (&BestHeader() != best && *last && m_chain->IsInitialBlockDownload()) LogProgress(**last);
    return std::nullopt;
}

void ChainForPeers::LogProgress(const HeaderNode& last) const
{
    const int64_t behind = m_chain->Now() - int64_t{last.time};
    const int64_t left =
        std::max<int64_t>(behind / m_chain->Params().consensus.pow_target_spacing, 0);
    m_chain->Log().Info("Synchronizing blockheaders, height: {} (~{:.2f}%)", last.height,
                        100.0 * last.height / static_cast<double>(last.height + left));
}

} // namespace ibd
