// See block_downloader.h.
#include "net/peer/block_downloader.h"

namespace ibd {

namespace {

constexpr int64_t kSecond = 1'000'000; //!< microseconds

bool IsIn(const std::vector<const HeaderNode*>& nodes, const HeaderNode& node)
{
    return std::find(nodes.begin(), nodes.end(), &node) != nodes.end();
}

/** Whether a peer that sent `bytes` in `time` microseconds is slow rather than silent. */
bool Sends(uint64_t bytes, int64_t time)
{
    return static_cast<int64_t>(bytes) > BlockDownloader::kSlowest * time / kSecond;
}

bool HasSpoilt(const BlockDownloader::Source& source, const HeaderNode& node)
{
    return source.spoilt && source.spoilt->Contains(node);
}

} // namespace

void BlockDownloader::SetGoal(DownloadGoal& goal, int64_t now)
{
    m_goal = &goal;
    m_postponed.clear();
    GoalChanged();
    // Otherwise an obsolete request would be taken for the one that blocks the window.
    std::vector<const HeaderNode*> stored;
    for (const auto& [node, owed] : m_requests.Blocks()) {
        if (goal.Have(*node)) stored.push_back(node);
    }
    for (const HeaderNode* node : stored) Stored(*node, now);
}

void BlockDownloader::GoalChanged()
{
    m_cursor = -1; // pending requests are skipped
    m_requests.GivenBack().clear();
    for (auto& [peer, load] : m_requests.Loads()) load.branch_after = 0;
}

std::vector<const HeaderNode*> BlockDownloader::Ask(const Source& source, const HeaderNode& tip,
                                                    int64_t now)
{
    std::vector<const HeaderNode*> out;
    if (!source.best_known) return out;
    GiveUpLost(source, now);
    Load& load = m_requests.LoadOf(source.peer);
    const size_t most = FreeSlots(source, load, now);
    if (most == 0) return out;
    if (source.bunched && most < MostOf(source, load, now) / 4) return out;
    AskAgain(source, most, false, out);
    AskLost(source, most, now, out);
    AskPreferred(source, most, out);
    const bool window_full = AskNext(source, most, now, out);
    const bool idle = m_requests.OnlyHelps(source.peer);
    if (out.empty() && (idle || source.elsewhere) && now >= load.branch_after) {
        load.branch_after = now + kBranchInterval;
        AskBranch(source, tip, most, out);
    }
    if (out.empty() && idle && window_full) NoteStaller(source.peer, now);
    if (!m_postponed.empty() && out.empty() && load.requests.empty()) {
        AskAgain(source, 1, true, out);
    }
    AskToHelp(source, most, now, out);
    m_requests.Add(source.peer, out, now);
    return out;
}

// A branch that forks far below our tip has too many blocks for this function: Ask() handles it.
std::vector<const HeaderNode*> BlockDownloader::AskTowards(const Source& source,
                                                           const HeaderNode& tip, int64_t now)
{
    std::vector<const HeaderNode*> out;
    if (m_goal->WindowEnd() == DownloadGoal::kNoWindow) return out;
    const HeaderNode* node = source.best_known;
    for (; tip.Ancestor(node->height) != node; node = node->prev) {
        if (out.size() > kMinInFlight) return {};
        const bool wanted = !m_goal->Have(*node) && !m_requests.IsAsked(*node);
        if (wanted && !HasSpoilt(source, *node)) out.push_back(node);
    }
    std::reverse(out.begin(), out.end());
    out.resize(std::min(out.size(), FreeSlots(source, m_requests.LoadOf(source.peer), now)));
    m_requests.Add(source.peer, out, now);
    return out;
}

/** With a window, the peers near the tip share its few blocks, and a peer that delays the others is
 *  disconnected. */
bool BlockDownloader::IsHurried(const Source& source) const
{
    return source.hurried || m_goal->WindowEnd() == DownloadGoal::kNoWindow;
}

/** As many blocks as the peer delivers in kAhead, so that a peer with high latency always has work.
 */
size_t BlockDownloader::MostOf(const Source& source, const Load& load, int64_t now) const
{
    if (!IsHurried(source) || !load.rate.Known()) return std::min(kMinInFlight, source.most);
    const double ahead = load.rate.PerSecond(now) * (double(kAhead) / double(kSecond));
    const double most = std::clamp(ahead, double{kMinInFlight}, double{kMaxInFlight});
    return std::min({static_cast<size_t>(most), ShareOf(load, now), source.most});
}

/** Peers share a window by their rates, so that a slow one holds none of it up. */
size_t BlockDownloader::ShareOf(const Load& load, int64_t now) const
{
    if (m_goal->WindowEnd() == DownloadGoal::kNoWindow) return kMaxInFlight;
    double rates = 0;
    for (const auto& [peer, other] : m_requests.Loads()) {
        if (other.rate.Known()) rates += other.rate.PerSecond(now);
    }
    const double share = kWindowInFlight * load.rate.PerSecond(now) / rates;
    return std::max(kLeastShare, static_cast<size_t>(share));
}

size_t BlockDownloader::FreeSlots(const Source& source, const Load& load, int64_t now) const
{
    const size_t most = MostOf(source, load, now);
    return load.requests.size() < most ? most - load.requests.size() : 0;
}

bool BlockDownloader::CanServe(const Source& source, const HeaderNode& node) const
{
    const HeaderNode& best = *source.best_known;
    if (best.Ancestor(node.height) != &node || HasSpoilt(source, node)) return false;
    return !source.limited || best.height - node.height < kLimitedDepth;
}

/** Requests blocks that other peers did not deliver. */
void BlockDownloader::AskAgain(const Source& source, size_t most, bool postponed_too,
                               std::vector<const HeaderNode*>& out)
{
    auto& again = m_requests.GivenBack();
    for (auto it = again.begin(); it != again.end() && out.size() < most;) {
        const HeaderNode& node = *it->first.second;
        if (m_goal->Have(node)) {
            it = again.erase(it);
            continue;
        }
        const bool due = postponed_too || !m_postponed.contains(&node);
        if (due && CanServe(source, node)) out.push_back(&node);
        ++it;
    }
}

bool BlockDownloader::MayHave(const Source& source, const HeaderNode& node, int64_t now) const
{
    const HeaderNode& best = *source.best_known;
    const auto lacked = m_lack.find({source.peer, &node});
    if (lacked != m_lack.end() && now < lacked->second) return false;
    if (HasSpoilt(source, node)) return false;
    if (best.chain_work < node.chain_work) return false;
    return !source.limited || best.height - node.height < kLimitedDepth;
}

/** Requests blocks that turned out damaged. The cursor does not wait for them, because many peers
 *  have only the last blocks. They are also requested from peers on another branch: before a
 *  reorganisation peers have left our branch, but most still have its blocks. */
void BlockDownloader::AskLost(const Source& source, size_t most, int64_t now,
                              std::vector<const HeaderNode*>& out) const
{
    const HeaderNode* node = m_goal->NextLost(-1);
    for (; node && out.size() < most; node = m_goal->NextLost(node->height)) {
        if (m_requests.IsAsked(*node) || IsIn(out, *node)) continue;
        if (MayHave(source, *node, now)) out.push_back(node);
    }
}

/** A peer on another branch may lack a lost block, and cannot say so: the next peer is asked, and
 *  this one is not disconnected. */
void BlockDownloader::GiveUpLost(const Source& source, int64_t now)
{
    std::vector<const HeaderNode*> late;
    for (const BlockRequests::Request& request : m_requests.LoadOf(source.peer).requests) {
        const HeaderNode& node = *request.node;
        if (source.best_known->Ancestor(node.height) == &node) continue;
        if (m_goal->NextLost(node.height - 1) != &node) continue;
        if (now > m_requests.Blocks().at(&node).since + kLostPatience) late.push_back(&node);
    }
    for (const HeaderNode* node : late) {
        m_lack[{source.peer, node}] = now + kLostRetry;
        GiveUp(source.peer, *node, now);
    }
}

/** Requests blocks of the preferred heights. */
void BlockDownloader::AskPreferred(const Source& source, size_t most,
                                   std::vector<const HeaderNode*>& out) const
{
    const int32_t first = m_goal->PreferredFrom();
    if (first == DownloadGoal::kNoneFirst) return;
    const HeaderNode* node = m_goal->NextMissing(first - 1);
    for (; node && out.size() < most; node = m_goal->NextMissing(node->height)) {
        if (m_requests.IsAsked(*node) || IsIn(out, *node)) continue;
        if (CanServe(source, *node)) out.push_back(node);
    }
}

/** Requests blocks that were not requested yet. Returns whether the window ended before one was
 *  found. */
bool BlockDownloader::AskNext(const Source& source, size_t most, int64_t now,
                              std::vector<const HeaderNode*>& out)
{
    const int32_t end = m_goal->WindowEnd();
    while (out.size() < most) {
        const HeaderNode* const node = m_goal->NextMissing(m_cursor);
        if (!node) return false;
        if (!m_requests.IsAsked(*node) && !IsIn(out, *node)) {
            // The cursor is shared by all peers: a skipped block would never be requested.
            const bool later = HasSpoilt(source, *node) || m_postponed.contains(node);
            if (!later && !CanServe(source, *node)) return false;
            if (node->height > end) return true;
            if (later) {
                m_requests.GiveBack(*node, now);
            } else {
                out.push_back(node);
            }
        }
        m_cursor = node->height;
    }
    return false;
}

/** Requests blocks of a peer's own chain if it differs from the goal's and is as good as ours:
 *  peers may have only the headers of the goal's chain, and not the blocks. */
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
        if (m_goal->Have(node) || m_requests.IsAsked(node) || !CanServe(source, node)) continue;
        out.push_back(&node);
    }
}

/** The window is blocked for `waiting`: finds the peer from which its lowest block was requested
 *  first. */
void BlockDownloader::NoteStaller(PeerId waiting, int64_t now)
{
    const HeaderNode* lowest = nullptr;
    for (const auto& [node, owed] : m_requests.Blocks()) {
        if (owed.peers.front() == waiting || (lowest && node->height >= lowest->height)) continue;
        lowest = node;
    }
    if (!lowest) return;
    const PeerId its_id = m_requests.AskedOf(*lowest).front();
    Load& staller = *m_requests.FindLoad(its_id);
    if (staller.stalling_since != 0) return;
    staller.stalling_since = now;
    m_new_staller = its_id;
}

bool BlockDownloader::Received(PeerId peer, const HeaderNode& node, int64_t now)
{
    const bool asked = m_requests.IsAsked(node);
    Load* const load = m_requests.FindLoad(peer);
    if (!load) return asked;
    // Ask again before the peer becomes idle.
    if (m_requests.IsAskedOf(peer, node)) load->rate.Received(now);
    m_requests.Remove(peer, node, now);
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
    if (m_requests.IsAskedOf(peer, node)) return false;
    m_requests.Add(peer, {&node}, now);
    return true;
}

void BlockDownloader::Refused(const HeaderNode& node, int64_t now)
{
    m_requests.GiveBack(node, now);
}

void BlockDownloader::GiveUp(PeerId peer, const HeaderNode& node, int64_t now)
{
    m_requests.Remove(peer, node, now);
    m_requests.GiveBack(node, now);
}

void BlockDownloader::Excuse(PeerId peer, int64_t now)
{
    if (Load* const load = m_requests.FindLoad(peer)) load->first_since = load->last_received = now;
}

void BlockDownloader::Stored(const HeaderNode& node, int64_t now)
{
    m_requests.RemoveAll(node, now);
}

void BlockDownloader::Disconnected(PeerId peer)
{
    std::erase_if(m_lack, [peer](const auto& entry) { return entry.first.first == peer; });
    m_requests.RemovePeer(peer);
}

/** How long the peer may delay the others. */
int64_t BlockDownloader::PatienceWith(const Load& load, int64_t now, uint64_t received) const
{
    const bool sends = Sends(received - load.stalling_from, now - load.stalling_since);
    return sends ? std::max(kSilence, m_stall_timeout) : m_stall_timeout;
}

/** Whether it delivered no block for kSilence, and hardly a part of one: a large block takes longer
 *  on a slow line. */
bool BlockDownloader::IsSilent(Load& load, int64_t now, uint64_t received)
{
    if (load.silent_since < load.last_received) {
        load.silent_since = load.last_received;
        load.silent_from = received;
    }
    const int64_t time = now - load.silent_since;
    if (time <= kSilence) return false;
    if (!Sends(received - load.silent_from, time)) return true;
    load.silent_since = now;
    load.silent_from = received;
    return false;
}

BlockDownloader::Verdict BlockDownloader::Judge(PeerId peer, int64_t now, uint64_t received)
{
    Load* const found = m_requests.FindLoad(peer);
    if (!found) return Verdict::kFine;
    const bool owes = !found->requests.empty();
    if (!owes || found->stalling_since == 0) found->stalling_from = received;
    if (!owes) return Verdict::kFine;
    const Load& load = *found;
    if (load.stalling_since != 0 && now > load.stalling_since + PatienceWith(load, now, received)) {
        // Our own line may be slow: the next peer gets more time.
        m_stall_timeout = std::min(2 * m_stall_timeout, kMaxStallTimeout);
        return Verdict::kStalling;
    }
    const bool silent = IsSilent(*found, now, received);
    if (silent && m_goal->WindowEnd() == DownloadGoal::kNoWindow) return Verdict::kStalling;
    // One block interval, and half of one more for each other peer that delivers.
    int64_t others = -1;
    for (const auto& [id, other] : m_requests.Loads()) others += !other.requests.empty();
    const int64_t patience = m_spacing * kSecond * (2 + others) / 2;
    return now > load.first_since + patience ? Verdict::kTimeout : Verdict::kFine;
}

} // namespace ibd
