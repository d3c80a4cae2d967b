// The tree of scripts of a taproot output (BIP341), and the data that spends the output by each
// script. Pure; any thread.
#pragma once

#include "script/taproot.h"

#include <map>
#include <set>
#include <span>
#include <vector>

namespace ibd {

/** A script of the tree with its depth. In a list, leaves stand from left to right (BIP371). */
struct TapLeaf {
    uint8_t depth = 0;
    uint8_t version = kLeafTapscript;
    Bytes script;

    bool operator==(const TapLeaf&) const = default;
};

/** 32 bytes, or empty without leaves; nothing: the depths form no tree. */
std::optional<Bytes> TapTreeRoot(std::span<const TapLeaf> leaves);

/** The Merkle path of each leaf: the sibling hashes from the leaf up to the root, 32 bytes each. It
 *  is the end of the leaf's control block. The leaves must form a tree. */
std::vector<Bytes> TapPaths(std::span<const TapLeaf> leaves);

struct ShorterFirst {
    bool operator()(const Bytes& a, const Bytes& b) const
    {
        return a.size() != b.size() ? a.size() < b.size() : a < b;
    }
};

/** The known ways to spend a taproot output; parts may be missing. */
struct TaprootSpends {
    using Scripts = std::map<std::pair<Bytes, uint8_t>, std::set<Bytes, ShorterFirst>>;

    std::optional<XOnlyKey> internal_key;
    std::optional<Hash32> merkle_root; //!< nothing for an output without scripts
    Scripts scripts;                   //!< by script and leaf version: control blocks

    /** Adds the data of `other` about the same output. */
    void Merge(const TaprootSpends& other);
};

/** A completely known taproot output. */
struct TaprootOutput {
    XOnlyKey internal_key{};
    std::vector<TapLeaf> leaves; //!< a whole tree

    /** The output's key, and whether its y is odd; nothing if the internal key is invalid. */
    std::optional<std::pair<XOnlyKey, bool>> Key() const;
    /** Takes 32 bytes for each leaf and level. */
    TaprootSpends Spends() const;
};

} // namespace ibd
