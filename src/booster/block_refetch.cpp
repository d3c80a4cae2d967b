// See block_refetch.h.
#include "booster/block_refetch.h"

#include "swiftsync/block_taker.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr size_t kMostNamed = 100; //!< more log lines would hide others

} // namespace

Result<bool> BlockRefetch::Mend(const Error& error)
{
    ChainManager& chain = *m_parts.chain;
    if (m_parts.watch.IsInterrupted() || !chain.Options().peers_bring_blocks ||
        !m_parts.hooks.start_fetcher) {
        return false;
    }
    IBD_ASSIGN_OR_RETURN(auto lost, chain.ForgetDamaged());
    const HeaderNode* const best = chain.Read().Tree().BestHeader();
    std::erase_if(lost,
                  [&](const HeaderNode* node) { return best->Ancestor(node->height) != node; });
    if (lost.empty()) return false;
    BlockFetcher* const peers = m_parts.StartFetcher();
    if (!peers) return error;
    m_parts.log.Info("IBD Booster: fetching {} damaged blocks from peers before it continues",
                     lost.size());
    IBD_RETURN_IF_ERROR(FetchAgain(lost, *peers));
    return true;
}

Result<> BlockRefetch::FetchMissing(const HeaderNode& terminal, BlockFetcher& peers)
{
    return FetchWanted(terminal, peers, 0, [](const HeaderNode&) { return true; });
}

Result<> BlockRefetch::FetchRead(const HeaderNode& terminal, BlockFetcher& peers,
                                 int32_t first_stored)
{
    IBD_ASSIGN_OR_RETURN(const std::vector<bool> read, m_parts.kept.BlocksRead(terminal));
    return FetchWanted(terminal, peers, first_stored, [&](const HeaderNode& node) {
        return read[static_cast<size_t>(node.height)];
    });
}

Result<> BlockRefetch::FetchWanted(const HeaderNode& terminal, BlockFetcher& peers,
                                   int32_t first_stored, const Wanted& wanted)
{
    std::vector<const HeaderNode*> missing;
    {
        const ChainReader reader = m_parts.chain->Read();
        for (const HeaderNode* node = &terminal; node->height > 0; node = node->prev) {
            // Below, the index only has to have seen the block.
            const bool kept = node->height < first_stored ? node->tx_count > 0 : node->HasData();
            if (!kept && wanted(*node)) missing.push_back(node);
        }
    }
    if (missing.empty()) return {};
    m_parts.log.Info("IBD Booster: waiting for {} blocks from peers before it continues",
                     missing.size());
    return FetchAgain(missing, peers, first_stored);
}

Result<> BlockRefetch::FetchAgain(const std::vector<const HeaderNode*>& lost, BlockFetcher& peers,
                                  int32_t first_stored)
{
    const HeaderNode* const highest =
        *std::ranges::max_element(lost, {}, [](const HeaderNode* node) { return node->height; });
    ChainKeeper keeper(*m_parts.chain, first_stored);
    PeerBlockSupply supply(m_parts.env, m_parts.Blocks(), *highest, keeper, peers);
    supply.FetchAgain(lost);
    m_parts.watch.ShowSupply(&supply);
    Result<> taken = TakeBlocks(supply, lost.size() <= kMostNamed);
    peers.StopFetching();
    m_parts.watch.ShowSupply(nullptr);
    m_parts.watch.SetMending(nullptr);
    return taken;
}

Result<> BlockRefetch::TakeBlocks(PeerBlockSupply& supply, bool named)
{
    IBD_RETURN_IF_ERROR(supply.Begin([](int32_t) { return true; })); // only the lost ones
    if (!m_parts.watch.SetMending(&supply)) return {};
    const auto source = supply.MakeSource();
    BlockTaker taker(m_parts.params, 0);
    SuppliedBlock block;
    for (;;) {
        IBD_ASSIGN_OR_RETURN(const bool more, source->Next(block));
        if (!more) break;
        bool kept = false;
        if (const auto failure = taker.Take(*source, block, kept)) return failure->error;
        if (!kept || !named) continue;
        m_parts.log.Info("IBD Booster: a peer has sent block {} at height {} again",
                         block.node->hash.ToHex(), block.node->height);
    }
    return source->Sync();
}

} // namespace ibd
