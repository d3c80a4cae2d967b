// Checks of the chain at start, once its index or its coins are open. Texts are those of Bitcoin
// Core where it has the check.
#pragma once

#include "node/options.h"
#include "storage/data_dir.h"
#include "util/found.h"
#include "validation/chain_manager.h"

namespace ibd {

/** Damage that a rebuild repairs. */
struct ChainDamage {
    std::string what; //!< for the user
    Error cause;      //!< for the log
};

/** Warns a node without blocks if the disk cannot hold the whole chain. */
void WarnOfLowSpace(Env& env, Logger& log, const ChainParams& params, const DataDir& dir,
                    uint64_t prune_target);

/** Checks for blocks up to the tip that were stored without a check of their witnesses: an older
 *  node accepted them, or -testactivationheight was different. */
std::optional<ChainDamage> FindUncheckedWitnesses(const ChainManager& chain, int segwit_height);

/** The checks of -checkblocks and -checklevel. Errors: the machine's. */
Found<ChainDamage> VerifyStored(Env& env, ChainManager& chain, const NodeOptions& options);

} // namespace ibd
