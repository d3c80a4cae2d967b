// ScriptThreads: runs the input scripts of a block on a pool of threads while the block is being
// connected, and on the caller's afterwards. Owned by the node. One block at a time, all calls from
// the connecting thread. Skips transactions that the caches hold under the same flags, which does
// not change the verdict. Where the chain allows it and results are not cached, signatures are
// verified in batches (consensus/deferred_inputs.h), which does not change it either. Memory: for
// each transaction of the block its spent outputs and shared hashes, some 300 bytes, and as much
// again for each 16 inputs; for each thread a batch.
#pragma once

#include "consensus/deferred_inputs.h"
#include "script/sighash.h"
#include "script/verification_cache.h"
#include "util/threads.h"
#include "validation/script_checker.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <vector>

namespace ibd {

class ScriptThreads final : public ScriptChecker {
public:
    /** `threads`: besides the caller's; 0: runs everything on the caller's, in Finish(). */
    explicit ScriptThreads(size_t threads, LanesMode lanes = LanesMode::kOff)
        : m_lanes(lanes), m_pool("scriptch", threads)
    {
    }
    /** Call it before the first block; the caches must outlive the object. */
    void SetCaches(VerificationCaches* caches) { m_caches = caches; }

    void Remember(bool remember) override { m_remember = remember; }
    void Batch(bool batch) override { m_batch_allowed = batch; }
    void Begin(ScriptFlags flags) override;
    void Expect(std::span<const TxView> txs) override;
    void Add(const TxView& tx, std::span<const Coin> spent) override;
    RuleResult Finish() override;
    /** The batch work of all threads since Begin(), for tests. */
    struct BatchWork {
        size_t proven = 0; //!< inputs
        uint64_t wasted = 0;
    };
    BatchWork Work() const;

private:
    struct Tx {
        explicit Tx(const TxView& in_tx) : tx(&in_tx) {}
        const TxView* tx;
        std::vector<SpentOutput> spent;
        std::optional<TxHashes> hashes; //!< over tx and spent outputs
        std::optional<Hash32> key;      //!< key in the script cache if the result is to be cached
        std::atomic<size_t> left{0};    //!< ranges not yet verified
    };
    /** Inputs of one transaction that are run together. */
    struct Range {
        Range(Tx* in_tx, size_t from, size_t to, size_t at)
            : tx(in_tx), begin(from), end(to), number(at)
        {
        }
        Tx* tx;
        size_t begin;
        size_t end;
        size_t number; //!< in block order
        std::atomic<bool> taken{false};
        RuleResult verdict; //!< written by the thread that took the range
    };

    void Release();
    bool UsesCache() const;
    Hash32 KeyOf(const TxView& tx);
    bool Known(const TxView& tx, std::optional<Hash32>& key);
    void AddRange(Tx& tx, size_t begin, size_t end);
    void SubmitWaiting();
    void RunAll(std::span<Range* const> ranges);
    void RunPlainly(std::span<Range* const> ranges);
    DeferBudget TakeBudget();
    void RunTogether(std::span<Range* const> ranges, DeferBudget& budget);
    void RunRest();
    bool Take(Range& range);
    void NoteVerdict(Range& range, RuleResult verdict);
    void Run(Range& range);
    RuleResult Check(const Range& range) const;

    ScriptFlags m_flags = 0;
    VerificationCaches* m_caches = nullptr;
    bool m_remember = false;
    const LanesMode m_lanes;
    bool m_batch_allowed = false;
    bool m_batch = false;               //!< of this block
    std::span<const TxView> m_expected; //!< index of the next one after the last Add()
    std::deque<Hash32> m_keys;          //!< script cache keys of the first ones of m_expected,
                                        //!< computed ahead
    std::deque<Tx> m_txs;               //!< deques: threads hold pointers to elements
    std::deque<Range> m_ranges;
    std::vector<Range*> m_waiting; //!< not yet given to the pool
    std::atomic<size_t> m_first_bad{0};
    mutable Mutex m_mutex;
    std::vector<DeferBudget> m_budgets IBD_GUARDED_BY(m_mutex); //!< not in use by a task
    ThreadPool m_pool; //!< last member: destroyed before the data that its threads use
};

} // namespace ibd
