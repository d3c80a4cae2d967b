// Transactions and scripts as JSON, field for field as in Core. Pure; any thread.
#pragma once

#include "jsonrpc/json.h"
#include "keys/address.h"
#include "script/coin.h"

#include <span>

namespace ibd {

/** {asm, desc, hex, address, type} of an output script. */
UniValue ScriptPubKeyJson(ByteSpan script, const AddressPrefixes& prefixes);

/** {asm, hex, type} of the script inside a script hash. */
UniValue InnerScriptJson(ByteSpan script);

struct TxJsonOptions {
    bool include_hex = true;
    const std::vector<Coin>* spent = nullptr; //!< by input; gives "fee"
    bool with_prevouts = false;               //!< also "prevout" of each input
    std::optional<Uint256> block_hash;        //!< "blockhash"
};

/** Appends the fields of a transaction to an object. */
void AppendTxJson(UniValue& out, const TxView& tx, const AddressPrefixes& prefixes,
                  const TxJsonOptions& options);

} // namespace ibd
