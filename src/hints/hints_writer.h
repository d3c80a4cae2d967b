// Writers of both hints formats, for tests, the chain generator and the RPC that makes hints. One
// thread; memory is one group (container) or one block (bitmap). Format: doc/formats/hints.md.
#pragma once

#include "hints/hints.h"

namespace ibd {

class HintsWriter {
public:
    virtual ~HintsWriter() = default;

    /** Adds the next block: heights follow each other from 1 (container) or 0 (bitmap). `outputs`
     *  counted outputs, `unspent` ascending indices among them. */
    virtual Result<> Add(uint32_t height, uint32_t outputs, std::span<const uint32_t> unspent) = 0;

    /** Completes and syncs the file. `terminal_hash` is that of the last block added. */
    virtual Result<> Finish(const BlockHash& terminal_hash) = 0;
};

Result<std::unique_ptr<HintsWriter>> MakeContainerWriter(Env& env, const Path& path,
                                                         std::array<uint8_t, 4> network_magic);
Result<std::unique_ptr<HintsWriter>> MakeBitmapWriter(Env& env, const Path& path);

} // namespace ibd
