// FilterIndex (-blockfilterindex): the basic filter of each block, in flat files, and the chain of
// their headers, for getblockfilter, scanblocks and peers (BIP 157). Filters of disconnected blocks
// stay. Format: doc/formats/indexes.md.
#pragma once

#include "index/block_filter.h"
#include "index/filter_files.h"
#include "index/index.h"

namespace ibd {

class FilterIndex final : public Index {
public:
    /** The database of `folder` is open already. */
    FilterIndex(Env& env, const Path& folder, std::unique_ptr<KvStore> db)
        : Index({.name = "basic block filter index",
                 .option = "-blockfilterindex",
                 .thread = "blkfltbscidx",
                 .undo_to_connect = true,
                 .prepares = true,
                 .allows_prune = true,
                 .bytes_per_tx = 11,
                 .bytes_per_block = 150},
                std::move(db)),
          m_files(env, folder)
    {
    }

    Result<> Load(const HeaderNode* best) override;
    std::unique_ptr<PreparedBlock> Prepare(const IndexedBlock& block) const override;
    Result<> Connect(KvBatch& batch, const IndexedBlock& block) override;
    Result<> Disconnect(KvBatch& batch, const IndexedBlock& block) override;
    Result<> Save(KvBatch& batch) override;

    /** The record of a filter in the database. */
    struct Entry {
        Uint256 hash; //!< of the filter
        FilterHeader header;
        FilePos at;
    };
    // The record of a block of any branch; nothing: not in the index. Any thread.

    Found<Entry> Find(const HeaderNode& block) const;
    Found<Bytes> Filter(const HeaderNode& block) const;

private:
    Found<Entry> FindEntry(int32_t height, const BlockHash& block) const;

    FilterFiles m_files;
    FilterHeader m_header; //!< of the last block
};

} // namespace ibd
