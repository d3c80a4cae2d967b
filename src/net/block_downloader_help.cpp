// See block_downloader.h: a peer that has room is asked for blocks that other peers owe, so that
// none of them decides when the last blocks are here. What counts is time: when a block is expected
// of those who were asked for it, at their present rates and after their silence, and when of the
// peer that has room. How many were asked for it does not count, as they may all be in league.
#include "net/block_downloader.h"

namespace ibd {

namespace {

constexpr double kMicros = 1e6; //!< in a second

} // namespace

/** When the peer brings the block in that place of its queue, in microseconds from now on. 0: of a
 *  peer that has brought nothing yet, and has some time for it. */
int64_t BlockDownloader::Expected(const Load& load, size_t place, int64_t since, int64_t now)
{
    if (!load.rate.Known()) return now - since >= kHelpAfter ? now - since : 0;
    const double in_turn = static_cast<double>(place + 1) * kMicros / load.rate.PerSecond(now);
    const int64_t silence = load.requests.empty() ? 0 : now - load.last_received;
    return std::max(static_cast<int64_t>(in_turn), silence < kQuietAfter ? 0 : silence);
}

/** Of the soonest of those who are asked for it. */
int64_t BlockDownloader::ExpectedOfAny(const Owed& owed, const HeaderNode& node, int64_t now) const
{
    int64_t soonest = std::numeric_limits<int64_t>::max();
    for (const PeerId peer : owed.peers) {
        const Load& load = m_loads.at(peer);
        size_t place = 0;
        while (load.requests[place].node != &node) ++place;
        soonest = std::min(soonest, Expected(load, place, owed.since, now));
    }
    return soonest;
}

/** Blocks that others owe and this peer could bring, those that are furthest off first. */
std::vector<BlockDownloader::Awaited> BlockDownloader::ListAwaited(const Source& source,
                                                                   int64_t now) const
{
    std::vector<Awaited> out;
    for (const auto& [peer, load] : m_loads) {
        for (size_t place = 0; place < load.requests.size(); ++place) {
            const HeaderNode& node = *load.requests[place].node;
            const Owed& owed = m_asked.at(&node);
            if (owed.peers.front() != peer || m_goal->Have(node)) continue; // once for each block
            if (IsAskedOf(source.peer, node) || !CanServe(source, node)) continue;
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

/** One block of a peer of which nothing is known: then its rate is, and blocks that come twice
 *  are one for each peer at most. */
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
    Load& own = m_loads.at(source.peer);
    // With a window, who holds it up is sent away instead.
    if (m_goal->WindowEnd() != DownloadGoal::kNoWindow || now < own.help_after) return;
    const size_t before = out.size();
    if (before >= most) return;
    const std::vector<Awaited> awaited = ListAwaited(source, now);
    if (!own.rate.Known()) {
        if (own.requests.empty() && out.empty()) AskOnTrial(awaited, now, out);
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
