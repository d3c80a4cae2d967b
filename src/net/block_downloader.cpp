// See block_downloader.h.
#include "net/block_downloader.h"

namespace ibd {

namespace {

constexpr int64_t kSecond = 1'000'000; //!< microseconds

bool IsIn(const std::vector<const HeaderNode*>& nodes, const HeaderNode& node)
{
    return std::find(nodes.begin(), nodes.end(), &node) != nodes.end();
}

} // namespace

void BlockDownloader::SetGoal(DownloadGoal& goal)
{
    m_goal = &goal;
    GoalChanged();
}

void BlockDownloader::GoalChanged()
{
    m_cursor = -1; // requests under way are skipped when it comes to them again
    m_again.clear();
    for (auto& [peer, load] : m_loads) load.branch_after = 0;
}

std::vector<const HeaderNode*> BlockDownloader::Ask(const Source& source, const HeaderNode& tip,
                                                    int64_t now)
{
    std::vector<const HeaderNode*> out;
    if (!source.best_known) return out;
    Load& load = m_loads[source.peer];
    const size_t most = FreeSlots(load);
    if (most == 0) return out;
    AskAgain(source, most, out);
    AskPreferred(source, most, out);
    const bool window_full = AskNext(source, most, out);
    const bool idle = load.requests.empty();
    if (out.empty() && (idle || source.elsewhere) && now >= load.branch_after) {
        load.branch_after = now + kBranchInterval;
        AskBranch(source, tip, most, out);
    }
    if (out.empty() && idle) {
        if (window_full) NoteStaller(source.peer, now);
        if (out.empty()) AskToHelp(source, most, now, out);
    }
    Request(source.peer, out, now);
    return out;
}

void BlockDownloader::Request(PeerId peer, const std::vector<const HeaderNode*>& nodes, int64_t now)
{
    Load& load = m_loads[peer];
    if (load.requests.empty()) load.first_since = load.last_received = now;
    for (const HeaderNode* node : nodes) {
        load.requests.push_back({node, now, nullptr});
        m_asked[node].push_back(peer);
    }
}

// A branch that left ours long ago is no matter of a block or two: that is left to Ask().
std::vector<const HeaderNode*> BlockDownloader::AskTowards(PeerId peer, const HeaderNode& header,
                                                           const HeaderNode& tip, int64_t now)
{
    std::vector<const HeaderNode*> out;
    if (m_goal->WindowEnd() == DownloadGoal::kNoWindow) return out;
    const HeaderNode* node = &header;
    for (; tip.Ancestor(node->height) != node; node = node->prev) {
        if (out.size() > kMinInFlight) return {};
        if (!m_goal->Have(*node) && !IsAsked(*node)) out.push_back(node);
    }
    std::reverse(out.begin(), out.end());
    out.resize(std::min(out.size(), FreeSlots(m_loads[peer])));
    Request(peer, out, now);
    return out;
}

/** As much as a peer gives in two seconds, so that a far one has always something to send. With a
 *  window the few ahead of it are for all. */
size_t BlockDownloader::FreeSlots(const Load& load) const
{
    const bool windowed = m_goal->WindowEnd() != DownloadGoal::kNoWindow;
    const size_t most =
        windowed ? kMinInFlight : std::clamp(2 * load.rate, kMinInFlight, kMaxInFlight);
    return load.requests.size() < most ? most - load.requests.size() : 0;
}

bool BlockDownloader::CanServe(const Source& source, const HeaderNode& node) const
{
    const HeaderNode& best = *source.best_known;
    if (best.Ancestor(node.height) != &node) return false;
    return !source.limited || best.height - node.height < kLimitedDepth;
}

/** Blocks that others were asked for and did not give. */
void BlockDownloader::AskAgain(const Source& source, size_t most,
                               std::vector<const HeaderNode*>& out)
{
    for (auto it = m_again.begin(); it != m_again.end() && out.size() < most;) {
        const HeaderNode& node = *it->second;
        const bool done = m_goal->Have(node) || IsAsked(node);
        if (!done && !CanServe(source, node)) {
            ++it;
            continue;
        }
        if (!done) out.push_back(&node);
        it = m_again.erase(it);
    }
}

/** Of those that are wanted before all others. */
void BlockDownloader::AskPreferred(const Source& source, size_t most,
                                   std::vector<const HeaderNode*>& out) const
{
    const int32_t first = m_goal->PreferredFrom();
    if (first == DownloadGoal::kNoneFirst) return;
    const HeaderNode* node = m_goal->NextMissing(first - 1);
    for (; node && out.size() < most; node = m_goal->NextMissing(node->height)) {
        if (!IsAsked(*node) && !IsIn(out, *node) && CanServe(source, *node)) out.push_back(node);
    }
}

/** Blocks that nobody was asked for yet. Whether the window ended before something to ask. */
bool BlockDownloader::AskNext(const Source& source, size_t most,
                              std::vector<const HeaderNode*>& out)
{
    const int32_t end = m_goal->WindowEnd();
    while (out.size() < most) {
        const HeaderNode* const node = m_goal->NextMissing(m_cursor);
        if (!node) return false;
        if (!IsAsked(*node) && !IsIn(out, *node)) {
            // The cursor is everybody's: a block that it passed by would be asked of nobody.
            if (!CanServe(source, *node)) return false;
            if (node->height > end) return true;
            out.push_back(node);
        }
        m_cursor = node->height;
    }
    return false;
}

/** A peer whose chain is another one than the goal's, and as good as ours, is asked for that: the
 *  goal's may be one of headers only, whose blocks nobody has. */
void BlockDownloader::AskBranch(const Source& source, const HeaderNode& tip, size_t most,
                                std::vector<const HeaderNode*>& out) const
{
    const HeaderNode& best = *source.best_known;
    if (best.chain_work < tip.chain_work) return;
    const HeaderNode* const fork = LastCommonAncestor(&best, &tip);
    const int32_t end =
        std::min({best.height, fork->height + kDownloadWindow, m_goal->WindowEnd()});
    for (int32_t height = fork->height + 1; height <= end && out.size() < most; ++height) {
        const HeaderNode& node = *best.Ancestor(height);
        if (m_goal->Have(node) || IsAsked(node) || !CanServe(source, node)) continue;
        out.push_back(&node);
    }
}

/** Whether one who has nothing to do but `given` blocks brings another clearly sooner than the one
 *  who has `place` blocks to bring before it. Of whom nothing came lately nothing is known. */
bool BlockDownloader::IsSooner(const Load& helper, size_t given, const Load& owner, size_t place)
{
    if (helper.rate == 0 || owner.rate == 0) return false;
    const auto micros = [](size_t blocks, size_t rate) {
        return static_cast<int64_t>(blocks) * kSecond / static_cast<int64_t>(rate);
    };
    const int64_t wait = micros(place + 1, owner.rate);
    return wait >= kHelpAhead && 2 * micros(given + 1, helper.rate) < wait;
}

/** One who has nothing to do gets what others were asked for long ago, or will bring much later:
 *  nobody waits for the slowest at the end. */
void BlockDownloader::AskToHelp(const Source& source, size_t most, int64_t now,
                                std::vector<const HeaderNode*>& out) const
{
    // With a window, who holds it up is sent away instead.
    if (m_goal->WindowEnd() != DownloadGoal::kNoWindow) return;
    const Load& own = m_loads.at(source.peer);
    for (const auto& [peer, load] : m_loads) {
        if (peer == source.peer) continue;
        for (size_t place = 0; place < load.requests.size() && out.size() < most; ++place) {
            const Asked& request = load.requests[place];
            const bool late = now - request.since >= kHelpAfter;
            if (!late && !IsSooner(own, out.size(), load, place)) continue;
            if (m_asked.at(request.node).size() > 1 || m_goal->Have(*request.node)) continue;
            if (!CanServe(source, *request.node)) continue;
            out.push_back(request.node);
        }
    }
}

/** `waiting` could fetch blocks if the lowest that is under way were here: who owes that one? */
void BlockDownloader::NoteStaller(PeerId waiting, int64_t now)
{
    Load* staller = nullptr;
    PeerId its_id = -1;
    int32_t lowest = std::numeric_limits<int32_t>::max();
    for (auto& [peer, load] : m_loads) {
        for (const Asked& request : load.requests) {
            if (peer == waiting || request.node->height >= lowest) continue;
            lowest = request.node->height;
            staller = &load;
            its_id = peer;
        }
    }
    if (!staller || staller->stalling_since != 0) return;
    staller->stalling_since = now;
    m_new_staller = its_id;
}

bool BlockDownloader::Received(PeerId peer, const HeaderNode& node, int64_t now)
{
    const bool asked = IsAsked(node);
    const auto found = m_loads.find(peer);
    if (found == m_loads.end()) return asked;
    Remove(peer, node, now);
    if (asked) CountBlock(found->second, now);
    return asked;
}

bool BlockDownloader::ShortenStallTimeout()
{
    if (m_stall_timeout == kStallTimeout) return false;
    const int64_t less = m_stall_timeout * 85 / 100 / kSecond * kSecond;
    m_stall_timeout = std::max(less, kStallTimeout);
    return true;
}

bool BlockDownloader::Demand(PeerId peer, const HeaderNode& node, int64_t now)
{
    if (IsAskedOf(peer, node)) return false;
    Request(peer, {&node}, now);
    return true;
}

void BlockDownloader::Refused(const HeaderNode& node)
{
    if (!IsAsked(node)) m_again[node.height] = &node;
}

void BlockDownloader::GiveUp(PeerId peer, const HeaderNode& node, int64_t now)
{
    Remove(peer, node, now);
    Refused(node);
}

void BlockDownloader::Stored(const HeaderNode& node, int64_t now)
{
    const auto peers = AskedOf(node);
    // Of a copy, as Remove() changes what AskedOf() shows.
    for (const PeerId peer : std::vector<PeerId>(peers.begin(), peers.end())) {
        Remove(peer, node, now);
    }
}

void BlockDownloader::Disconnected(PeerId peer)
{
    const auto found = m_loads.find(peer);
    if (found == m_loads.end()) return;
    for (const Asked& request : found->second.requests) {
        if (RemoveAsked(peer, *request.node)) m_again[request.node->height] = request.node;
    }
    m_loads.erase(found);
}

std::deque<BlockDownloader::Asked>::iterator BlockDownloader::FindRequest(Load& load,
                                                                          const HeaderNode& node)
{
    return std::find_if(load.requests.begin(), load.requests.end(),
                        [&](const Asked& request) { return request.node == &node; });
}

/** Whether nobody is asked for it now. */
bool BlockDownloader::RemoveAsked(PeerId peer, const HeaderNode& node)
{
    const auto asked = m_asked.find(&node);
    std::erase(asked->second, peer);
    if (!asked->second.empty()) return false;
    m_asked.erase(asked);
    return true;
}

void BlockDownloader::Remove(PeerId peer, const HeaderNode& node, int64_t now)
{
    if (!IsAskedOf(peer, node)) return;
    Load& load = m_loads[peer];
    const auto request = FindRequest(load, node);
    if (request == load.requests.begin()) load.first_since = now;
    load.last_received = now;
    load.stalling_since = 0;
    load.requests.erase(request);
    RemoveAsked(peer, node);
}

bool BlockDownloader::IsAskedOf(PeerId peer, const HeaderNode& node) const
{
    const auto peers = AskedOf(node);
    return std::find(peers.begin(), peers.end(), peer) != peers.end();
}

std::span<const PeerId> BlockDownloader::AskedOf(const HeaderNode& node) const
{
    const auto found = m_asked.find(&node);
    return found == m_asked.end() ? std::span<const PeerId>() : found->second;
}

std::unique_ptr<PartialBlock>& BlockDownloader::Partial(PeerId peer, const HeaderNode& node)
{
    CHECK(IsAskedOf(peer, node));
    return FindRequest(m_loads[peer], node)->partial;
}

size_t BlockDownloader::RequestsTo(PeerId peer) const
{
    const auto found = m_loads.find(peer);
    return found == m_loads.end() ? 0 : found->second.requests.size();
}

void BlockDownloader::CountBlock(Load& load, int64_t now)
{
    const int64_t second = now / kSecond;
    if (second != load.second) {
        // Seconds without a block between them count, too.
        const bool next = second == load.second + 1;
        load.rate = (load.rate + (next ? load.count : 0)) / 2;
        load.second = second;
        load.count = 0;
    }
    ++load.count;
    load.rate = std::max(load.rate, load.count); // a good start is believed at once
}

BlockDownloader::Verdict BlockDownloader::Judge(PeerId peer, int64_t now)
{
    const auto found = m_loads.find(peer);
    if (found == m_loads.end() || found->second.requests.empty()) return Verdict::kFine;
    const Load& load = found->second;
    if (load.stalling_since != 0 && now > load.stalling_since + m_stall_timeout) {
        // Perhaps it is our line that is slow: the next one gets more time.
        m_stall_timeout = std::min(2 * m_stall_timeout, kMaxStallTimeout);
        return Verdict::kStalling;
    }
    if (m_goal->WindowEnd() == DownloadGoal::kNoWindow && now > load.last_received + kSilence) {
        return Verdict::kStalling;
    }
    // An interval between blocks, and half of one more for each other peer that sends.
    int64_t others = -1;
    for (const auto& [id, other] : m_loads) others += !other.requests.empty();
    const int64_t patience = m_spacing * kSecond * (2 + others) / 2;
    return now > load.first_since + patience ? Verdict::kTimeout : Verdict::kFine;
}

std::vector<int32_t> BlockDownloader::InFlight(PeerId peer) const
{
    std::vector<int32_t> out;
    const auto found = m_loads.find(peer);
    if (found == m_loads.end()) return out;
    for (const Asked& request : found->second.requests) out.push_back(request.node->height);
    return out;
}

} // namespace ibd
