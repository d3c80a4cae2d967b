// Transactions given as hex. Pure; any thread.
#pragma once

#include "primitives/transaction.h"

#include <optional>

namespace ibd {

/** Hex of a transaction in the form with witnesses (true) or without (false); told neither, the one
 *  of which it looks like a real transaction. Null if it is none. */
TransactionRef DecodeTx(const std::string& hex, std::optional<bool> is_witness = std::nullopt);

/** Only operations that exist, all whole, none pushing more than may be pushed. */
bool HasValidOperations(ByteSpan script);

} // namespace ibd
