// See offer_queue.h.
#include "net/peer/offer_queue.h"

#include "util/check.h"

#include <algorithm>

namespace ibd {

/** With too many accounts, the account of the peer that is the least ahead is removed. */
OfferQueue::Time& OfferQueue::AccountOf(PeerId peer)
{
    const auto found = m_accounts.find(peer);
    if (found == m_accounts.end() && m_accounts.size() >= kMaxAccounts) {
        m_accounts.erase(
            std::min_element(m_accounts.begin(), m_accounts.end(),
                             [](const auto& a, const auto& b) { return a.second < b.second; }));
    }
    Time& account = found == m_accounts.end() ? m_accounts[peer] : found->second;
    account = std::max(account, m_now);
    return account;
}

void OfferQueue::Put(TxOffer offer)
{
    const size_t bytes = offer.Bytes();
    Time& account = AccountOf(offer.peer);
    account += ChargeOf(bytes);
    m_bytes += bytes;
    m_waiting.emplace(std::pair(account, m_number++), std::move(offer));
}

TxOffer OfferQueue::Take()
{
    CHECK(!m_waiting.empty() && !m_taken);
    TxOffer offer = std::move(m_waiting.extract(m_waiting.begin()).mapped());
    m_taken = Taken{offer.peer, offer.Bytes()};
    return offer;
}

void OfferQueue::Done(Time took)
{
    CHECK(m_taken);
    AccountOf(m_taken->peer) += took - ChargeOf(m_taken->bytes);
    m_bytes -= m_taken->bytes;
    m_taken.reset();
    // This time is shared by all peers that waited and the one that was served.
    m_now += took / static_cast<int64_t>(m_waiting.size() + 1);
    ForgetOld();
}

void OfferQueue::ForgetOld()
{
    std::erase_if(m_accounts, [this](const auto& one) { return one.second <= m_now; });
}

void OfferQueue::Clear()
{
    for (const auto& [at, offer] : m_waiting) m_bytes -= offer.Bytes();
    m_waiting.clear();
}

} // namespace ibd
