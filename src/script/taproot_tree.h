// The tree of scripts behind a taproot output (BIP341), and what spends the output by each of them.
// Pure; any thread.
#pragma once

#include "script/taproot.h"

#include <map>
#include <set>
#include <span>
#include <vector>

namespace ibd {

/** A script of the tree, as BIP371 writes them: from left to right, each with its depth. */
struct TapLeaf {
    uint8_t depth = 0;
    uint8_t version = kLeafTapscript;
    Bytes script;

    bool operator==(const TapLeaf&) const = default;
};

/** 32 bytes, or none where there are no leaves; nothing if the depths are those of no tree. */
std::optional<Bytes> TapTreeRoot(std::span<const TapLeaf> leaves);

struct ShorterFirst {
    bool operator()(const Bytes& a, const Bytes& b) const
    {
        return a.size() != b.size() ? a.size() < b.size() : a < b;
    }
};

/** What is known of the ways to spend a taproot output; parts may be missing. */
struct TaprootSpends {
    using Scripts = std::map<std::pair<Bytes, uint8_t>, std::set<Bytes, ShorterFirst>>;

    std::optional<XOnlyKey> internal_key;
    std::optional<Hash32> merkle_root; //!< of an output without scripts: none
    Scripts scripts;                   //!< by script and leaf version: control blocks

    /** Adds what `other` knows of the same output. */
    void Merge(const TaprootSpends& other);
};

/** A taproot output of which all is known. */
struct TaprootOutput {
    XOnlyKey internal_key{};
    std::vector<TapLeaf> leaves; //!< a whole tree

    /** The output's key, and whether its y is odd; nothing if the internal key is none. */
    std::optional<std::pair<XOnlyKey, bool>> Key() const;
    /** Takes 32 bytes a leaf and level. */
    TaprootSpends Spends() const;
};

} // namespace ibd
