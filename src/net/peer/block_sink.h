// BlockSink: receives the downloaded blocks and reports the results. Owned by net, implemented
// outside; called on the thread of the peers, which it never blocks: no call waits, parses or
// hashes. The bytes in a sink are bounded; while it is full, no blocks are read from peers.
#pragma once

#include "chain/header_tree.h"
#include "util/bytes.h"

#include <cstdint>

namespace ibd {

using PeerId = int64_t; //!< ascending; unique in a process

/** The bytes that a peer sent for a block. */
struct PeerBlock {
    const HeaderNode* node = nullptr; //!< the requested block
    PeerId peer = -1;
    Bytes raw;
    /** Assembled from a compact block, which may be relayed before the block is checked. */
    bool via_compact = false;
    /** The peer's `bspent` message for the block (BIP455), if the goal wants one; else empty. */
    Bytes spent_coins = {};
};

/** A refused block, which is missing again. */
struct RefusedBlock {
    const HeaderNode* node = nullptr;
    PeerId peer = -1; //!< the sender
    RuleViolation why;
    bool via_compact = false; //!< see PeerBlock
    size_t bytes = 0;         //!< size of the sent block
};

/** An accepted block. */
struct TakenBlock {
    const HeaderNode* node = nullptr;
    PeerId peer = -1;       //!< the sender
    bool connected = false; //!< all rules hold, and it is on the active chain; false: it is stored
};

class BlockSink {
public:
    virtual ~BlockSink() = default;

    /** Whether Put() would accept a block of this size. If not, stop reading from peers; the sink's
     *  owner notifies when there is space. */
    virtual bool HasRoom(size_t bytes) const = 0;
    /** Takes the block if there is space; returns whether it did. A block that is no longer wanted
     *  is dropped, which counts as taken. */
    virtual bool Put(PeerBlock&& block) = 0;
    /** Whether the result for a block of this peer is pending. Until then no other message of the
     *  peer is answered, so that answers know of the block. */
    virtual bool IsBusyWith(PeerId /*peer*/) const { return false; }
    /** Refused blocks since the last call, to be requested from other peers. */
    virtual std::vector<RefusedBlock> TakeRefused() = 0;
    /** Blocks stored, and blocks connected, since the last call, if the sink reports them. */
    virtual std::vector<TakenBlock> TakeTaken() { return {}; }
};

} // namespace ibd
