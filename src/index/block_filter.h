// Basic block filters of BIP 158: a Golomb-Rice coded set of the scripts that a block creates and
// spends, from which a light client sees, with few false positives, whether the block concerns it.
// Pure functions; any thread. Testing many elements takes one pass over the coded set.
#pragma once

#include "primitives/block.h"
#include "storage/undo.h"

namespace ibd {

/** Chained hash of a filter and all before it (BIP 157). */
using FilterHeader = Uint256;

/** The coded filter: number of elements, then the set. `undo`: null for genesis. */
Bytes BasicFilter(const BlockView& block, const BlockUndo* undo);
/** The coded set of any distinct elements under the key of a block. */
Bytes EncodeFilter(const BlockHash& block, std::vector<ByteSpan> elements);

Uint256 FilterHash(ByteSpan filter);
FilterHeader NextFilterHeader(const Uint256& filter_hash, const FilterHeader& previous);

/** A set of elements to look for in filters. */
class FilterQuery {
public:
    /** The bytes of the elements must outlive it. */
    explicit FilterQuery(std::vector<ByteSpan> elements) : m_elements(std::move(elements)) {}

    /** Whether any of the elements may be in the filter of that block. The error: the filter is
     *  malformed. */
    Result<bool> MayMatch(const BlockHash& block, ByteSpan filter) const;

private:
    const std::vector<ByteSpan> m_elements;
};

} // namespace ibd
