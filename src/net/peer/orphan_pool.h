// OrphanPool: transactions whose parents are unknown, kept until the parents are received. Owned by
// TxRelay, one thread.
//
// An orphan is kept while at least one of its announcers has room for it in its share. Bounds:
// kWeightOfPeer of weight for each peer that announced an orphan, and kMaxLatency over all
// announcements, of which each peer has an equal part. When a total is exceeded, the oldest
// announcement of the peer that exceeds its part most is dropped, preferably of orphans that still
// wait for parents. So a peer cannot evict orphans of a peer within its part. Rules and log lines
// are Bitcoin Core's.
#pragma once

#include "net/peer/peer_pool.h"
#include "primitives/tx_view.h"
#include "util/log.h"

#include <functional>
#include <map>
#include <set>

namespace ibd {

class OrphanPool {
public:
    static constexpr int64_t kWeightOfPeer = 404'000;
    /** Bound of the latency score: 1 for an announcement, and 1 for each 10 inputs of an orphan. It
     *  bounds the work caused by a block or a disconnection. */
    static constexpr int64_t kMaxLatency = 3'000;
    static constexpr int64_t kMaxOrphanWeight = 400'000;

    /** `random`: a number below its argument. */
    OrphanPool(Logger& log, std::function<uint64_t(uint64_t)> random)
        : m_log(log), m_random(std::move(random))
    {
    }

    /** Records that the peer announces this orphan. */
    void Add(const TransactionRef& tx, PeerId peer);
    /** Null: it is not here. */
    TransactionRef Find(const Wtxid& id) const;
    bool Has(const Wtxid& id) const { return m_orphans.contains(id); }
    bool IsOf(const Wtxid& id, PeerId peer) const;

    /** Call it when a parent was received: its orphans are tried again, each in the turn of one
     *  announcer. */
    void ParentCame(const TxView& parent);
    bool HasReady(PeerId peer) const;
    /** An orphan to be tried again, once; null: none. */
    TransactionRef TakeReady(PeerId peer);
    /** Orphans of the peer that spend this transaction: first those to be tried again, then the
     *  newest. Takes time in proportion to the inputs of orphans that spend it. */
    std::vector<TransactionRef> ChildrenFrom(const Txid& parent, PeerId peer) const;

    /** False: it is not here. */
    bool Erase(const Wtxid& id);
    void Disconnected(PeerId peer);
    /** Erases the orphans that spend one of these outputs: a block has done so. */
    void EraseSpenders(std::span<const OutPoint> spent);

    struct Orphan {
        TransactionRef tx;
        std::set<PeerId> peers;
    };
    std::vector<Orphan> All() const; //!< by wtxid

    // Totals; each orphan counts once.
    size_t Count() const { return m_orphans.size(); }
    int64_t Weight() const { return m_weight; }
    int64_t Latency() const;
    int64_t WeightOf(PeerId peer) const;

private:
    struct Kept {
        TransactionRef tx;
        std::map<PeerId, uint64_t> peers; //!< maps an announcer to the sequence number of its
                                          //!< announcement
        std::optional<PeerId> ready;      //!< the peer in whose turn it will be tried again
    };
    using Orphans = std::map<Wtxid, Kept>;
    struct Share {
        int64_t weight = 0;
        int64_t latency = 0;
        std::map<uint64_t, Wtxid> waiting; //!< by sequence
        std::map<uint64_t, Wtxid> ready;

        size_t Count() const { return waiting.size() + ready.size(); }
    };
    /** The ratio of used to allowed. */
    struct Excess {
        int64_t used = 0;
        int64_t allowed = 1;
        std::partial_ordering operator<=>(const Excess& other) const;
        bool operator==(const Excess& other) const = default;
    };

    using Spenders = std::map<OutPoint, std::set<Wtxid>>;

    /** The orphans that spend an output of this transaction; one for each such output. */
    void VisitSpenders(const Txid& parent,
                       const std::function<void(const OutPoint&, const Wtxid&)>& visit) const;
    void MakeReady(const Wtxid& id);
    void Announce(Orphans::iterator orphan, PeerId peer);
    void Remove(Orphans::iterator orphan, PeerId peer);
    void RemoveOldest(const Share& share, PeerId peer);
    void EraseAll(Orphans::iterator orphan);
    bool IsTooLarge() const;
    void Trim();
    PeerId Worst(int64_t allowed_latency) const;

    Logger& m_log;
    const std::function<uint64_t(uint64_t)> m_random;
    Orphans m_orphans;
    std::map<PeerId, Share> m_shares; //!< of peers with orphans
    Spenders m_spenders;              //!< index by the outputs that orphans spend
    int64_t m_weight = 0;
    int64_t m_input_latency = 0; //!< of each orphan once
    size_t m_announcements = 0;
    uint64_t m_next_sequence = 0;
};

} // namespace ibd
