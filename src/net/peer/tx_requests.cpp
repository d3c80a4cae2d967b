// See tx_requests.h.
#include "net/peer/tx_requests.h"

#include <algorithm>

namespace ibd {

TxRequests::Announcement* TxRequests::FindIn(Announcements& all, PeerId peer)
{
    const auto it = std::find_if(all.begin(), all.end(),
                                 [peer](const Announcement& one) { return one.peer == peer; });
    return it == all.end() ? nullptr : &*it;
}

void TxRequests::Announced(PeerId peer, const TxKey& key, bool preferred, int64_t not_before)
{
    PeerState& of_peer = m_peers.try_emplace(peer, m_key).first->second;
    if (!of_peer.hashes.insert(key.hash).second) {
        if (key.is_wtxid) FindIn(m_all.at(key.hash), peer)->is_wtxid = true;
        return;
    }
    m_all[key.hash].push_back({.peer = peer,
                               .is_wtxid = key.is_wtxid,
                               .preferred = preferred,
                               .time = not_before,
                               .sequence = m_next_sequence++});
    m_timers[{not_before, m_all.at(key.hash).back().sequence}] = {peer, key.hash};
    ++m_size;
}

/** Keeps the indexes in step. */
void TxRequests::SetState(const Uint256& hash, Announcement& announcement, State state,
                          int64_t time)
{
    PeerState& peer = m_peers.at(announcement.peer);
    switch (announcement.state) {
    case State::kDelayed: m_timers.erase({announcement.time, announcement.sequence}); break;
    case State::kRequested:
        m_timers.erase({announcement.time, announcement.sequence});
        --peer.in_flight;
        break;
    case State::kChosen: peer.chosen.erase(announcement.sequence); break;
    default: break;
    }
    announcement.state = state;
    if (state == State::kChosen) peer.chosen.emplace(announcement.sequence, hash);
    if (state != State::kRequested) return;
    announcement.time = time;
    m_timers[{time, announcement.sequence}] = {announcement.peer, hash};
    ++peer.in_flight;
}

/** Removes an announcement from all tables except the list of its hash. */
void TxRequests::Erase(const Uint256& hash, Announcement& announcement)
{
    SetState(hash, announcement, State::kDone);
    const auto peer = m_peers.find(announcement.peer);
    peer->second.hashes.erase(hash);
    if (peer->second.hashes.empty()) m_peers.erase(peer);
    --m_size;
}

bool TxRequests::IsBetter(const Uint256& hash, const Announcement& a, const Announcement& b) const
{
    if (a.preferred != b.preferred) return a.preferred;
    const auto rank = [&](const Announcement& one) {
        return SipHasher(m_key)
            .Write(hash.Span())
            .Write(static_cast<uint64_t>(one.peer))
            .Finalize();
    };
    return rank(a) > rank(b);
}

/** Removes the hash if it cannot be requested from any peer any more; otherwise chooses a peer,
 *  unless it is already requested. */
void TxRequests::Settle(const Uint256& hash)
{
    Announcements& all = m_all.at(hash);
    if (std::all_of(all.begin(), all.end(),
                    [](const Announcement& one) { return one.state == State::kDone; })) {
        return Forget(Uint256(hash));
    }
    Announcement* chosen = nullptr;
    Announcement* best = nullptr;
    for (Announcement& one : all) {
        if (one.state == State::kRequested) return;
        if (one.state != State::kReady && one.state != State::kChosen) continue;
        if (one.state == State::kChosen) chosen = &one;
        if (!best || IsBetter(hash, one, *best)) best = &one;
    }
    if (best == chosen) return;
    if (chosen) SetState(hash, *chosen, State::kReady);
    SetState(hash, *best, State::kChosen);
}

void TxRequests::Advance(int64_t now, std::vector<Expired>& expired)
{
    while (!m_timers.empty() && m_timers.begin()->first.first <= now) {
        const Timer timer = m_timers.begin()->second;
        Announcement& due = *FindIn(m_all.at(timer.hash), timer.peer);
        if (due.state == State::kRequested) {
            expired.push_back({timer.peer, {timer.hash, due.is_wtxid}});
            SetState(timer.hash, due, State::kDone);
        } else {
            SetState(timer.hash, due, State::kReady);
        }
        Settle(timer.hash);
    }
}

std::vector<TxKey> TxRequests::Requestable(PeerId peer, int64_t now, std::vector<Expired>& expired)
{
    Advance(now, expired);
    std::vector<TxKey> out;
    const auto found = m_peers.find(peer);
    if (found == m_peers.end()) return out;
    for (const auto& [sequence, hash] : found->second.chosen) {
        out.push_back({hash, FindIn(m_all.at(hash), peer)->is_wtxid});
    }
    return out;
}

void TxRequests::Requested(PeerId peer, const Uint256& hash, int64_t expiry)
{
    Announcement* const chosen = FindIn(m_all.at(hash), peer);
    CHECK(chosen && chosen->state == State::kChosen);
    SetState(hash, *chosen, State::kRequested, expiry);
}

void TxRequests::Answered(PeerId peer, const Uint256& hash)
{
    const auto found = m_all.find(hash);
    Announcement* const answered = found == m_all.end() ? nullptr : FindIn(found->second, peer);
    if (!answered || answered->state == State::kDone) return;
    SetState(hash, *answered, State::kDone);
    Settle(hash);
}

void TxRequests::Forget(const Uint256& hash)
{
    const auto found = m_all.find(hash);
    if (found == m_all.end()) return;
    for (Announcement& one : found->second) Erase(hash, one);
    m_all.erase(found);
}

void TxRequests::ForgetTxid(const Txid& id)
{
    const auto found = m_all.find(id);
    if (found == m_all.end()) return;
    for (Announcement& one : found->second) {
        if (!one.is_wtxid) Erase(id, one);
    }
    std::erase_if(found->second, [](const Announcement& one) { return !one.is_wtxid; });
    if (found->second.empty()) {
        m_all.erase(found);
    } else {
        Settle(Uint256(id));
    }
}

void TxRequests::Disconnected(PeerId peer)
{
    const auto found = m_peers.find(peer);
    if (found == m_peers.end()) return;
    const std::vector<Uint256> hashes(found->second.hashes.begin(), found->second.hashes.end());
    for (const Uint256& hash : hashes) {
        Announcements& all = m_all.at(hash);
        Announcement* const gone = FindIn(all, peer);
        Erase(hash, *gone);
        all.erase(all.begin() + (gone - all.data()));
        if (all.empty()) {
            m_all.erase(hash);
        } else {
            Settle(hash);
        }
    }
}

size_t TxRequests::CountOf(PeerId peer) const
{
    const auto found = m_peers.find(peer);
    return found == m_peers.end() ? 0 : found->second.hashes.size();
}

size_t TxRequests::InFlight(PeerId peer) const
{
    const auto found = m_peers.find(peer);
    return found == m_peers.end() ? 0 : found->second.in_flight;
}

void TxRequests::AddCandidates(const TxKey& key, std::vector<PeerId>& peers) const
{
    const auto found = m_all.find(key.hash);
    if (found == m_all.end()) return;
    for (const Announcement& one : found->second) {
        if (one.state == State::kDone || (one.is_wtxid && !key.is_wtxid)) continue;
        peers.push_back(one.peer);
    }
}

} // namespace ibd
