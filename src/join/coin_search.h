// CoinSearch: what the inputs of the last blocks of a chain spend, to be found by whoever reads all
// blocks. The inputs go into a table; each thread that reads has a Finder, which puts what the
// table holds of a block into spills by the block that spends it. Owned by a ScanPhase or a
// FoldSearch; one thread, but for the finders. Memory: three quarters of JoinOptions::memory_bytes
// for the table, an eighth for all finders together.
#pragma once

#include "join/join_job.h"
#include "join/join_state.h"
#include "join/range_collector.h"
#include "join/sought_coins.h"
#include "join/spill_series.h"

namespace ibd {

class CoinSearch {
public:
    class Finder;

    /** Of the blocks `first` to the job's terminal block, SoughtCoins::kMostBlocks at most.
     *  `first_spill`: number of the first spill that it writes. The job must outlive it. */
    CoinSearch(JoinJob& job, uint32_t first, uint32_t first_spill);

    uint32_t First() const { return m_first; }
    uint32_t Blocks() const { return static_cast<uint32_t>(m_next_input.size()); }
    /** Makes the table, with room for so many inputs at most, or empties it. */
    void ResetTable(uint64_t most_inputs);
    /** Adds the inputs of a block that were not added yet. False: the table is full. */
    bool Add(uint32_t height, ByteSpan raw, std::span<const TxView> txs);
    /** Whether all inputs of that block were added, to this table or an earlier one. */
    bool IsAdded(uint32_t height) const { return m_next_input[height - m_first] == kAll; }
    bool AllAdded() const;
    /** CRC-32C of a block whose inputs were added. */
    uint32_t ChecksumOf(uint32_t height) const { return m_state.checksums[height]; }
    SoughtCoins& Sought() { return *m_sought; }

    /** When the finders are flushed, with all found: the state of a join whose coins are fetched,
     *  of these blocks, for this process alone. */
    Result<JoinState> Finish();

private:
    /** How far the inputs of a block are dealt with. */
    static constexpr uint32_t kAll = ~uint32_t{0};

    JoinJob& m_job;
    const uint32_t m_first;
    JoinState m_state;
    const HeightRanges m_spending;
    std::optional<SoughtCoins> m_sought;
    std::vector<uint32_t> m_next_input; //!< by height from m_first
    SpillSeries m_coins;
};

/** One thread's share of a search. */
class CoinSearch::Finder {
public:
    /** One of so many `threads`. `again`: blocks are shown that were shown before. */
    Finder(CoinSearch& search, size_t threads, bool again);

    /** The ids of the block's transactions must be there. */
    void Find(std::span<const TxView> txs, uint32_t height);
    /** False: the spills have failed, and Finish() says why. */
    bool Written() const { return m_written; }
    void Flush() { m_written = m_coins.Flush() && m_written; }

private:
    /** An output that may be sought. */
    struct Candidate {
        Hash128 prepared;
        const OutputView* output;
        bool coinbase;
    };
    /** So many are looked for at a time: the table is far away. */
    static constexpr size_t kAtOnce = 32;

    void Consider(const TxView& tx, uint32_t height, bool coinbase);
    void TakeAll(uint32_t height);

    CoinSearch& m_search;
    const bool m_again;
    RangeCollector m_coins;
    std::array<Candidate, kAtOnce> m_candidates;
    size_t m_count = 0; //!< of m_candidates
    bool m_written = true;
};

} // namespace ibd
