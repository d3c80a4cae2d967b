// TxPosition: the position of a transaction in the block files, as indexes store it, and functions
// to read the transaction there. Format: doc/formats/indexes.md. Any thread.
#pragma once

#include "primitives/block.h"
#include "primitives/transaction.h"
#include "storage/block_store.h"

namespace ibd {

/** As VARINTs: file, then offset. Reading fails through the reader. */
void WritePos(Writer& out, const FilePos& at);
FilePos ReadPos(Reader& in);

struct TxPosition {
    FilePos block;
    uint32_t offset = 0; //!< bytes between the block's header and the transaction

    bool operator==(const TxPosition&) const = default;

    void Write(Writer& out) const;
    /** Fails through the reader. */
    static TxPosition Read(Reader& in);
};

/** Calls visit(const TxView&, uint32_t) with each transaction of the block and its
 *  TxPosition::offset. */
template <typename Visitor>
void ForEachOffset(const BlockView& block, Visitor visit)
{
    auto offset = static_cast<uint32_t>(CompactSizeLength(block.Txs().size()));
    for (const TxView& tx : block.Txs()) {
        visit(tx, offset);
        offset += static_cast<uint32_t>(tx.raw.size());
    }
}

struct PlacedTx {
    BlockHash block;
    TransactionRef tx;
};

/** The transaction at a position. The error names the file. */
Result<PlacedTx> ReadTxAt(const BlockStore& blocks, const TxPosition& at);

} // namespace ibd
