// BlockRequests: the pending requests for blocks: the peers asked for each block and the times, the
// rate of each peer, and the blocks that peers did not deliver. BlockDownloader decides; this class
// only keeps the records.
//
// Owned by BlockDownloader, one thread. Memory: the requests, and the blocks that disconnected
// peers did not deliver. Times are in microseconds.
#pragma once

#include "net/peer/block_rate.h"
#include "net/peer/header_sync.h"
#include "net/wire/compact_block.h"

#include <deque>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>

namespace ibd {

class BlockRequests {
public:
    struct Request {
        const HeaderNode* node;
        std::unique_ptr<PartialBlock> partial;
    };
    /** The requests to one peer. */
    struct Load {
        std::deque<Request> requests;
        BlockRate rate;
        int64_t first_since = 0;    //!< time since which the first request is the oldest
        int64_t last_received = 0;  //!< or time of the request, if none was pending then
        int64_t stalling_since = 0; //!< 0: does not delay others
        uint64_t stalling_from = 0; //!< bytes received from it until then
        int64_t silent_since = 0;   //!< start of the time in which it has to send something
        uint64_t silent_from = 0;   //!< bytes received from it until then
        int64_t branch_after = 0;   //!< next search of its own branch
        int64_t help_after = 0;     //!< next search for blocks requested from others

        std::deque<Request>::iterator Find(const HeaderNode& node);
    };
    /** A requested block. */
    struct Owed {
        std::vector<PeerId> peers; //!< in the order of the requests
        int64_t since = 0;         //!< time of the first request, even if that has ended
    };
    /** Key: height and node (branches have several at a height); value: the time of the request. */
    using GivenBackBlocks = std::map<std::pair<int32_t, const HeaderNode*>, int64_t>;

    /** Records requests to the peer for these blocks, none of which may already be requested from
     *  it. */
    void Add(PeerId peer, const std::vector<const HeaderNode*>& nodes, int64_t now);
    /** Ends the request to that peer, if there is one: the peer answered it. */
    void Remove(PeerId peer, const HeaderNode& node, int64_t now);
    /** Ends all requests for the block, which other peers answered. */
    void RemoveAll(const HeaderNode& node, int64_t now);
    /** Ends the peer's requests. Blocks requested from no other peer are added to GivenBack(). */
    void RemovePeer(PeerId peer);
    /** Adds the block to GivenBack(), so that it is requested again, unless another peer was also
     *  asked for it. */
    void GiveBack(const HeaderNode& node, int64_t since);
    GivenBackBlocks& GivenBack() { return m_given_back; }

    /** The record of a peer, which is created if necessary. */
    Load& LoadOf(PeerId peer) { return m_loads[peer]; }
    /** Null: the peer has never been asked for a block. */
    Load* FindLoad(PeerId peer);
    const Load* FindLoad(PeerId peer) const;
    std::map<PeerId, Load>& Loads() { return m_loads; }
    const std::map<PeerId, Load>& Loads() const { return m_loads; }
    const std::unordered_map<const HeaderNode*, Owed>& Blocks() const { return m_owed; }

    bool IsAsked(const HeaderNode& node) const { return m_owed.contains(&node); }
    bool IsAskedOf(PeerId peer, const HeaderNode& node) const;
    /** The peers that were asked for a block, in the order of the requests; empty: none. */
    std::span<const PeerId> AskedOf(const HeaderNode& node) const;
    bool Empty() const { return m_owed.empty(); }
    size_t CountTo(PeerId peer) const;
    /** Whether the peer was the first one asked for none of its blocks: it only helps others. */
    bool OnlyHelps(PeerId peer) const;
    /** Heights of the blocks requested from a peer, in the order of the requests. */
    std::vector<int32_t> HeightsOf(PeerId peer) const;
    /** See BlockDownloader. */
    std::unique_ptr<PartialBlock>& Partial(PeerId peer, const HeaderNode& node);

private:
    void End(PeerId peer, const HeaderNode& node, int64_t now);
    void RemoveOwed(PeerId peer, const HeaderNode& node);

    std::map<PeerId, Load> m_loads;
    std::unordered_map<const HeaderNode*, Owed> m_owed;
    GivenBackBlocks m_given_back;
};

} // namespace ibd
