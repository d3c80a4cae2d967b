// See block_downloader.h: a peer with free slots is also asked for blocks requested from other
// peers, so that no single peer determines when the last blocks arrive. The criterion is the
// expected arrival: from the asked peers, judged by their current rates and silence, compared with
// that from the free peer. The number of asked peers does not count, as they may collude.
#include "net/peer/block_downloader.h"

namespace ibd {

namespace {

constexpr double kMicros = 1e6; //!< in a second

/** Expected arrival of the block at that position of the peer's queue, microseconds from now. 0:
 *  the peer has delivered nothing yet, and still has time. */
int64_t Expected(const BlockRequests::Load& load, size_t place, int64_t since, int64_t now)
{
    if (!load.rate.Known()) return now - since >= BlockDownloader::kHelpAfter ? now - since : 0;
    const double in_turn = static_cast<double>(place + 1) * kMicros / load.rate.PerSecond(now);
    const int64_t silence = load.requests.empty() ? 0 : now - load.last_received;
    return std::max(static_cast<int64_t>(in_turn),
                    silence < BlockDownloader::kQuietAfter ? 0 : silence);
}

} // namespace

/** The earliest expected arrival from any of the asked peers. */
int64_t BlockDownloader::ExpectedOfAny(const BlockRequests::Owed& owed, const HeaderNode& node,
                                       int64_t now) const
{
    int64_t soonest = std::numeric_limits<int64_t>::max();
    for (const PeerId peer : owed.peers) {
        const Load& load = m_requests.Loads().at(peer);
        size_t place = 0;
        while (load.requests[place].node != &node) ++place;
        soonest = std::min(soonest, Expected(load, place, owed.since, now));
    }
    return soonest;
}

/** Blocks requested from others that this peer could deliver, latest expected arrival first.
 *  `idle`: nothing is requested from it, so that it may be asked for a postponed block. */
std::vector<BlockDownloader::Awaited> BlockDownloader::ListAwaited(const Source& source, bool idle,
                                                                   int64_t now) const
{
    std::vector<Awaited> out;
    for (const auto& [peer, load] : m_requests.Loads()) {
        for (size_t place = 0; place < load.requests.size(); ++place) {
            const HeaderNode& node = *load.requests[place].node;
            const BlockRequests::Owed& owed = m_requests.Blocks().at(&node);
            if (owed.peers.front() != peer || m_goal->Have(node)) continue; // once for each block
            if (!idle && m_postponed.contains(&node)) continue;
            if (m_requests.IsAskedOf(source.peer, node) || !CanServe(source, node)) continue;
            const bool alone = owed.peers.size() == 1;
            out.push_back(
                {&node, owed.since,
                 alone ? Expected(load, place, owed.since, now) : ExpectedOfAny(owed, node, now)});
        }
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const Awaited& a, const Awaited& b) { return a.expected > b.expected; });
    return out;
}

/** Asks a peer that has not delivered any block for one block: this measures its rate, and causes
 *  at most one duplicate block for each peer. */
void BlockDownloader::AskOnTrial(const std::vector<Awaited>& awaited, int64_t now,
                                 std::vector<const HeaderNode*>& out) const
{
    const auto old = std::find_if(awaited.begin(), awaited.end(), [&](const Awaited& block) {
        return now - block.since >= kTrialAfter;
    });
    if (old != awaited.end()) out.push_back(old->node);
}

void BlockDownloader::AskToHelp(const Source& source, size_t most, int64_t now,
                                std::vector<const HeaderNode*>& out)
{
    Load& own = m_requests.LoadOf(source.peer);
    if (!IsHurried(source) || now < own.help_after) return;
    const size_t before = out.size();
    if (before >= most) return;
    const bool idle = own.requests.empty() && out.empty();
    const std::vector<Awaited> awaited = ListAwaited(source, idle, now);
    if (!own.rate.Known()) {
        if (idle) AskOnTrial(awaited, now, out);
    } else {
        for (const Awaited& block : awaited) {
            const size_t place = own.requests.size() + out.size();
            const int64_t mine = Expected(own, place, now, now);
            if (out.size() >= most || block.expected < kHelpAhead || 2 * mine >= block.expected) {
                break;
            }
            out.push_back(block.node);
        }
    }
    if (out.size() == before) own.help_after = now + kHelpInterval;
}

} // namespace ibd
