// See chain_checks.h.
#include "node/chain_checks.h"

#include "consensus/limits.h"
#include "node/start_checks.h"
#include "validation/verify_chain.h"

#include <algorithm>

namespace ibd {

void WarnOfLowSpace(Env& env, Logger& log, const ChainParams& params, const DataDir& dir,
                    uint64_t prune_target)
{
    uint64_t needed = params.assumed_blockchain_size_gb << 30;
    if (prune_target != 0) needed = std::min(needed, prune_target);
    const auto free = env.SpaceAvailable(dir.Blocks());
    if (!free || *free >= kMinDiskSpace + needed) return;
    InitWarning(log, fmt::format("Disk space for \"{}\" may not accommodate the block files. "
                                 "Approximately {} GB of data will be stored in this directory.",
                                 dir.Blocks().string(), params.assumed_blockchain_size_gb));
}

std::optional<ChainDamage> FindUncheckedWitnesses(const ChainManager& chain, int segwit_height)
{
    for (const HeaderNode* node = chain.Tip(); node && node->height >= segwit_height;
         node = node->prev) {
        if ((node->status & kOptWitness) != 0) continue;
        const std::string text =
            fmt::format("Witness data for blocks after height {} requires validation. Please "
                        "restart with -reindex.",
                        segwit_height);
        return ChainDamage{text, BadData("{}", text)};
    }
    return std::nullopt;
}

Found<ChainDamage> VerifyStored(Env& env, ChainManager& chain, const NodeOptions& options)
{
    const HeaderNode* const tip = chain.Tip();
    if (tip != nullptr && int64_t{tip->time} > env.UnixTime() + kMaxFutureBlockTime) {
        return ChainDamage{
            "The block database contains a block which appears to be from the future. This may be "
            "due to your computer's date and time being set incorrectly. Only rebuild the block "
            "database if you are sure that your computer's date and time are correct",
            BadData("block {} at height {} is of the time {}", tip->hash.ToHex(), tip->height,
                    tip->time)};
    }
    IBD_ASSIGN_OR_RETURN(const Verification found,
                         VerifyChain(chain, options.check_level, options.check_blocks));
    if (found.sound) return std::optional<ChainDamage>();
    return ChainDamage{"Corrupted block database detected", BadData("see the error above")};
}

} // namespace ibd
