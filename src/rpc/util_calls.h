// Calls about addresses, keys, messages, scripts and transactions that hardly use the chain. One
// .cpp file per group.
#pragma once

#include "jsonrpc/table.h"
#include "rpc/mempool.h"

namespace ibd {

// `context` must outlive the table.

/** validateaddress, createmultisig. */
void AddAddressMethods(RpcTable& table, ChainContext& context);
/** signmessagewithprivkey, verifymessage. */
void AddMessageMethods(RpcTable& table, ChainContext& context);
/** decodescript. */
void AddDecodeScriptMethod(RpcTable& table, ChainContext& context);
/** createrawtransaction, combinerawtransaction, signrawtransactionwithkey. */
void AddRawTransactionMethods(RpcTable& table, PoolContext& context);
/** createpsbt, converttopsbt, decodepsbt, combinepsbt, joinpsbts, finalizepsbt, analyzepsbt. */
void AddPsbtMethods(RpcTable& table, ChainContext& context);
/** utxoupdatepsbt, descriptorprocesspsbt. */
void AddPsbtSigningMethods(RpcTable& table, PoolContext& context);

} // namespace ibd
