// See spent_coins_feature.h.
#include "net/peer/spent_coins_feature.h"

#include "net/wire/spent_coins.h"

namespace ibd {

namespace {

constexpr int kStep = 500; //!< blocks that are looked at in a round: less than a millisecond

} // namespace

/** Continues the search for a block without undo data, in steps. */
void SpentCoinsFeature::StartRound()
{
    if (!m_serves) return;
    const HeaderNode& tip = m_at.chain.Tip();
    m_proven = m_proven ? LastCommonAncestor(m_proven, &tip) : tip.Ancestor(0);
    m_more = false;
    for (int step = 0; m_proven != &tip; ++step) {
        const HeaderNode* const next = tip.Ancestor(m_proven->height + 1);
        if (!m_at.chain.Facts(*next).have_undo) return;
        if (m_more = step == kStep; m_more) return;
        m_proven = next;
    }
}

/** A node that lacks some undo data, such as a pruned one, cannot announce which. */
void SpentCoinsFeature::Negotiate(Peer& peer)
{
    StartRound();
    if (!m_serves || m_proven != &m_at.chain.Tip()) return;
    m_states[peer].ours = m_peers.SendFeature(peer, kSpentCoinsFeature, {kSpentCoinsFeatureData});
}

bool SpentCoinsFeature::TakeFeature(Peer& peer, const FeatureMessage& feature)
{
    if (feature.id != kSpentCoinsFeature) return false;
    m_states[peer].theirs = feature.Is(kSpentCoinsFeature, kSpentCoinsFeatureData);
    return true;
}

void SpentCoinsFeature::Describe(const Peer& peer, PeerInfo& info) const
{
    info.sends_spent_coins = IsTheirs(peer);
}

} // namespace ibd
