// See block_index.h.
#include "ibd/block_index.h"

#include <unordered_map>

namespace ibd::bench {

namespace {

struct Found {
    BlockHeader header;
    FilePos pos;
};

/** Everything in the files, by the hash of the previous block. */
Result<std::unordered_multimap<BlockHash, Found, Uint256Hasher>> ScanAll(const BlockStore& store)
{
    std::unordered_multimap<BlockHash, Found, Uint256Hasher> found;
    IBD_ASSIGN_OR_RETURN(const auto files, store.ListBlockFiles());
    for (const int32_t file : files) {
        IBD_ASSIGN_OR_RETURN(const ScanStats stats,
                             store.ScanFile(file, [&](FilePos pos, ByteSpan block) {
                                 const BlockHeader header = BlockHeader::FromBytes(block.data());
                                 found.insert({header.prev_hash, {header, pos}});
                                 return ScanStep::kNext;
                             }));
        (void)stats;
    }
    return found;
}

} // namespace

Result<> IndexBlocks(const BlockStore& store, HeaderTree& tree)
{
    IBD_ASSIGN_OR_RETURN(const auto found, ScanAll(store));
    std::vector<BlockHash> ready = {tree.Genesis()->hash};
    while (!ready.empty()) {
        const BlockHash parent = ready.back();
        ready.pop_back();
        const auto [begin, end] = found.equal_range(parent);
        for (auto it = begin; it != end; ++it) {
            const BlockHash hash = it->second.header.Hash();
            if (tree.Find(hash)) continue; // stored twice
            HeaderNode* node = tree.Insert(it->second.header, hash);
            node->file = it->second.pos.file;
            node->data_pos = it->second.pos.offset;
            node->status |= kHaveData;
            ready.push_back(hash);
        }
    }
    return {};
}

} // namespace ibd::bench
