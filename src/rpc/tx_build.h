// Shared by calls that make transactions: reads inputs, outputs and amounts from JSON. Errors in
// Core's words.
#pragma once

#include "primitives/transaction.h"
#include "rpc/mempool.h"

namespace ibd {

/** A number or a string, in bitcoin; -3 if out of range or malformed. */
Amount ParseAmount(const UniValue& value);

/** Reads the arguments of createrawtransaction and createpsbt from 0 on: inputs, outputs, locktime,
 *  replaceable, version. */
MutableTransaction BuildTransaction(const RpcCall& call, const AddressPrefixes& prefixes);

/** The outputs spent by the inputs, from the pool or the chain's coins; nothing for one that is in
 *  neither. Outputs already spent in the pool are included. */
std::vector<std::optional<MutableOutput>> FindSpent(const PoolContext& context,
                                                    const MutableTransaction& tx);

/** The named hash type; nothing without the argument. -8 for an invalid name. */
std::optional<uint8_t> HashTypeArgument(const RpcCall& call, size_t argument);

/** The arguments of BuildTransaction, for their help. */
std::vector<RpcArg> TransactionArgs();

} // namespace ibd
