// See script_threads.h.
#include "validation/script_threads.h"

#include "consensus/block_spend.h"

namespace ibd {

namespace {

constexpr size_t kInputsPerRange = 16;
/** Ranges given to a thread at once, as many blocks have mostly transactions with one input. */
constexpr size_t kRangesPerTask = 8;
constexpr size_t kNoneBad = SIZE_MAX;

} // namespace

void ScriptThreads::Begin(ScriptFlags flags)
{
    m_flags = flags;
    m_txs.clear();
    m_ranges.clear();
    m_waiting.clear();
    m_first_bad = kNoneBad;
}

/** Sets `key` if the result is to be cached. */
bool ScriptThreads::Known(const TxView& tx, std::optional<Hash32>& key) const
{
    if (!m_caches) return false;
    DigestCache& entries = m_caches->scripts.Entries();
    if (entries.Empty() && !m_remember) return false;
    const Hash32 digest = m_caches->scripts.Key(tx.WitnessHash(), m_flags);
    if (m_remember) key = digest;
    return entries.Contains(digest, !m_remember);
}

void ScriptThreads::Add(const TxView& tx, std::span<const Coin> spent)
{
    std::optional<Hash32> key;
    if (Known(tx, key)) return;
    Tx& entry = m_txs.emplace_back(tx);
    entry.key = key;
    entry.left = (spent.size() + kInputsPerRange - 1) / kInputsPerRange;
    entry.spent.reserve(spent.size());
    for (const Coin& coin : spent) entry.spent.push_back({coin.value, coin.script});
    entry.hashes.emplace(tx, entry.spent);
    for (size_t i = 0; i < spent.size(); i += kInputsPerRange) {
        AddRange(entry, i, std::min(spent.size(), i + kInputsPerRange));
    }
}

void ScriptThreads::AddRange(Tx& tx, size_t begin, size_t end)
{
    m_waiting.push_back(&m_ranges.emplace_back(&tx, begin, end, m_ranges.size()));
    if (m_waiting.size() >= kRangesPerTask && m_pool.ThreadCount() > 0) SubmitWaiting();
}

void ScriptThreads::SubmitWaiting()
{
    m_pool.Submit([this, ranges = std::move(m_waiting)] {
        for (Range* range : ranges) Run(*range);
    });
    m_waiting.clear();
}

/** After a range has failed, later ones are skipped and earlier ones run, so that the verdict is
 *  always the first failure in block order. */
void ScriptThreads::Run(Range& range)
{
    if (range.number > m_first_bad || range.taken.exchange(true)) return;
    range.verdict = Check(range);
    if (!range.verdict) return;
    size_t seen = m_first_bad;
    while (range.number < seen && !m_first_bad.compare_exchange_weak(seen, range.number)) {
    }
}

RuleResult ScriptThreads::Check(const Range& range) const
{
    Tx& entry = *range.tx;
    SignatureCacheUse cache;
    if (m_caches) cache = {&m_caches->signatures, m_remember};
    RuleResult verdict = CheckInputScripts(*entry.tx, entry.spent, *entry.hashes, m_flags,
                                           range.begin, range.end, cache);
    if (!verdict && --entry.left == 0 && entry.key) {
        m_caches->scripts.Entries().Insert(*entry.key);
    }
    return verdict;
}

RuleResult ScriptThreads::Finish()
{
    if (m_pool.ThreadCount() > 0 && !m_waiting.empty()) SubmitWaiting();
    // The caller takes ranges from the end that the pool has not started; without a pool, in order.
    if (m_pool.ThreadCount() > 0) {
        for (auto range = m_ranges.rbegin(); range != m_ranges.rend(); ++range) Run(*range);
        m_pool.Wait();
    } else {
        for (Range& range : m_ranges) Run(range);
    }
    const size_t bad = m_first_bad;
    RuleResult verdict = bad == kNoneBad ? std::nullopt : std::move(m_ranges[bad].verdict);
    Begin(m_flags); // releases the block
    return verdict;
}

} // namespace ibd
