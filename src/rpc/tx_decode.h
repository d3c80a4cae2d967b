// Transactions given as hex. Pure; any thread.
#pragma once

#include "primitives/transaction.h"

#include <optional>

namespace ibd {

/** Parses hex of a transaction with witnesses (true) or without (false); by default the form that
 *  looks like a real transaction. Null: neither. */
TransactionRef DecodeTx(const std::string& hex, std::optional<bool> is_witness = std::nullopt);

/** Whether all operations are defined and complete, and no push is too long. */
bool HasValidOperations(ByteSpan script);

} // namespace ibd
