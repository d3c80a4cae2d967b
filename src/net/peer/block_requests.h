// BlockRequests: the pending requests for blocks: which peers were asked for a block and since
// when, what each of them owes and how fast it is, and the blocks that peers did not deliver.
// BlockDownloader decides; this only keeps the account.
//
// Owned by BlockDownloader, one thread. Memory: the requests, and the blocks given back by peers
// that left. Times are in microseconds.
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
        int64_t first_since = 0;    //!< since when the first request is the awaited one
        int64_t last_received = 0;  //!< or time of the request, if none was pending then
        int64_t stalling_since = 0; //!< 0: does not delay others
        int64_t branch_after = 0;   //!< next search of its own branch
        int64_t help_after = 0;     //!< next search for blocks that others owe

        std::deque<Request>::iterator Find(const HeaderNode& node);
    };
    /** A requested block. */
    struct Owed {
        std::vector<PeerId> peers; //!< in the order of the requests
        int64_t since = 0;         //!< time of the first request, even if that has ended
    };
    /** By height and node (branches have several at a height); value: time since they are owed. */
    using GivenBackBlocks = std::map<std::pair<int32_t, const HeaderNode*>, int64_t>;

    /** The peer is asked for these blocks now, of which it must not be asked yet. */
    void Add(PeerId peer, const std::vector<const HeaderNode*>& nodes, int64_t now);
    /** Ends the request to that peer, if there is one. */
    void Remove(PeerId peer, const HeaderNode& node, int64_t now);
    /** Ends all requests for the block. */
    void RemoveAll(const HeaderNode& node, int64_t now);
    /** Gives back all blocks that only this peer was asked for. */
    void RemovePeer(PeerId peer);
    /** The block must be requested again, unless another peer is still asked for it. */
    void GiveBack(const HeaderNode& node, int64_t since);
    GivenBackBlocks& GivenBack() { return m_given_back; }

    /** That of a peer, which exists from then on. */
    Load& LoadOf(PeerId peer) { return m_loads[peer]; }
    /** Null: the peer has never been asked for a block. */
    Load* FindLoad(PeerId peer);
    const Load* FindLoad(PeerId peer) const;
    std::map<PeerId, Load>& Loads() { return m_loads; }
    const std::map<PeerId, Load>& Loads() const { return m_loads; }
    const std::unordered_map<const HeaderNode*, Owed>& Blocks() const { return m_owed; }

    bool IsAsked(const HeaderNode& node) const { return m_owed.contains(&node); }
    bool IsAskedOf(PeerId peer, const HeaderNode& node) const;
    /** The peers asked for a block, in the order of the requests; empty: none. */
    std::span<const PeerId> AskedOf(const HeaderNode& node) const;
    bool Empty() const { return m_owed.empty(); }
    size_t CountTo(PeerId peer) const;
    /** Heights of the blocks that a peer owes, in the order of the requests. */
    std::vector<int32_t> HeightsOf(PeerId peer) const;
    /** See BlockDownloader. */
    std::unique_ptr<PartialBlock>& Partial(PeerId peer, const HeaderNode& node);

private:
    void RemoveOwed(PeerId peer, const HeaderNode& node);

    std::map<PeerId, Load> m_loads;
    std::unordered_map<const HeaderNode*, Owed> m_owed;
    GivenBackBlocks m_given_back;
};

} // namespace ibd
