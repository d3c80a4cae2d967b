// Calls for mining. One .cpp file per group.
#pragma once

#include "jsonrpc/table.h"
#include "mining/block_assembler.h"
#include "rpc/chain_context.h"

namespace ibd {

struct MiningContext {
    ChainContext& chain;
    BlockAssembler& assembler;
    const TxPool& pool;
    std::function<size_t()> count_peers = {};
    Mutex mutex = {}; //!< held while waiting for the chain's thread
    /** The last answer of getblocktemplate: valid until the tip changes, or until transactions
     *  changed and some seconds passed. */
    std::optional<BlockTemplate> last IBD_GUARDED_BY(mutex) = {};
    int64_t changes IBD_GUARDED_BY(mutex) = 0; //!< counter of pool changes at that time
    int64_t made IBD_GUARDED_BY(mutex) = 0;    //!< seconds since 1970
};

// `context` must outlive the table.

/** getmininginfo, getnetworkhashps. */
void AddMiningMethods(RpcTable& table, MiningContext& context);
/** getblocktemplate. */
void AddBlockTemplateMethods(RpcTable& table, MiningContext& context);
/** generatetoaddress, generatetodescriptor, generateblock, and generate, which names these as
 *  replacements. */
void AddGenerateMethods(RpcTable& table, MiningContext& context);

/** The answer of submitblock (BIP22): null, or the reason. */
UniValue Bip22Result(const RuleResult& verdict);

} // namespace ibd
