// TxRequests: the transactions that peers have announced, and the choice of the peer and the time
// to request each. Owned by TxRelay, one thread.
//
// An announcement is a peer and a hash. It becomes ready at its time, is requested at most once,
// and is done when the peer has answered or timed out; once all announcements of a hash are done
// they are forgotten. If a hash is not requested from any peer, one ready announcement is chosen:
// preferred peers first, and among these by a keyed hash that no peer can predict. So a peer that
// does not answer can delay a transaction by one timeout, but not withhold it.
//
// Memory: some 300 bytes for each announcement; the caller bounds their number for each peer
// (TxFetcher). An operation takes a logarithm of the number of announcements, plus the number of
// peers of its hash. Peers choose the hashes, so tables of them are keyed.
#pragma once

#include "net/peer/peer_pool.h"

#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace ibd {

class TxRequests {
public:
    /** `key`: random. */
    explicit TxRequests(SipKey key) : m_key(key), m_all(0, Hasher{key}) {}

    /** If the peer has announced the hash before, only the kind changes: to wtxid. `not_before`:
     *  microseconds. */
    void Announced(PeerId peer, const TxKey& key, bool preferred, int64_t not_before);

    struct Expired {
        PeerId peer = -1;
        TxKey key;
    };
    /** The hashes to request from the peer now, in the order of its announcements. Appends to
     *  `expired` the requests of all peers that timed out since the last call. */
    std::vector<TxKey> Requestable(PeerId peer, int64_t now, std::vector<Expired>& expired);
    /** Marks the hash as requested from that peer until `expiry`; it must be requestable. */
    void Requested(PeerId peer, const Uint256& hash, int64_t expiry);
    /** Call it when the peer has sent it, or does not have it. */
    void Answered(PeerId peer, const Uint256& hash);
    /** It is no longer wanted. */
    void Forget(const Uint256& hash);
    /** Call it when no transaction with this txid is wanted any more, except one whose wtxid is the
     *  same. */
    void ForgetTxid(const Txid& id);
    void Disconnected(PeerId peer);

    /** Announcements of a peer. */
    size_t CountOf(PeerId peer) const;
    /** Requests to a peer. */
    size_t InFlight(PeerId peer) const;
    size_t Size() const { return m_size; }
    /** Adds the peers that may still send it. For a txid: only peers that announced by txid. */
    void AddCandidates(const TxKey& key, std::vector<PeerId>& peers) const;

private:
    enum class State {
        kDelayed, //!< not ready yet
        kReady,
        kChosen, //!< the one ready announcement of its hash to be requested
        kRequested,
        kDone,
    };
    struct Announcement {
        PeerId peer = -1;
        bool is_wtxid = false;
        bool preferred = false;
        State state = State::kDelayed;
        int64_t time = 0; //!< kDelayed: of the earliest request; kRequested: of the time-out
        uint64_t sequence = 0;
    };
    using Announcements = std::vector<Announcement>; //!< the announcements of one hash; at most one
                                                     //!< for each peer
    struct Hasher {
        SipKey key;
        size_t operator()(const Uint256& hash) const
        {
            return SipHasher(key).Write(hash.Span()).Finalize();
        }
    };
    struct PeerState {
        explicit PeerState(SipKey key) : hashes(0, Hasher{key}) {}
        std::unordered_set<Uint256, Hasher> hashes;
        size_t in_flight = 0;
        std::map<uint64_t, Uint256> chosen; //!< by sequence
    };
    struct Timer {
        PeerId peer = -1;
        Uint256 hash;
    };

    static Announcement* FindIn(Announcements& all, PeerId peer);
    void Advance(int64_t now, std::vector<Expired>& expired);
    void SetState(const Uint256& hash, Announcement& announcement, State state, int64_t time = 0);
    bool IsBetter(const Uint256& hash, const Announcement& a, const Announcement& b) const;
    void Settle(const Uint256& hash);
    void Erase(const Uint256& hash, Announcement& announcement);

    const SipKey m_key;
    std::unordered_map<Uint256, Announcements, Hasher> m_all;
    std::map<PeerId, PeerState> m_peers; //!< those with announcements
    /** Of delayed and requested ones, by time and sequence of the announcement. */
    std::map<std::pair<int64_t, uint64_t>, Timer> m_timers;
    uint64_t m_next_sequence = 0;
    size_t m_size = 0;
};

} // namespace ibd
