// TxRelay: transactions from peers. Owned by PeerManager. A TxFetcher decides about requests, and a
// TxAnnouncer about announcements to peers; this class moves transactions to the pool:
//
//   tx ─> line of peers ─> PeerPool::Offer ─ checked elsewhere ─> verdict ─> orphans, announcement
//
// A peer has one transaction in line or with the pool; until the verdict no further message of it
// is read, so that its answers keep their order. So the line has at most one transaction for each
// peer, and each waits at most once for every other; one that fits into the remaining room passes
// others. Orphans whose parents were received take the same path, in the turn of a peer that
// announced them.
//
// A batch of transactions (packing_feature.h) is unpacked, and then handled as if each had come by
// itself.
//
// A verdict may cost thousands of look-ups, of the orphan's parents or of children. So a round does
// only a part of them (kLinksOfRound), and blocks are handled before the rest.
//
// Memory: that of the TxFetcher; for each peer a transaction or a package, and an unpacked batch
// (kMaxTxBatchBytes); ExtraTxs.
#pragma once

#include "net/peer/extra_txs.h"
#include "net/peer/packing_feature.h"
#include "net/peer/private_relay.h"
#include "net/peer/tx_announcer.h"
#include "net/peer/tx_fetcher.h"

#include <deque>

namespace ibd {

class TxRelay final : public PeerTopic {
public:
    static constexpr size_t kMaxExtraBytes = 100'000; //!< size of a refused transaction that is
                                                      //!< kept
    /** A round handles verdicts with at most this number of inputs and outputs in total, or one
     *  larger verdict. Each may take a look-up of about a microsecond. */
    static constexpr size_t kLinksOfRound = 500;

    TxRelay(PeerSet& peers, TxAnnouncer& announcer, CompactForms& forms, RecentBlock& recent,
            PrivateRelay& own, const PackingFeature& packing)
        : m_peers(peers), m_announcer(announcer), m_forms(forms), m_recent(recent), m_private(own),
          m_packing(packing)
    {
    }

    void Established(Peer& peer) override { m_fetcher.Established(peer); }
    void Closed(Peer& peer) override { m_states[peer].unpacked.clear(); }
    void Disconnected(Peer& peer) override { m_fetcher.Disconnected(peer); }
    void Handle(Peer& peer, ReceivedMessage& message) override;
    void StartRound() override;
    bool HasMore() const override { return !m_answers.empty(); }
    void Serve(Peer& peer) override;
    Unserved UnservedOf(const Peer& peer) const override;
    void Maintain(Peer& peer) override;
    void TipChanged(const HeaderNode& tip, const HeaderNode& fork) override;
    void Describe(const Peer& peer, PeerInfo& info) const override;

    /** Handles an announcement by inv. False: the peer was disconnected for it. */
    bool TakeInv(Peer& peer, const InventoryItem& item);
    const TxFetcher& Fetcher() const { return m_fetcher; }
    /** For compact blocks. */
    std::span<const TransactionRef> Extra() const { return m_extra.All(); }

private:
    struct State {
        std::optional<TxOffer> waiting; //!< in line
        bool is_checked = false;        //!< an offer of the peer is with the pool
        std::deque<Bytes> unpacked;     //!< of its last batch, to be handled one after the other
        int64_t last_tx = 0;            //!< seconds since 1970; 0: never
    };
    PeerPool* Pool() const { return m_at.pool; }
    bool DropUnlessMaySend(Peer& peer);
    void HandleTx(Peer& peer, ByteSpan payload);
    void HandleBatch(Peer& peer, ByteSpan batch);
    void HandleNotFound(Peer& peer, ByteSpan payload);
    void HandleMempool(Peer& peer);
    void HandleFeeFilter(Peer& peer, ByteSpan payload);

    void Enqueue(Peer& peer, TxOffer offer);
    void MoveLine();
    bool TryOffer(Peer& peer);
    bool Examine(Peer& peer, TxOffer& offer);
    void ForceRelay(const Peer& peer, const Transaction& tx);
    void SetBusy(const TxOffer& offer, bool busy);

    void Take(const TxAnswer& answer);
    void TakeSingle(Peer* peer, const TxAnswer& answer);
    void TakeOrphan(const TxAnswer& answer);
    void TakePackage(const TxAnswer& answer);
    void Accept(PeerId peer, const TransactionRef& tx, const TxAnswer::Verdict& verdict);
    TxFetcher::Package Refuse(PeerId peer, const TransactionRef& tx, const RuleViolation& why,
                              bool again);
    void BlocksConnected(const HeaderNode& tip, const HeaderNode& fork);

    PeerSet& m_peers;
    const PeerSurroundings& m_at{m_peers.At()};
    TxAnnouncer& m_announcer;
    CompactForms& m_forms;
    RecentBlock& m_recent;
    PrivateRelay& m_private;
    const PackingFeature& m_packing;
    const PeerStates<State> m_states{m_peers};
    TxFetcher m_fetcher{m_peers};
    ExtraTxs m_extra{m_peers.Options().extra_txs};
    std::deque<PeerId> m_line;         //!< peers with a waiting offer; some may have disconnected
    std::multiset<Uint256> m_busy;     //!< txids and wtxids of the offers with the pool
    std::deque<TxAnswer> m_answers;    //!< answers that no round has handled yet
    const HeaderNode* m_tip = nullptr; //!< the tip of the last TipChanged()
};

} // namespace ibd
