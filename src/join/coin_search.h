// CoinSearch: finds the coins that the last blocks of a chain spend while other code reads all
// blocks. The inputs of the last blocks go into a table. Each reading thread has a Finder, which
// looks up the outputs of each block and writes those found to spills, ordered by the spending
// block. Owned by a ScanPhase or a FoldSearch; one thread, but for the finders. Memory: three
// quarters of JoinOptions::memory_bytes for the table, an eighth for all finders together.
#pragma once

#include "join/join_job.h"
#include "join/join_state.h"
#include "join/range_collector.h"
#include "join/spill_series.h"
#include "join/wanted_coins.h"

namespace ibd {

class CoinSearch {
public:
    class Finder;

    /** For the blocks from `first` to the job's terminal block, at most WantedCoins::kMostBlocks.
     *  `first_spill`: number of the first spill that it writes. The job must outlive it. */
    CoinSearch(JoinJob& job, uint32_t first, uint32_t first_spill);

    uint32_t First() const { return m_first; }
    uint32_t Blocks() const { return static_cast<uint32_t>(m_next_input.size()); }
    /** Empties the table, or creates it with space for at most `most_inputs`. */
    void ResetTable(uint64_t most_inputs);
    /** Adds the inputs of a block that were not added yet. False: the table is full. */
    bool Add(uint32_t height, ByteSpan raw, std::span<const TxView> txs);
    /** Whether all inputs of the block at `height` were added, to this table or to an earlier one.
     */
    bool IsAdded(uint32_t height) const { return m_next_input[height - m_first] == kAll; }
    bool AllAdded() const;
    /** CRC-32C of a block whose inputs were added. */
    uint32_t ChecksumOf(uint32_t height) const { return m_state.checksums[height]; }
    WantedCoins& Wanted() { return *m_wanted; }

    /** Call after all finders were flushed and every coin was found. Returns the state of a join
     *  whose coins of these blocks are fetched; only this process can use it. */
    Result<JoinState> Finish();

private:
    /** m_next_input of a block whose inputs are all added. */
    static constexpr uint32_t kAll = ~uint32_t{0};

    JoinJob& m_job;
    const uint32_t m_first;
    JoinState m_state;
    const HeightRanges m_spending;
    std::optional<WantedCoins> m_wanted;
    std::vector<uint32_t> m_next_input; //!< by height from m_first
    SpillSeries m_coins;
};

/** One thread's share of a search. */
class CoinSearch::Finder {
public:
    /** One of `threads` finders. `again`: an earlier pass has already searched these blocks. */
    Finder(CoinSearch& search, size_t threads, bool again);

    /** The transaction ids of the block must be computed. */
    void Find(std::span<const TxView> txs, uint32_t height);
    /** False: writing a spill has failed; Finish() reports why. */
    bool Written() const { return m_written; }
    void Flush() { m_written = m_coins.Flush() && m_written; }

private:
    /** An output to look up. */
    struct Candidate {
        Hash128 prepared;
        const OutputView* output;
        bool coinbase;
    };
    /** Number of outputs looked up together, because each access to the table misses the cache. */
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
