// BoosterRun after a stored block was found damaged: with a network the block is fetched again, and
// the run starts again from its saved work. See booster_run.h.
#include "booster/booster_run.h"
#include "swiftsync/block_taker.h"

#include <algorithm>

namespace ibd {

Result<bool> BoosterRun::Mend(ChainManager& chain, const BlockStore& blocks, const Error& error,
                              const StartFetcher& start_fetcher)
{
    if (IsInterrupted() || !chain.Options().peers_bring_blocks || !start_fetcher) return false;
    IBD_ASSIGN_OR_RETURN(auto lost, chain.ForgetDamaged());
    const HeaderNode* const best = chain.Read().Tree().BestHeader();
    std::erase_if(lost,
                  [&](const HeaderNode* node) { return best->Ancestor(node->height) != node; });
    if (lost.empty()) return false;
    BlockFetcher* const peers = start_fetcher();
    if (!peers) return error;
    m_log.Info("IBD Booster: waiting for {} blocks from peers, then it goes on", lost.size());
    IBD_RETURN_IF_ERROR(FetchAgain(chain, blocks, lost, *peers));
    return true;
}

Result<> BoosterRun::FetchAgain(ChainManager& chain, const BlockStore& blocks,
                                const std::vector<const HeaderNode*>& lost, BlockFetcher& peers)
{
    const HeaderNode* const highest =
        *std::ranges::max_element(lost, {}, [](const HeaderNode* node) { return node->height; });
    ChainKeeper keeper(chain);
    PeerBlockSupply supply(m_env, blocks, *highest, keeper, peers);
    supply.FetchAgain(lost);
    {
        const Lock lock(m_mutex);
        m_supply = &supply;
    }
    const Result<> taken = TakeBlocks(supply);
    peers.StopFetching();
    const Lock lock(m_mutex);
    m_supply = m_mending = nullptr;
    return taken;
}

Result<> BoosterRun::TakeBlocks(PeerBlockSupply& supply)
{
    IBD_RETURN_IF_ERROR(supply.Begin([](int32_t) { return true; })); // the lost ones alone
    {
        const Lock lock(m_mutex);
        if (m_interrupted) return {};
        m_mending = &supply;
    }
    const auto source = supply.MakeSource();
    BlockTaker taker(m_params, 0);
    SuppliedBlock block;
    for (;;) {
        IBD_ASSIGN_OR_RETURN(const bool more, source->Next(block));
        if (!more) break;
        bool kept = false;
        if (const auto failure = taker.Take(*source, block, kept)) return failure->error;
        if (!kept) continue;
        m_log.Info("IBD Booster: block {} at height {} has come from a peer again",
                   block.node->hash.ToHex(), block.node->height);
    }
    return source->Sync();
}

} // namespace ibd
