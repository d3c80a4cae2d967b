// See core_undo.h.
#include "booster/core_undo.h"

namespace ibd {

namespace {

constexpr int kBlocksThatCoreChecks = 6; //!< its -checkblocks

/** Number of blocks from the tip down that have undo data, at most `most`. Down to genesis, which
 *  needs none, all are there: `most`. Under the headers' lock. */
int BlocksWithUndo(const HeaderNode& tip, int most)
{
    int blocks = 0;
    const HeaderNode* node = &tip;
    for (; blocks < most && node->HasUndo(); node = node->prev) ++blocks;
    return node->height == 0 ? most : blocks;
}

} // namespace

bool UndoJustSuffices(const ChainManager& chain, const HeaderNode& tip)
{
    const ChainReader reader = chain.Read();
    return BlocksWithUndo(tip, kBlocksThatCoreChecks + 1) == kBlocksThatCoreChecks;
}

void WarnIfUndoIsShort(const ChainManager& chain, Logger& log)
{
    const HeaderNode* const tip = chain.Tip();
    // Core ends its check at the base of a snapshot.
    if (tip == nullptr || chain.SnapshotBase() != nullptr) return;
    int blocks = 0;
    {
        const ChainReader reader = chain.Read();
        blocks = BlocksWithUndo(*tip, kBlocksThatCoreChecks);
    }
    if (blocks >= kBlocksThatCoreChecks) return;
    log.Warning("IBD Booster: undo data exists only for the last {} blocks. Bitcoin Core "
                "disconnects {} at its start and would refuse this directory: let this node "
                "connect {} more first, or start Core with -checklevel=2",
                blocks, kBlocksThatCoreChecks, kBlocksThatCoreChecks - blocks);
}

} // namespace ibd
