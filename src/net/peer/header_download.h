// HeaderDownload: headers from peers: requests, checks and storage, and the replacement of peers
// with an old chain. Announcements of transactions, which come in the same message, go to TxRelay.
// Owned by PeerManager. Memory: a HeaderSync for each peer.
#pragma once

#include "net/peer/header_answers.h"
#include "net/peer/known_chains.h"
#include "net/peer/tx_relay.h"

namespace ibd {

/** An observer of new headers. Implemented by the topic that fetches blocks. */
class HeaderListener {
public:
    virtual ~HeaderListener() = default;
    /** Headers were stored: other blocks may be missing. */
    virtual void HeadersAdded() = 0;
    /** The peer has announced the stored header `last`, so it has the block. */
    virtual void HeadersTaken(Peer& peer, const HeaderNode& last) = 0;
    /** Whether blocks are fetched, and one of known headers is missing or lost. */
    virtual bool IsAnyMissing() const = 0;
};

class HeaderDownload final : public PeerTopic {
public:
    HeaderDownload(PeerSet& peers, KnownChains& chains, TxRelay& txs)
        : m_peers(peers), m_chains(chains), m_txs(txs)
    {
    }
    /** Call once, before the first peer; it outlives the peers. */
    void SetListener(HeaderListener& listener) { m_listener = &listener; }

    void Handle(Peer& peer, ReceivedMessage& message) override;
    void Serve(Peer& peer) override { TakeAnnounced(peer); }
    Unserved UnservedOf(const Peer& peer) const override
    {
        return m_states[peer].announced.empty() ? Unserved::kNone : Unserved::kReady;
    }
    void Maintain(Peer& peer) override;
    void Describe(const Peer& peer, PeerInfo& info) const override;

    /** Processes the headers of a message, or the header of a compact block far above the tip. */
    void Process(Peer& peer, std::vector<BlockHeader> headers);
    /** The node of an unrequested block's header; null: it is refused. */
    const HeaderNode* AcceptOfBlock(Peer& peer, const BlockHeader& header, ByteSpan raw);
    /** The node of a compact block's header; null: it is refused. */
    const HeaderNode* AcceptOfCompact(Peer& peer, const BlockHeader& header);
    /** Headers are requested from one peer at a time. After it has sent all, the others are asked
     *  too, so that no single peer determines the end of the chain. */
    HeaderAnswers AskForLastHeaders();

    /** Whether it is protected from replacement for an old chain. */
    bool IsProtected(const Peer& peer) const { return m_states[peer].check.is_protected; }
    /** Seconds since 1970, of its last header above our tip. */
    int64_t LastAnnouncementOf(const Peer& peer) const { return m_states[peer].last_announcement; }

private:
    /** The deadline for showing a chain as good as ours, after which a peer is replaced. */
    struct ChainCheck {
        int64_t timeout = 0; //!< seconds since 1970; 0: no deadline
        const HeaderNode* benchmark = nullptr;
        bool asked = false;
        bool is_protected = false;
    };
    struct State {
        std::unique_ptr<HeaderSync> sync;
        bool sync_started = false;
        bool sendheaders_sent = false;
        bool asked_for_best = false; //!< whether it has our best header's chain
        bool inv_asked = false;      //!< an inv caused a getheaders before the header sync began
        int64_t request_sent = 0;    //!< microseconds; 0: no getheaders is pending
        bool complete = false;       //!< its last answer was not full: it has no more headers
        int64_t sync_timeout = 0;    //!< microseconds; kNever: it caught up once
        int64_t last_announcement = 0;
        ChainCheck check;
        std::deque<InventoryItem> announced;    //!< block hashes of its inv, not processed yet
        std::optional<BlockHash> unknown_block; //!< the last one of that inv
    };
    void HandleInv(Peer& peer, ByteSpan payload);
    void TakeAnnounced(Peer& peer);
    bool Take(Peer& peer, const InventoryItem& item);
    void AskForHeadersOf(Peer& peer, const BlockHash& block);
    void HandleHeaders(Peer& peer, ByteSpan payload);
    bool Check(Peer& peer, const std::vector<BlockHeader>& headers,
               const std::vector<BlockHash>& hashes);
    void AskForPrevious(Peer& peer, const BlockHeader& first);
    void LogPresync(const HeaderSync& sync);
    bool ContinueSync(Peer& peer, std::vector<BlockHeader>& headers,
                      const std::vector<BlockHash>& hashes);
    bool StartPresync(Peer& peer, const HeaderNode& start, std::vector<BlockHeader>& headers,
                      const std::vector<BlockHash>& hashes);
    void Store(Peer& peer, const std::vector<BlockHeader>& headers, bool is_new, bool may_have_more,
               bool syncing);
    void Punish(Peer& peer, const RuleViolation& why, bool via_compact = false);
    void LogNew(const Peer& peer, const HeaderNode& node, bool via_compact) const;
    void Stored(Peer& peer, const HeaderNode& last, bool may_have_more);
    void Protect(Peer& peer);
    bool Request(Peer& peer, const std::vector<BlockHash>& locator);
    void StartSync(Peer& peer);
    void AskForBest(Peer& peer);
    bool MayStartSync(const Peer& peer) const;
    void CheckTimeout(Peer& peer);
    void CheckChain(Peer& peer);
    Arith256 WorkThreshold() const;
    bool IsOnBestOrActive(const HeaderNode* node) const;

    PeerSet& m_peers;
    const PeerSurroundings& m_at{m_peers.At()};
    const PeerOptions& m_options{m_peers.Options()};
    KnownChains& m_chains;
    TxRelay& m_txs;
    HeaderListener* m_listener = nullptr;
    const PeerStates<State> m_states{m_peers};
    int64_t m_presync_logged = -kSecond; //!< time of its last progress line in the log
    BlockHash m_last_inv_sync; //!< block whose inv last caused a request for headers from one more
                               //!< peer
};

} // namespace ibd
