// See best_block.h.
#include "index/best_block.h"

#include "primitives/serialize.h"

namespace ibd {

namespace {

constexpr uint8_t kBestBlockKey[] = {'B'};
constexpr uint32_t kLocatorVersion = 70016; //!< written by Core, but never read

} // namespace

Found<BlockHash> ReadBestBlock(const KvStore& db)
{
    IBD_ASSIGN_OR_RETURN(const auto value, db.Get(kBestBlockKey));
    if (!value) return std::nullopt;
    Reader in(*value);
    in.U32();
    const size_t count = in.Count(BlockHash::size());
    if (!in.Ok()) {
        return BadData("database {}: the record of the best block is malformed",
                       db.Directory().string());
    }
    if (count == 0) return std::nullopt;
    return BlockHash(in.Hash());
}

void PutBestBlock(KvBatch& batch, const HeaderNode& best)
{
    const std::vector<BlockHash> locator = BlockLocator(&best);
    Bytes value;
    Writer out(value);
    out.U32(kLocatorVersion);
    out.CompactSize(locator.size());
    for (const BlockHash& hash : locator) out.Hash(hash);
    batch.Put(kBestBlockKey, value);
}

} // namespace ibd
