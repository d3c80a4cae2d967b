// A second, slow reader of transactions and blocks: copies everything, throws on the first fault,
// follows the wire format's description step by step. The oracle of the parser under test; shares
// nothing with it but the plain MutableTransaction.
#pragma once

#include "primitives/transaction.h"

#include <optional>

namespace ibd::test {

struct ReferenceBlock {
    Bytes header;
    std::vector<MutableTransaction> txs;
};

/** Nothing when the bytes are not exactly one transaction. */
std::optional<MutableTransaction> ReferenceParseTx(ByteSpan raw, bool allow_witness);

/** Nothing when the bytes do not begin with a block. */
std::optional<ReferenceBlock> ReferenceParseBlock(ByteSpan raw);

/** Field by field. */
bool SameTransaction(const MutableTransaction& a, const MutableTransaction& b);

} // namespace ibd::test
