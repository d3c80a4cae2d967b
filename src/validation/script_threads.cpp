// See script_threads.h.
#include "validation/script_threads.h"

#include "consensus/block_spend.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr size_t kInputsPerRange = 16;
/** Ranges given to a thread at once, as many blocks have mostly transactions with one input. */
constexpr size_t kRangesPerTask = 8;
/** The same if their signatures are verified together: the more, the cheaper. */
constexpr size_t kRangesPerBatch = 64;
constexpr size_t kNoneBad = SIZE_MAX;
/** Prefetch distance for buckets of the script cache, in transactions. */
constexpr size_t kKeysAhead = 8;

} // namespace

void ScriptThreads::Begin(ScriptFlags flags)
{
    Release();
    m_flags = flags;
    m_batch = m_lanes != LanesMode::kOff && m_batch_allowed && !m_remember;
    const Lock lock(m_mutex);
    m_budgets.assign(m_pool.ThreadCount() + 1, {});
}

void ScriptThreads::Release()
{
    m_txs.clear();
    m_ranges.clear();
    m_waiting.clear();
    m_first_bad = kNoneBad;
    m_expected = {};
    m_keys.clear();
}

void ScriptThreads::Expect(std::span<const TxView> txs)
{
    if (UsesCache()) m_expected = txs;
}

bool ScriptThreads::UsesCache() const
{
    return m_caches && (m_remember || !m_caches->scripts.Entries().Empty());
}

/** The key in the script cache. Also computes the keys of the next transactions and prefetches
 *  their buckets, because the script cache is larger than the processor's cache. */
Hash32 ScriptThreads::KeyOf(const TxView& tx)
{
    const auto make = [this](const TxView& of) {
        return m_caches->scripts.Key(of.WitnessHash(), m_flags);
    };
    if (m_expected.empty() || &m_expected.front() != &tx) return make(tx);
    while (m_keys.size() < std::min(kKeysAhead, m_expected.size())) {
        m_keys.push_back(make(m_expected[m_keys.size()]));
        m_caches->scripts.Entries().Prefetch(m_keys.back());
    }
    const Hash32 key = m_keys.front();
    m_keys.pop_front();
    m_expected = m_expected.subspan(1);
    return key;
}

/** Sets `key` if the result is to be cached. */
bool ScriptThreads::Known(const TxView& tx, std::optional<Hash32>& key)
{
    if (!UsesCache()) return false;
    const Hash32 digest = KeyOf(tx);
    if (m_remember) key = digest;
    return m_caches->scripts.Entries().Contains(digest, !m_remember);
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
    const size_t enough = m_batch ? kRangesPerBatch : kRangesPerTask;
    if (m_waiting.size() >= enough && m_pool.ThreadCount() > 0) SubmitWaiting();
}

void ScriptThreads::SubmitWaiting()
{
    m_pool.Submit([this, ranges = std::move(m_waiting)] { RunAll(ranges); });
    m_waiting.clear();
}

void ScriptThreads::RunAll(std::span<Range* const> ranges)
{
    if (!m_batch) return RunPlainly(ranges);
    DeferBudget budget = TakeBudget();
    if (budget.Left()) {
        RunTogether(ranges, budget);
    } else {
        RunPlainly(ranges);
    }
    const Lock lock(m_mutex);
    m_budgets.push_back(budget);
}

/** One that no other thread uses, with the most room. */
DeferBudget ScriptThreads::TakeBudget()
{
    const Lock lock(m_mutex);
    CHECK(!m_budgets.empty());
    const auto best = std::ranges::max_element(m_budgets, {}, &DeferBudget::Room);
    const DeferBudget budget = *best;
    m_budgets.erase(best);
    return budget;
}

void ScriptThreads::RunPlainly(std::span<Range* const> ranges)
{
    for (Range* range : ranges) Run(*range);
}

/** Ranges in block order, with their signatures in one batch. The violation of the first input that
 *  breaks a rule is that of its range. */
void ScriptThreads::RunTogether(std::span<Range* const> ranges, DeferBudget& budget)
{
    DeferredInputs inputs(m_lanes, budget);
    inputs.Begin(m_flags);
    RuleResult verdict;
    for (size_t at = 0; at < ranges.size() && !verdict; ++at) {
        const Range& range = *ranges[at];
        if (!Take(*ranges[at])) continue;
        const Tx& tx = *range.tx;
        for (size_t i = range.begin; i < range.end && !verdict; ++i) {
            verdict = inputs.Run({tx.tx, tx.spent, &*tx.hashes, i, at});
        }
    }
    if (!verdict) verdict = inputs.Prove();
    if (verdict) NoteVerdict(*ranges[inputs.BrokenTag()], std::move(verdict));
}

/** After a range has failed, later ones are skipped and earlier ones run, so that the verdict is
 *  always the first failure in block order. */
bool ScriptThreads::Take(Range& range)
{
    return range.number <= m_first_bad && !range.taken.exchange(true);
}

void ScriptThreads::Run(Range& range)
{
    if (Take(range)) NoteVerdict(range, Check(range));
}

void ScriptThreads::NoteVerdict(Range& range, RuleResult verdict)
{
    range.verdict = std::move(verdict);
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

/** The caller takes ranges from the end that the pool has not started; without a pool, in order. */
void ScriptThreads::RunRest()
{
    const bool alone = m_pool.ThreadCount() == 0;
    const size_t count = m_ranges.size(), most = m_batch ? kRangesPerBatch : 1;
    std::vector<Range*> together;
    for (size_t done = 0; done < count; done += together.size()) {
        const size_t size = std::min(most, count - done);
        const size_t begin = alone ? done : count - done - size;
        together.clear();
        for (size_t i = begin; i < begin + size; ++i) together.push_back(&m_ranges[i]);
        RunAll(together);
    }
}

RuleResult ScriptThreads::Finish()
{
    if (m_pool.ThreadCount() > 0 && !m_waiting.empty()) SubmitWaiting();
    RunRest();
    m_pool.Wait();
    const size_t bad = m_first_bad;
    RuleResult verdict = bad == kNoneBad ? std::nullopt : std::move(m_ranges[bad].verdict);
    Release();
    return verdict;
}

ScriptThreads::BatchWork ScriptThreads::Work() const
{
    const Lock lock(m_mutex);
    BatchWork work;
    for (const DeferBudget& budget : m_budgets) {
        work.proven += budget.Proven();
        work.wasted += budget.Wasted();
    }
    return work;
}

} // namespace ibd
