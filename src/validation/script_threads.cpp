// See script_threads.h.
#include "validation/script_threads.h"

#include "consensus/block_spend.h"

#include <atomic>

namespace ibd {

namespace {

/** Inputs handed to a thread at once. */
constexpr size_t kInputsPerTask = 16;

} // namespace

void ScriptThreads::Begin(ScriptFlags flags)
{
    m_flags = flags;
    m_txs.clear();
    m_ranges.clear();
}

void ScriptThreads::Add(const TxView& tx, std::span<const Coin> spent)
{
    Tx& entry = m_txs.emplace_back();
    entry.tx = &tx;
    entry.spent.reserve(spent.size());
    for (const Coin& coin : spent) entry.spent.push_back({coin.value, coin.script});
    for (size_t i = 0; i < spent.size(); i += kInputsPerTask) {
        m_ranges.push_back({&entry, i, std::min(spent.size(), i + kInputsPerTask)});
    }
}

RuleResult ScriptThreads::Check(const Range& range) const
{
    Tx& entry = *range.tx;
    std::call_once(entry.hashed, [&] {
        entry.hashes = std::make_unique<TxHashes>(*entry.tx, entry.spent);
    });
    return CheckInputScripts(*entry.tx, entry.spent, *entry.hashes, m_flags, range.begin, range.end);
}

RuleResult ScriptThreads::Finish()
{
    // Once a range failed, later ones are skipped; earlier ones run, so that the verdict is the
    // first in block order whatever the threads do.
    std::atomic<size_t> first_bad{m_ranges.size()};
    std::vector<RuleResult> verdicts(m_ranges.size());
    m_pool.ParallelFor(m_ranges.size(), [&](size_t i) {
        if (i > first_bad) return;
        verdicts[i] = Check(m_ranges[i]);
        if (!verdicts[i]) return;
        size_t seen = first_bad;
        while (i < seen && !first_bad.compare_exchange_weak(seen, i)) {
        }
    });
    const size_t bad = first_bad;
    RuleResult verdict = bad < verdicts.size() ? std::move(verdicts[bad]) : std::nullopt;
    m_ranges.clear();
    m_txs.clear();
    return verdict;
}

} // namespace ibd
