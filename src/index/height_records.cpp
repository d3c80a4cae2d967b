// See height_records.h.
#include "index/height_records.h"

#include <algorithm>
#include <array>

namespace ibd {

namespace {

using HeightKey = std::array<uint8_t, 5>;
using HashKey = std::array<uint8_t, 1 + BlockHash::size()>;

/** Big-endian, so that heights are in the order of keys. */
HeightKey KeyOf(int32_t height)
{
    HeightKey key{'t'};
    for (size_t i = 0; i < 4; ++i) {
        key[1 + i] = static_cast<uint8_t>(static_cast<uint32_t>(height) >> (24 - 8 * i));
    }
    return key;
}

HashKey KeyOf(const BlockHash& block)
{
    HashKey key{'s'};
    std::ranges::copy(block.Span(), key.begin() + 1);
    return key;
}

/** The record at a height: block hash, then value. */
Found<Bytes> AtHeight(const KvStore& db, int32_t height)
{
    IBD_ASSIGN_OR_RETURN(auto record, db.Get(KeyOf(height)));
    if (record && record->size() < BlockHash::size()) {
        return BadData("database {}: the record at height {} is malformed", db.Directory().string(),
                       height);
    }
    return record;
}

} // namespace

void PutAtHeight(KvBatch& batch, int32_t height, const BlockHash& block, ByteSpan value)
{
    Bytes record(block.Span().begin(), block.Span().end());
    Append(record, value);
    batch.Put(KeyOf(height), record);
}

Found<Bytes> FindRecord(const KvStore& db, int32_t height, const BlockHash& block)
{
    IBD_ASSIGN_OR_RETURN(const auto record, AtHeight(db, height));
    if (record && BlockHash::FromBytes(record->data()) == block) {
        return Bytes(record->begin() + BlockHash::size(), record->end());
    }
    return db.Get(KeyOf(block));
}

Result<> KeepByHash(const KvStore& db, KvBatch& batch, int32_t height)
{
    IBD_ASSIGN_OR_RETURN(const auto record, AtHeight(db, height));
    if (!record) {
        return BadData("database {}: there is no record at height {}", db.Directory().string(),
                       height);
    }
    batch.Put(KeyOf(BlockHash::FromBytes(record->data())),
              ByteSpan(*record).subspan(BlockHash::size()));
    return {};
}

} // namespace ibd
