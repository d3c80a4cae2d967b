// Blocks and transactions in batches of fewer bytes, between nodes of this project: the messages
// that request and carry them, with codecs. Values; bytes and rules: doc/formats/packed_blocks.md.
#pragma once

#include "net/wire/messages.h"
#include "packing/block_batch.h"

namespace ibd {

/** `feature` (BIP434) of a node that sends and takes packed blocks and transactions. Its data is
 *  kPackedBlocksVersion, a byte; further bytes are ignored. */
inline constexpr std::string_view kPackedBlocksFeature = "ibd-booster-packed-blocks";
inline constexpr uint8_t kPackedBlocksVersion = 1;

/** Most hashes in a request. */
inline constexpr size_t kMaxPackedRequest = 256;

/** Requests blocks. Each is answered by a `packed` that has it, or by a `block`. */
struct GetPackedMessage {
    static constexpr std::string_view kType = "getpacked";

    BoundedList<BlockHash, kMaxPackedRequest> blocks;

    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
    bool operator==(const GetPackedMessage&) const = default;
};

/** The payload is a batch (packing/block_batch.h), so it has no codec. */
struct PackedMessage {
    static constexpr std::string_view kType = "packed";
};

/** The answer to requests for transactions by `getdata`, in place of a `tx` for each. The payload
 *  is a batch (packing/tx_batch.h). */
struct PackedTxsMessage {
    static constexpr std::string_view kType = "packedtxs";
};

} // namespace ibd
