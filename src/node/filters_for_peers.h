// FiltersForPeers: the peers' interface to the index of block filters. Owned by the node; called on
// the thread of the peers.
#pragma once

#include "index/indexes.h"
#include "net/peer/filter_provider.h"

#include <atomic>

namespace ibd {

class FiltersForPeers final : public FilterProvider {
public:
    /** Null until they are open; may have no index of filters. */
    explicit FiltersForPeers(const std::atomic<const Indexes*>& indexes) : m_indexes(indexes) {}

    Found<Entry> FilterEntry(const HeaderNode& block) override
    {
        const FilterIndex* const index = Index();
        if (!index) return std::nullopt;
        IBD_ASSIGN_OR_RETURN(const auto found, index->Find(block));
        if (!found) return std::nullopt;
        return Entry{found->hash, found->header};
    }
    Found<Bytes> Filter(const HeaderNode& block) override
    {
        const FilterIndex* const index = Index();
        return index ? index->Filter(block) : Found<Bytes>(std::nullopt);
    }

private:
    const FilterIndex* Index() const
    {
        const Indexes* const indexes = m_indexes;
        return indexes ? indexes->Filters() : nullptr;
    }

    const std::atomic<const Indexes*>& m_indexes;
};

} // namespace ibd
