// Records of an index that has one for each block: by height for the active chain, by hash for
// disconnected blocks. Format: doc/formats/indexes.md. Any thread.
#pragma once

#include "primitives/uint256.h"
#include "storage/kv_store.h"

namespace ibd {

/** Adds the record of a block of the active chain. */
void PutAtHeight(KvBatch& batch, int32_t height, const BlockHash& block, ByteSpan value);
/** The value of a block of any branch; nothing: there is none. */
Found<Bytes> FindRecord(const KvStore& db, int32_t height, const BlockHash& block);
/** The result of a search for a block that must have a record. */
template <typename T>
Result<T> RequireRecord(Found<T> found, const KvStore& db, const BlockHash& block)
{
    IBD_ASSIGN_OR_RETURN(auto record, std::move(found));
    if (record) return std::move(*record);
    return BadData("database {}: there is no record of block {}", db.Directory().string(),
                   block.ToHex());
}
/** Copies the record at a height to a key with the block's hash, before the record of another block
 *  replaces it. */
Result<> KeepByHash(const KvStore& db, KvBatch& batch, int32_t height);

} // namespace ibd
