// FilterProvider: the peers' interface to the index of block filters. Owned by net, implemented
// outside; called on the thread of the peers. Every call reads a record from disk.
#pragma once

#include "primitives/uint256.h"
#include "util/bytes.h"
#include "util/found.h"

namespace ibd {

struct HeaderNode;

class FilterProvider {
public:
    virtual ~FilterProvider() = default;

    /** Values of a basic filter (BIP158). */
    struct Entry {
        Uint256 hash;
        Uint256 header;
    };
    // The values of a block of any branch; nothing: it is not indexed yet. A block is indexed only
    // after its ancestors.

    virtual Found<Entry> FilterEntry(const HeaderNode& block) = 0;
    virtual Found<Bytes> Filter(const HeaderNode& block) = 0;
};

} // namespace ibd
