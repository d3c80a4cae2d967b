// Headers and blocks as JSON, field for field as Core prints them.
#pragma once

#include "rpc/chain_context.h"
#include "rpc/json.h"

namespace ibd {

/** The fields that getblockheader and getblock share. Needs the manager's lock. */
UniValue HeaderJson(const ChainReader& chain, const HeaderNode& node);

/** Completes a header's fields with those of the block. `verbosity`: 1 ids, 2 transactions,
 *  3 with the outputs they spend. */
void AppendBlockJson(UniValue& out, const BlockData& block, const AddressPrefixes& prefixes,
                     int verbosity);

} // namespace ibd
