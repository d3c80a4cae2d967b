// OfferQueue: offers of peers that wait for the pool's thread, in an order in which each peer gets
// an equal share of that thread (weighted fair queueing with equal weights). Each peer has an
// account: the time at which its last check would end if all peers with offers were served in
// parallel. The offer with the earliest such end is next. A check is charged first by its bytes,
// then by the time that it took. So an offer waits for about one check of each peer that has used
// less time, but not for long checks of peers that have used more. Owned by the implementation of
// PeerPool (node/tx_intake.h); no clock and no thread.
//
// Memory: its offers, and kMaxAccounts.
#pragma once

#include "net/peer/peer_pool.h"

#include <chrono>
#include <map>

namespace ibd {

class OfferQueue {
public:
    using Time = std::chrono::nanoseconds;

    /** The charge for each byte until the check has ended: a signature has some 100 bytes, and
     *  takes some 50 microseconds. */
    static constexpr Time kForByte{500};
    /** Peers that are ahead of their share; some may have disconnected. */
    static constexpr size_t kMaxAccounts = 1'000;

    bool IsEmpty() const { return m_waiting.empty(); }
    size_t Size() const { return m_waiting.size(); }
    /** Bytes of the waiting offers and of the one being checked. */
    size_t Bytes() const { return m_bytes; }
    size_t Accounts() const { return m_accounts.size(); }

    void Put(TxOffer offer);
    /** Takes the next offer; there must be one. Call Done() afterwards. */
    const TxOffer& Next() const { return m_waiting.begin()->second; }
    TxOffer Take();
    /** Call it when the check of the last taken offer has ended: charges the time that it took. */
    void Done(Time took);
    /** Drops what waits. */
    void Clear();

private:
    struct Taken {
        PeerId peer = -1;
        size_t bytes = 0;
    };
    static Time ChargeOf(size_t bytes) { return kForByte * static_cast<int64_t>(bytes); }
    Time& AccountOf(PeerId peer);
    void ForgetOld();

    /** Ordered by expected end; equal ones in order of arrival. */
    std::map<std::pair<Time, uint64_t>, TxOffer> m_waiting;
    std::map<PeerId, Time> m_accounts; //!< a missing one is at m_now
    Time m_now{0};                     //!< the time that each waiting peer has had so far
    uint64_t m_number = 0;
    size_t m_bytes = 0;
    std::optional<Taken> m_taken;
};

} // namespace ibd
