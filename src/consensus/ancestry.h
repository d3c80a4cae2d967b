// Ancestry: the data about the chain below a block that rules need. The header tree implements it
// (chain/header_tree.h), tests over a vector. Const use from any thread that may read the chain
// behind it.
#pragma once

#include "primitives/block.h"

#include <functional>

namespace ibd {

/** Number of blocks in a median time. */
inline constexpr int kMedianTimeSpan = 11;

/** The header fields of ancestors that rules read. */
struct HeaderFacts {
    int32_t version = 0;
    uint32_t time = 0; //!< seconds since 1970
    uint32_t bits = 0; //!< compact target
};

/** One branch, seen from its highest block downwards. */
class Ancestry {
public:
    virtual ~Ancestry() = default;

    /** Height of the highest block; -1: the branch is empty, and the functions below must not be
     *  called. */
    virtual int Height() const = 0;
    /** The block at 0 <= height <= Height(). */
    virtual HeaderFacts At(int height) const = 0;
    /** Hash of the block at 0 <= height <= Height(). */
    virtual BlockHash HashAt(int height) const = 0;
    /** Visits blocks from height `from` down, until `more` returns false or genesis was visited.
     *  For walking back block by block: each step is cheap, unlike At(). */
    virtual void WalkDown(int from,
                          const std::function<bool(int height, const HeaderFacts&)>& more) const;
    /** Median of the times of the block at `height` and the ten before it (fewer near genesis),
     *  BIP113. */
    virtual int64_t MedianTimePast(int height) const;

    HeaderFacts Tip() const { return At(Height()); }
    int64_t MedianTimePast() const { return MedianTimePast(Height()); }
};

} // namespace ibd
