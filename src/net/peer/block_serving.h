// BlockServing: answers to peers' requests for headers, blocks and their transactions, and for
// those of the pool, by a TxAnnouncer and a TxBatcher. Owned by PeerManager. Memory: kMaxInventory
// requests for each peer, bounded because no further message is read while there are requests.
#pragma once

#include "net/peer/block_announcing.h"
#include "net/peer/tx_announcer.h"
#include "net/peer/tx_batcher.h"

namespace ibd {

class BlockServing final : public PeerTopic {
public:
    static constexpr int32_t kMaxCompactDepth = 5;   //!< blocks served by cmpctblock
    static constexpr int32_t kMaxBlockTxnDepth = 10; //!< blocks served by blocktxn
    static constexpr size_t kMaxGetBlocks = 500;     //!< hashes in an answer to getblocks
    /** Seconds; older blocks off the active chain are not served. */
    static constexpr int64_t kStaleBlockAge = 30 * 24 * 60 * 60;
    /** Seconds; older blocks are historical: serving them is limited by -maxuploadtarget. */
    static constexpr int64_t kHistoricalAge = 7 * 24 * 60 * 60;

    BlockServing(PeerSet& peers, KnownChains& chains, CompactForms& forms,
                 BlockAnnouncing& announcing, BloomFilters& bloom, TxAnnouncer& txs,
                 const PackingFeature& packing)
        : m_peers(peers), m_chains(chains), m_forms(forms), m_announcing(announcing),
          m_bloom(bloom), m_txs(txs), m_batcher(peers, packing)
    {
    }

    void Handle(Peer& peer, ReceivedMessage& message) override;
    void Serve(Peer& peer) override;
    Unserved UnservedOf(const Peer& peer) const override;

    /** The block if the peer may have it and we do; null: it gets no answer, or was dropped for the
     *  request. `filtered`: through its Bloom filter. */
    const HeaderNode* Servable(Peer& peer, const BlockHash& hash, bool filtered = false);
    /** Whether the block is being connected. Such blocks are announced before they are connected,
     * so a peer may request one; without an answer it would wait for long. */
    bool AwaitsChain(const BlockHash& hash) const;
    /** Whether the block is on the active chain, or recent: serving old stale blocks would allow
     *  fingerprinting. */
    bool MayServe(const HeaderNode& node) const;
    /** The peer is disconnected because a block cannot be read. */
    void LogUnread(const Peer& peer, const std::string& why) const;
    /** Whether -maxuploadtarget leaves no more budget to send this old block, or its data. */
    bool IsBeyondUploadTarget(const Peer& peer, const HeaderNode& node) const;

private:
    struct State {
        std::deque<InventoryItem> requests; //!< of its getdata, not served yet
        BlockHash continuation; //!< last block of a getblocks answer: when it is fetched, more are
                                //!< offered
    };
    void HandleGetHeaders(Peer& peer, ByteSpan payload);
    void SendHeaders(Peer& peer, const GetHeadersMessage& request);
    void HandleGetBlocks(Peer& peer, ByteSpan payload);
    void HandleGetData(Peer& peer, ByteSpan payload);
    void HandleGetBlockTxn(Peer& peer, ByteSpan payload);
    bool AwaitsChain(const InventoryItem& item) const;
    void ServeBlock(Peer& peer, const InventoryItem& item);
    bool MayUploadHistory(const Peer& peer) const;
    bool IsBeyondLimits(Peer& peer, bool filtered, const HeaderNode& node);
    bool SendBlock(Peer& peer, const InventoryItem& item, const HeaderNode& node);
    void SendBlockTxn(Peer& peer, const GetBlockTxnMessage& request, const BlockView& block);
    const HeaderNode& ForkWithActive(const std::vector<BlockHash>& locator) const;

    PeerSet& m_peers;
    const PeerSurroundings& m_at{m_peers.At()};
    const PeerOptions& m_options{m_peers.Options()};
    KnownChains& m_chains;
    CompactForms& m_forms;
    BlockAnnouncing& m_announcing;
    BloomFilters& m_bloom;
    TxAnnouncer& m_txs;
    TxBatcher m_batcher;
    const PeerStates<State> m_states{m_peers};
};

} // namespace ibd
