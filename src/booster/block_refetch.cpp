// See block_refetch.h.
#include "booster/block_refetch.h"

#include "swiftsync/block_taker.h"

#include <algorithm>

namespace ibd {

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
    std::vector<const HeaderNode*> missing;
    {
        const ChainReader reader = m_parts.chain->Read();
        for (const HeaderNode* node = &terminal; node; node = node->prev) {
            if (!node->HasData()) missing.push_back(node);
        }
    }
    if (missing.empty()) return {};
    m_parts.log.Info("IBD Booster: waiting for {} blocks from peers, then it goes on",
                     missing.size());
    return FetchAgain(missing, peers);
}

Result<> BlockRefetch::FetchAgain(const std::vector<const HeaderNode*>& lost, BlockFetcher& peers)
{
    const HeaderNode* const highest =
        *std::ranges::max_element(lost, {}, [](const HeaderNode* node) { return node->height; });
    ChainKeeper keeper(*m_parts.chain);
    PeerBlockSupply supply(m_parts.env, m_parts.Blocks(), *highest, keeper, peers);
    supply.FetchAgain(lost);
    m_parts.watch.ShowSupply(&supply);
    Result<> taken = TakeBlocks(supply);
    peers.StopFetching();
    m_parts.watch.ShowSupply(nullptr);
    m_parts.watch.SetMending(nullptr);
    return taken;
}

Result<> BlockRefetch::TakeBlocks(PeerBlockSupply& supply)
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
        if (!kept) continue;
        m_parts.log.Info("IBD Booster: a peer has sent block {} at height {} again",
                         block.node->hash.ToHex(), block.node->height);
    }
    return source->Sync();
}

} // namespace ibd
