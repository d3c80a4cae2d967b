// See known_chains.h.
#include "net/peer/known_chains.h"

namespace ibd {

namespace {

constexpr int64_t kRecentBlocks = 20; //!< a tip younger than this many block intervals has caught
                                      //!< up

} // namespace

void KnownChains::NoteAnnounced(Peer& peer, const BlockHash& hash)
{
    ResolveUnknown(peer);
    const HeaderNode* const node = m_at.chain.Find(hash);
    if (node) return Raise(m_states[peer], *node);
    m_states[peer].unknown = hash;
}

void KnownChains::ResolveUnknown(Peer& peer)
{
    State& state = m_states[peer];
    if (state.unknown.IsNull()) return;
    const HeaderNode* const node = m_at.chain.Find(state.unknown);
    if (!node) return;
    Raise(state, *node);
    state.unknown = {};
}

void KnownChains::Raise(State& state, const HeaderNode& node)
{
    if (!state.best || node.chain_work >= state.best->chain_work) state.best = &node;
}

bool KnownChains::HasHeader(const Peer& peer, const HeaderNode& node) const
{
    const State& state = m_states[peer];
    return (state.best && IsAncestor(node, *state.best)) ||
           (state.sent && IsAncestor(node, *state.sent));
}

bool KnownChains::IsCaughtUp() const
{
    const int64_t recent = kRecentBlocks * m_at.params.consensus.pow_target_spacing;
    return int64_t{m_at.chain.Tip().time} > m_peers.NowSeconds() - recent;
}

} // namespace ibd
