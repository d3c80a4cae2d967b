// Calls about addresses, keys, messages, scripts and transactions that hardly use the chain. One
// .cpp file per group.
#pragma once

#include "jsonrpc/table.h"
#include "rpc/chain_context.h"

namespace ibd {

// `context` must outlive the table.

/** validateaddress, createmultisig. */
void AddAddressMethods(RpcTable& table, ChainContext& context);
/** signmessagewithprivkey, verifymessage. */
void AddMessageMethods(RpcTable& table, ChainContext& context);
/** decodescript. */
void AddDecodeScriptMethod(RpcTable& table, ChainContext& context);
/** createrawtransaction, combinerawtransaction, signrawtransactionwithkey. */
void AddRawTransactionMethods(RpcTable& table, ChainContext& context);
/** createpsbt, converttopsbt, decodepsbt, combinepsbt, joinpsbts, finalizepsbt, analyzepsbt. */
void AddPsbtMethods(RpcTable& table, ChainContext& context);
/** utxoupdatepsbt, descriptorprocesspsbt. */
void AddPsbtSigningMethods(RpcTable& table, ChainContext& context);

} // namespace ibd
