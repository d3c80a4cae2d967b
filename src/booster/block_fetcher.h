// BlockFetcher: the booster's interface to the network. Owned by the node's start, implemented over
// the thread of the peers, and by tests without sockets. Any thread.
#pragma once

#include "net/peer/block_downloader.h"
#include "net/peer/block_sink.h"
#include "net/peer/header_answers.h"

namespace ibd {

class BlockFetcher {
public:
    virtual ~BlockFetcher() = default;

    /** Starts to fetch the missing blocks of the goal into the sink. Called again when the goal
     *  starts over. */
    virtual void Fetch(DownloadGoal& goal, BlockSink& sink) = 0;
    /** Stops fetching; on return, goal and sink are no longer used. */
    virtual void StopFetching() = 0;
    /** Call it when there is space again, or a block was refused. Returns quickly. */
    virtual void Wake() = 0;
    /** Number of connected peers. */
    virtual size_t PeerCount() const = 0;
    /** Asks peers for their latest headers, and returns the number of peers that have sent all of
     *  them. */
    virtual HeaderAnswers AskForLastHeaders() = 0;
    /** Number of peers that send blocks with the coins that they spend (BIP455). */
    virtual size_t CountSpentCoinsPeers() { return 0; }
};

/** Starts the network if it is not running; null: the user has disabled it. */
using StartFetcher = std::function<BlockFetcher*()>;

} // namespace ibd
