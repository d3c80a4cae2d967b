// Shared code of tests of packed blocks and transactions: the feature, and options of a node that
// has it.
#pragma once

#include "net/peer/peer_options.h"
#include "net/wire/messages.h"
#include "net/wire/packed_blocks.h"

namespace ibd::test {

inline FeatureMessage PackingFeatureMessage()
{
    return {std::string(kPackedBlocksFeature), {kPackedBlocksVersion}};
}

inline PeerOptions Packing(int level = 1, int64_t percent = 100)
{
    PeerOptions out;
    out.pack_level = level;
    out.pack_percent = percent;
    return out;
}

} // namespace ibd::test
