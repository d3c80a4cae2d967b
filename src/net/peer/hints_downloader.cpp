// See hints_downloader.h.
#include "net/peer/hints_downloader.h"

#include "crypto/sha256_batch.h"
#include "util/found.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace ibd {

bool HintsDownloader::Candidate::IsBetter(const Candidate& other) const
{
    const auto rank = [](const Candidate& c) {
        return std::tuple(c.fit, c.offer.height, c.pinned, c.votes, ~c.offer.size);
    };
    return rank(*this) > rank(other);
}

void HintsDownloader::Offered(PeerId peer, Bytes group, std::vector<HintsOffer> offers)
{
    m_sources.try_emplace(peer, Source{std::move(group), std::move(offers), {}});
}

void HintsDownloader::Disconnected(PeerId peer)
{
    const auto found = m_sources.find(peer);
    if (found == m_sources.end()) return;
    LeaveOut(found->second);
    m_sources.erase(found);
}

bool HintsDownloader::IsAsked(PeerId peer) const
{
    if (m_state != State::kHead && m_state != State::kGroups) return false; // late answers
    const auto found = m_sources.find(peer);
    return found != m_sources.end() && !found->second.asked.empty();
}

std::vector<PeerId> HintsDownloader::WhoOffered(const Uint256& id) const
{
    std::vector<PeerId> out;
    if (m_chosen.id != id) return out;
    for (const auto& [peer, source] : m_sources) {
        const auto& offers = source.offers;
        if (std::find(offers.begin(), offers.end(), m_chosen) != offers.end()) out.push_back(peer);
    }
    return out;
}

std::vector<HintsDownloader::Request> HintsDownloader::Work(int64_t now)
{
    std::vector<Request> out;
    if (m_state == State::kCollecting) Choose(now);
    if (m_state != State::kHead && m_state != State::kGroups) return out;
    DropSlow(now);
    const bool anybody = std::any_of(m_sources.begin(), m_sources.end(),
                                     [&](const auto& entry) { return MayAsk(entry.second); });
    if (anybody) m_last_source = now;
    if (now > m_last_source + kHintsIdleTime) {
        GiveUp("no peer with the hints is left", now);
    } else if (IsTooSlow(now)) {
        GiveUp("peers bring the hints too slowly", now);
    }
    if (m_state == State::kHead) {
        AskForHead(now, out);
    } else if (m_state == State::kGroups) {
        AskForGroups(now, out);
    }
    return out;
}

bool HintsDownloader::IsTooSlow(int64_t now) const
{
    const int64_t elapsed = now - m_chosen_at;
    if (m_spent + elapsed > kHintsWholeTime) return true;
    return elapsed > kHintsGraceTime &&
           m_received < (elapsed - kHintsGraceTime) / 1'000'000 * kLeastHintsRate;
}

/** Offers of peers that offered this file no longer count: otherwise two peers could offer eight
 *  files, which would all be tried before an honest one. */
void HintsDownloader::GiveUp(const std::string& why, int64_t now)
{
    m_spent += now - m_chosen_at;
    for (auto& [peer, source] : m_sources) {
        if (MayAsk(source)) LeaveOut(source);
    }
    Next(why, now);
}

void HintsDownloader::Next(const std::string& why, int64_t now)
{
    m_last_failure = why;
    m_tried.insert(m_chosen);
    for (auto& [peer, source] : m_sources) source.asked.clear();
    if (m_tried.size() >= kMaxHintsTries || m_spent > kHintsWholeTime) return Fail(why);
    m_pieces.clear();
    m_piece_states.clear();
    m_state = State::kCollecting;
    Choose(now);
}

/** All files that enough peers offer, or that are pinned. */
std::vector<HintsDownloader::Candidate> HintsDownloader::Candidates() const
{
    std::map<HintsOffer, std::set<Bytes>> voters;
    for (const auto& [peer, source] : m_sources) {
        if (source.left_out) continue;
        for (const HintsOffer& offer : source.offers) voters[offer].insert(source.group);
    }
    std::vector<Candidate> out;
    for (const auto& [offer, groups] : voters) {
        Candidate candidate{offer, m_goal.Judge(offer), m_goal.IsPinned(offer), groups.size()};
        const bool named = candidate.pinned || candidate.votes >= kHintsVotes;
        const bool open = offer.size <= kMaxHintsSize && !m_tried.contains(offer);
        if (named && open && candidate.fit != HintsGoal::Fit::kUseless) out.push_back(candidate);
    }
    return out;
}

void HintsDownloader::Choose(int64_t now)
{
    if (!m_goal.HasHeaders()) return;
    if (!m_deadline) m_deadline = now + m_offer_time;
    const std::vector<Candidate> candidates = Candidates();
    const Candidate* best = nullptr;
    for (const Candidate& candidate : candidates) {
        if (!best || candidate.IsBetter(*best)) best = &candidate;
    }
    // If files differ, waits for more offers. Among equal ones the shortest is tried first.
    const bool disputed =
        best && !best->pinned &&
        std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& other) {
            return &other != best && other.offer.terminal == best->offer.terminal;
        });
    const bool sure = best && best->fit == HintsGoal::Fit::kBest && !disputed;
    if (!sure && now < *m_deadline) return;
    if (!best) {
        return Fail(m_tried.empty() ? "too few peers offer hints that could be used"
                                    : m_last_failure);
    }
    m_chosen = best->offer;
    m_last_source = m_chosen_at = now;
    m_received = 0;
    m_state = State::kHead;
}

bool HintsDownloader::MayAsk(const Source& source) const
{
    return !source.left_out &&
           std::find(source.offers.begin(), source.offers.end(), m_chosen) != source.offers.end();
}

void HintsDownloader::Ask(PeerId peer, Source& source, const HintsPart& part, int64_t now,
                          std::vector<Request>& out)
{
    source.asked.push_back({part, now, now});
    SetState(part, kAsked);
    out.push_back({peer, GetHintsMessage{part}});
}

void HintsDownloader::AskForHead(int64_t now, std::vector<Request>& out)
{
    for (const auto& [peer, source] : m_sources) {
        if (!source.asked.empty() && now < source.asked.front().sent + kHintsAgainTime) return;
    }
    for (auto& [peer, source] : m_sources) {
        if (MayAsk(source) && source.asked.empty())
            return Ask(peer, source, {m_chosen.id, 0, 0}, now, out);
    }
}

void HintsDownloader::AskForGroups(int64_t now, std::vector<Request>& out)
{
    // One request to each peer in turn, so that all have work until the end.
    for (size_t round = 1; round <= kHintsInFlight; ++round) {
        for (auto& [peer, source] : m_sources) {
            if (!MayAsk(source) || source.asked.size() >= round) continue;
            auto part = NextGroups();
            if (!part) part = OverdueGroups(source, now);
            if (!part) continue;
            Ask(peer, source, *part, now, out);
        }
    }
}

/** Adjacent missing groups: one, or as many as kHintsRequestBytes hold. */
std::optional<HintsPart> HintsDownloader::NextGroups()
{
    size_t first = m_first_missing;
    while (first < m_pieces.size() && m_piece_states[first] != kMissing) ++first;
    m_first_missing = first;
    if (first == m_pieces.size()) return std::nullopt;
    size_t count = 1;
    uint64_t bytes = m_pieces[first].size;
    while (first + count < m_pieces.size() && m_piece_states[first + count] == kMissing) {
        bytes += m_pieces[first + count].size;
        if (bytes > kHintsRequestBytes) break;
        ++count;
    }
    return HintsPart{m_chosen.id, static_cast<uint32_t>(first), static_cast<uint32_t>(count)};
}

/** The groups requested from another peer for the longest time, if overdue. */
std::optional<HintsPart> HintsDownloader::OverdueGroups(const Source& idle, int64_t now) const
{
    const Asked* oldest = nullptr;
    for (const auto& [peer, source] : m_sources) {
        for (const Asked& asked : source.asked) {
            const bool own =
                std::any_of(idle.asked.begin(), idle.asked.end(),
                            [&](const Asked& candidate) { return candidate.part == asked.part; });
            const bool overdue = now >= asked.sent + kHintsAgainTime;
            if (own || !overdue || (oldest && oldest->sent <= asked.sent)) continue;
            const auto first = m_piece_states.begin() + asked.part.first;
            if (std::count(first, first + asked.part.count, kHave) == asked.part.count) continue;
            oldest = &asked;
        }
    }
    return oldest ? std::optional(oldest->part) : std::nullopt;
}

void HintsDownloader::SetState(const HintsPart& part, uint8_t state)
{
    for (size_t i = part.first; i < size_t{part.first} + part.count; ++i) {
        m_piece_states[i] = state;
    }
    if (state == kMissing) m_first_missing = std::min<size_t>(m_first_missing, part.first);
}

/** Marks requested groups as missing, unless another peer is still asked for them. */
void HintsDownloader::Release(const HintsPart& part)
{
    for (uint32_t i = part.first; i - part.first < part.count; ++i) {
        const bool asked = std::any_of(m_sources.begin(), m_sources.end(), [&](const auto& entry) {
            const auto& all = entry.second.asked;
            return std::any_of(all.begin(), all.end(), [&](const Asked& other) {
                return i >= other.part.first && i - other.part.first < other.part.count;
            });
        });
        if (m_piece_states[i] == kAsked && !asked) SetState({part.id, i, 1}, kMissing);
    }
}

/** Its requests go to other peers. */
void HintsDownloader::LeaveOut(Source& source)
{
    source.left_out = true;
    for (const Asked& asked : std::exchange(source.asked, {})) Release(asked.part);
}

void HintsDownloader::DropSlow(int64_t now)
{
    for (auto& [peer, source] : m_sources) {
        const bool slow =
            std::any_of(source.asked.begin(), source.asked.end(),
                        [&](const Asked& asked) { return now > asked.since + kHintsRequestTime; });
        if (slow) LeaveOut(source);
    }
}

std::optional<std::string> HintsDownloader::Received(PeerId peer, const HintsDataMessage& message,
                                                     int64_t now)
{
    const auto found = m_sources.find(peer);
    if (found == m_sources.end()) return std::nullopt;
    Source& source = found->second;
    const auto asked =
        std::find_if(source.asked.begin(), source.asked.end(),
                     [&](const Asked& candidate) { return candidate.part == message.part; });
    if (asked == source.asked.end()) return std::nullopt; // too late
    source.asked.erase(asked);
    if (m_state != (message.part.IsHead() ? State::kHead : State::kGroups)) return std::nullopt;
    Release(message.part);
    for (Asked& other : source.asked) other.since = now; // they wait for one another
    if (message.data.empty()) {
        LeaveOut(source);
        return std::nullopt;
    }
    auto wrong = message.part.IsHead() ? TakeHead(message) : TakeGroups(message);
    if (wrong) LeaveOut(source);
    return wrong;
}

std::optional<std::string> HintsDownloader::TakeHead(const HintsDataMessage& message)
{
    if (message.data.size() > kMaxHintsHead) return "head of hints too long";
    auto pieces = m_goal.TakeHead(m_chosen, Bytes(message.data.begin(), message.data.end()));
    if (IsBadData(pieces)) {
        return "wrong head of hints: " + pieces.Message();
    }
    if (!pieces) {
        Fail(pieces.Message());
        return std::nullopt;
    }
    m_received += static_cast<int64_t>(message.data.size());
    m_pieces = std::move(*pieces);
    m_state = State::kGroups;
    m_first_missing = 0;
    m_piece_states.clear();
    for (const HintsPiece& piece : m_pieces)
        m_piece_states.push_back(piece.have ? kHave : kMissing);
    m_left = static_cast<size_t>(
        std::count(m_piece_states.begin(), m_piece_states.end(), uint8_t{kMissing}));
    if (m_left == 0) {
        m_state = State::kEnded;
        m_goal.Complete(m_chosen);
    }
    return std::nullopt;
}

std::optional<std::string> HintsDownloader::TakeGroups(const HintsDataMessage& message)
{
    const HintsPart& part = message.part;
    const std::span pieces = std::span(m_pieces).subspan(part.first, part.count);
    std::vector<HashMessage> groups;
    ByteSpan rest = message.data;
    for (const HintsPiece& piece : pieces) {
        if (rest.size() < piece.size) return "groups of hints are cut off";
        groups.push_back({{}, rest.first(piece.size), {}});
        rest = rest.subspan(piece.size);
    }
    if (!rest.empty()) return "groups of hints are too long";
    std::vector<Hash32> digests(groups.size());
    Sha256Many(groups, digests.data());
    for (size_t i = 0; i < pieces.size(); ++i) {
        const auto& checksum = pieces[i].checksum;
        if (std::equal(checksum.begin(), checksum.end(), digests[i].begin())) continue;
        return "wrong checksum of a group of hints";
    }
    if (const Result<> kept = KeepNew(part, message.data); !kept) {
        Fail(kept.Message());
        return std::nullopt;
    }
    if (m_left == 0) {
        m_state = State::kEnded;
        m_goal.Complete(m_chosen);
    }
    return std::nullopt;
}

/** Groups requested from several peers may be complete already. */
Result<> HintsDownloader::KeepNew(const HintsPart& part, ByteSpan data)
{
    for (uint32_t i = part.first; i - part.first < part.count;) {
        uint32_t end = i;
        size_t bytes = 0;
        const bool have = m_piece_states[i] == kHave;
        while (end - part.first < part.count && (m_piece_states[end] == kHave) == have) {
            bytes += m_pieces[end++].size;
        }
        if (!have) {
            IBD_RETURN_IF_ERROR(m_goal.TakeGroups(i, data.first(bytes)));
            SetState({part.id, i, end - i}, kHave);
            m_left -= end - i;
            m_received += static_cast<int64_t>(bytes);
        }
        data = data.subspan(bytes);
        i = end;
    }
    return {};
}

void HintsDownloader::Fail(const std::string& why)
{
    m_state = State::kEnded;
    m_goal.Failed(why);
}

} // namespace ibd
