// ScriptThreads: runs the input scripts of a block on a pool of threads and the caller's. Owned by
// the node. One block at a time, all calls from the thread that connects.
// Memory: the shared hashes of each transaction of the block, about 300 bytes.
#pragma once

#include "script/sighash.h"
#include "util/threads.h"
#include "validation/script_checker.h"

#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace ibd {

class ScriptThreads final : public ScriptChecker {
public:
    /** `threads` besides the caller's; 0 runs everything on the caller's. */
    explicit ScriptThreads(size_t threads) : m_pool("scriptcheck", threads) {}

    void Begin(ScriptFlags flags) override;
    void Add(const TxView& tx, std::span<const Coin> spent) override;
    RuleResult Finish() override;

private:
    struct Tx {
        const TxView* tx;
        std::vector<SpentOutput> spent;
        std::once_flag hashed;
        std::unique_ptr<TxHashes> hashes; //!< made by the first input that is run
    };
    struct Range {
        Tx* tx;
        size_t begin;
        size_t end;
    };

    RuleResult Check(const Range& range) const;

    ThreadPool m_pool;
    ScriptFlags m_flags = 0;
    std::deque<Tx> m_txs;
    std::vector<Range> m_ranges;
};

} // namespace ibd
