// What calls that make transactions share: reading inputs, outputs and amounts from JSON. Errors
// in Core's words.
#pragma once

#include "primitives/transaction.h"
#include "rpc/chain_context.h"

namespace ibd {

/** A number or a string, in bitcoin; -3 if it is no amount of money. */
Amount ParseAmount(const UniValue& value);

/** What createrawtransaction and createpsbt are given from argument 0 on: inputs, outputs,
 *  locktime, replaceable, version. */
MutableTransaction BuildTransaction(const RpcCall& call, const AddressPrefixes& prefixes);

/** The outputs that the inputs spend, as far as they are unspent on the active chain. */
std::vector<std::optional<MutableOutput>> FindSpent(ChainManager& chain,
                                                    const MutableTransaction& tx);

/** The hash type that is named; nothing without the argument. -8 for no name of one. */
std::optional<uint8_t> HashTypeArgument(const RpcCall& call, size_t argument);

/** The arguments of BuildTransaction, for their help. */
std::vector<RpcArg> TransactionArgs();

} // namespace ibd
