// BlockSink: where the block downloader puts what peers sent, and where it hears what came of it.
// Owned by net, implemented outside of it; called by the thread that owns the peers, which it never
// holds up: no call waits, parses or hashes. What the sink holds is bounded in bytes, and a sink
// without room is what slows peers down.
#pragma once

#include "chain/header_tree.h"
#include "util/bytes.h"

#include <cstdint>

namespace ibd {

using PeerId = int64_t; //!< counts up; no two peers of a process have the same

/** The bytes that a peer sent for a block. */
struct PeerBlock {
    const HeaderNode* node = nullptr; //!< the block that they say they are
    PeerId peer = -1;
    Bytes raw;
    /** Put together from a compact block, which may be passed on before the block is checked. */
    bool via_compact = false;
};

/** Bytes that were not taken. The block is missing as before. */
struct RefusedBlock {
    const HeaderNode* node = nullptr;
    PeerId peer = -1; //!< who sent them
    RuleViolation why;
    bool via_compact = false; //!< as in PeerBlock
    size_t bytes = 0;         //!< that were sent
};

/** Bytes that were taken. */
struct TakenBlock {
    const HeaderNode* node = nullptr;
    PeerId peer = -1;       //!< who sent them
    bool connected = false; //!< all rules hold, and the active chain has it; else: it is stored
};

class BlockSink {
public:
    virtual ~BlockSink() = default;

    /** Whether Put() would take a block of so many bytes. When it says no, stop reading from peers;
     *  whoever made the sink is told when it is worth to ask again. */
    virtual bool HasRoom(size_t bytes) const = 0;
    /** Takes the block if there is room. One that nobody waits for (any more) is dropped, which
     *  counts as taken. */
    virtual bool Put(PeerBlock&& block) = 0;
    /** Whether it has yet to say what came of a block of this peer: until then nothing else that
     *  the peer said is answered, so that an answer knows of the block. */
    virtual bool IsBusyWith(PeerId /*peer*/) const { return false; }
    /** Those refused since the last call: to be asked of somebody else. */
    virtual std::vector<RefusedBlock> TakeRefused() = 0;
    /** Those stored, and those connected, since the last call, if the sink tells of them. */
    virtual std::vector<TakenBlock> TakeTaken() { return {}; }
};

} // namespace ibd
