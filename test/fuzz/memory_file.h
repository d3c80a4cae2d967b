// Hints files in memory, for fuzz targets.
#pragma once

#include "crypto/sha256.h"
#include "hints/hints.h"
#include "hints/hints_file.h"

#include <algorithm>

namespace ibd::fuzz {

inline HintsFile InMemory(Bytes bytes) { return HintsFile::InMemory("fuzz", std::move(bytes)); }

/** Puts the first eight bytes of a digest, a checksum of most formats, to `to`. */
inline void CopyDigest(const Hash32& digest, uint8_t* to) { std::copy_n(digest.begin(), 8, to); }

/** Reads every block of a file that opened. */
inline void ReadAllHints(const Result<std::unique_ptr<Hints>>& hints)
{
    if (!hints) return;
    BlockHints block;
    for (uint32_t h = 1; h <= (*hints)->Info().terminal_height; ++h) {
        if (!(*hints)->Read(h, block)) continue;
        CHECK(std::is_sorted(block.unspent.begin(), block.unspent.end()));
        CHECK(block.unspent.empty() ||
              block.unspent.back() < block.outputs.value_or(kMaxHintedOutputs));
    }
}

} // namespace ibd::fuzz
