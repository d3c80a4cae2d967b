// Calls of those who make blocks. One .cpp file per group.
#pragma once

#include "mining/block_assembler.h"
#include "rpc/chain_context.h"
#include "rpc/table.h"

namespace ibd {

struct MiningContext {
    ChainContext& chain;
    BlockAssembler& assembler;
    const TxPool& pool;
    std::function<size_t()> count_peers = {};
    Mutex mutex = {}; //!< held by who waits for the chain's thread
    /** What getblocktemplate answered last: it holds until there is another tip, or other
     *  transactions and some seconds went by. */
    std::optional<BlockTemplate> last IBD_GUARDED_BY(mutex) = {};
    int64_t changes IBD_GUARDED_BY(mutex) = 0; //!< of the pool when it was made
    int64_t made IBD_GUARDED_BY(mutex) = 0;    //!< seconds since 1970
};

// `context` must outlive the table.

/** getmininginfo, getnetworkhashps. */
void AddMiningMethods(RpcTable& table, MiningContext& context);
/** getblocktemplate. */
void AddBlockTemplateMethods(RpcTable& table, MiningContext& context);
/** generatetoaddress, generatetodescriptor, generateblock, and generate, which says to use these.
 */
void AddGenerateMethods(RpcTable& table, MiningContext& context);

/** The answer of submitblock (BIP22): null, or why not. */
UniValue Bip22Result(const RuleResult& verdict);

} // namespace ibd
