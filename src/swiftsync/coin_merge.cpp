// See coin_merge.h.
#include "swiftsync/coin_merge.h"

#include <algorithm>

namespace ibd {

namespace {

/** Distance of read-ahead requests to the kernel. */
constexpr uint64_t kReadAhead = 256 << 10;

} // namespace

CoinMerger::Cursor::Cursor(const RunReader& run, uint64_t first, uint64_t last)
    : m_run(&run), m_first(first), m_last(last)
{
    // The record may be in the last page that starts below it.
    const auto pages = run.Pages();
    const auto at = std::lower_bound(
        pages.begin(), pages.end(), first,
        [](const RunReader::Page& f, uint64_t prefix) { return f.first_prefix < prefix; });
    m_page = static_cast<size_t>(at - pages.begin());
    if (m_page > 0) --m_page;
}

Result<> CoinMerger::Cursor::LoadPage()
{
    const auto pages = m_run->Pages();
    if (m_page >= pages.size() || pages[m_page].first_prefix > m_last) {
        m_at = nullptr;
        return {};
    }
    // Requests twice the distance, and again halfway: the cursors of all runs take turns, so a hard
    // disk needs long reads, requested in time.
    if (m_page % (kReadAhead / kRunPageBytes) == 0) m_run->WillNeed(m_page, 2 * kReadAhead);
    IBD_ASSIGN_OR_RETURN(m_rest, m_run->ReadPage(m_page++, m_buffer));
    Settle();
    return {};
}

void CoinMerger::Cursor::Settle()
{
    m_at = m_rest.data();
    m_prefix = CoinRecord(m_at).Prefix();
    if (m_prefix > m_last) m_at = nullptr;
}

Result<> CoinMerger::Cursor::Start()
{
    IBD_RETURN_IF_ERROR(LoadPage());
    while (Valid() && m_prefix < m_first) IBD_RETURN_IF_ERROR(Advance());
    return {};
}

Result<> CoinMerger::Cursor::Advance()
{
    m_rest = m_rest.subspan(CoinRecord(m_at).Size());
    if (m_rest.empty()) return LoadPage();
    Settle();
    return {};
}

// A loser tree takes one comparison for each record and level; a heap takes two.
CoinMerger::CoinMerger(std::span<const RunReader> runs, uint64_t first, uint64_t last)
{
    m_cursors.reserve(runs.size());
    for (const RunReader& run : runs) m_cursors.emplace_back(run, first, last);
}

bool CoinMerger::Less(uint32_t a, uint32_t b) const
{
    const Cursor& x = m_cursors[a];
    const Cursor& y = m_cursors[b];
    if (!x.Valid() || !y.Valid()) return x.Valid();
    if (x.Prefix() != y.Prefix()) return x.Prefix() < y.Prefix();
    return Compare(x.Record(), y.Record()) < 0;
}

Result<> CoinMerger::Start()
{
    m_started = true;
    const auto k = static_cast<uint32_t>(m_cursors.size());
    for (Cursor& cursor : m_cursors) IBD_RETURN_IF_ERROR(cursor.Start());
    // Leaves are k..2k-1; plays every match from the bottom up.
    std::vector<uint32_t> winners(2 * size_t{k});
    m_losers.resize(k);
    for (uint32_t i = 0; i < k; ++i) winners[k + i] = i;
    for (uint32_t node = k - 1; node >= 1 && k > 1; --node) {
        const uint32_t a = winners[2 * node];
        const uint32_t b = winners[2 * node + 1];
        winners[node] = Less(b, a) ? b : a;
        m_losers[node] = winners[node] == a ? b : a;
    }
    m_winner = k > 1 ? winners[1] : 0;
    return {};
}

void CoinMerger::Replay(uint32_t cursor)
{
    const auto k = static_cast<uint32_t>(m_cursors.size());
    for (uint32_t node = (k + cursor) / 2; node >= 1; node /= 2) {
        if (Less(m_losers[node], cursor)) std::swap(m_losers[node], cursor);
    }
    m_winner = cursor;
}

Result<bool> CoinMerger::Next()
{
    if (m_cursors.empty()) return false;
    if (!m_started) {
        IBD_RETURN_IF_ERROR(Start());
    } else {
        IBD_RETURN_IF_ERROR(m_cursors[m_winner].Advance());
        if (m_cursors.size() > 1) Replay(m_winner);
    }
    return m_cursors[m_winner].Valid();
}

} // namespace ibd
