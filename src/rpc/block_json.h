// Headers and blocks as JSON, field for field as Core prints them.
#pragma once

#include "jsonrpc/json.h"
#include "rpc/chain_context.h"

namespace ibd {

/** The fields that getblockheader and getblock share. `chain` holds the headers lock. */
UniValue HeaderJson(const ChainReader& chain, const HeaderNode& node);

/** Adds the sizes of the block and its coinbase transaction. */
void AppendBlockSizes(UniValue& out, const BlockData& block);
/** The entry of its transaction `i`. `verbosity`: as below. */
UniValue BlockTxJson(const BlockData& block, size_t i, const AddressPrefixes& prefixes,
                     int verbosity);

/** Adds the fields of the block to those of its header. `verbosity`: 1: ids, 2: transactions, 3:
 *  with the outputs that they spend. */
void AppendBlockJson(UniValue& out, const BlockData& block, const AddressPrefixes& prefixes,
                     int verbosity);

} // namespace ibd
