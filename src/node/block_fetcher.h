// BlockFetcher: what the booster asks of the network, whatever that is. Owned by the node's start,
// implemented over the thread that owns the peers, and by tests without sockets. Any thread.
#pragma once

#include "net/block_downloader.h"
#include "net/block_sink.h"
#include "net/headers_told.h"

namespace ibd {

class BlockFetcher {
public:
    virtual ~BlockFetcher() = default;

    /** From soon on, blocks that the goal misses are fetched into the sink. Called again when the
     *  goal starts over. */
    virtual void Fetch(DownloadGoal& goal, BlockSink& sink) = 0;
    /** Ends that: when it returns, neither is used any more. */
    virtual void StopFetching() = 0;
    /** There is room again, or a block was refused. Quick. */
    virtual void Wake() = 0;
    /** Peers that are connected. */
    virtual size_t PeerCount() const = 0;
    /** Asks peers for the last headers that they have, and says how many have told all. */
    virtual HeadersTold AskForLastHeaders() = 0;
};

/** Starts the network if it does not run yet; null: there is none, as the user has it. */
using StartFetcher = std::function<BlockFetcher*()>;

} // namespace ibd
