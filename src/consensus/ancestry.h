// Ancestry: what the rules ask about the chain below a block. The header tree implements it
// (chain/header_tree.h); tests do so over a vector. Const use from any thread that may read the
// chain behind it.
#pragma once

#include "primitives/block.h"

#include <functional>

namespace ibd {

/** Blocks whose times the median is taken of. */
inline constexpr int kMedianTimeSpan = 11;

/** The header fields that rules look back at. */
struct HeaderFacts {
    int32_t version = 0;
    uint32_t time = 0; //!< seconds since 1970
    uint32_t bits = 0; //!< compact target
};

/** One branch, seen from its highest block downwards. */
class Ancestry {
public:
    virtual ~Ancestry() = default;

    /** Height of the highest block; -1 when there is none (then nothing below may be called). */
    virtual int Height() const = 0;
    /** The block at 0 <= height <= Height(). */
    virtual HeaderFacts At(int height) const = 0;
    /** Hash of the block at 0 <= height <= Height(). */
    virtual BlockHash HashAt(int height) const = 0;
    /** Shows blocks from the highest down, until `more` says no or genesis was shown. For looking
     *  back block by block: each step is cheap, which At() need not be. */
    virtual void WalkDown(const std::function<bool(int height, const HeaderFacts&)>& more) const;
    /** Median of the times of that block and the ten before it (fewer near genesis), BIP113. */
    virtual int64_t MedianTimePast(int height) const;

    HeaderFacts Tip() const { return At(Height()); }
    int64_t MedianTimePast() const { return MedianTimePast(Height()); }
};

} // namespace ibd
