// CoinMerger: merges the records of many sorted runs into one ascending sequence, for a range of
// keys. Each merger holds one page of each run (32 KiB); several mergers over different ranges may
// run at once. The runs must outlive it. One thread each.
#pragma once

#include "swiftsync/run_file.h"

namespace ibd {

class CoinMerger {
public:
    /** Merges records with first <= CoinRecord::Prefix() <= last. */
    CoinMerger(std::span<const RunReader> runs, uint64_t first, uint64_t last);

    /** Moves to the next record; false at the end. An error: a run is unreadable or damaged. */
    Result<bool> Next();
    /** The record; valid until Next(). */
    CoinRecord Record() const { return m_cursors[m_winner].Record(); }

private:
    /** The position in one run. */
    class Cursor {
    public:
        Cursor(const RunReader& run, uint64_t first, uint64_t last);
        Result<> Start();
        Result<> Advance();
        bool Valid() const { return m_at != nullptr; }
        CoinRecord Record() const { return CoinRecord(m_at); }
        uint64_t Prefix() const { return m_prefix; }

    private:
        Result<> LoadPage();
        void Settle();

        const RunReader* m_run;
        uint64_t m_first;
        uint64_t m_last;
        size_t m_page;
        Bytes m_buffer;
        ByteSpan m_rest; //!< of the page, from the current record
        const uint8_t* m_at = nullptr;
        uint64_t m_prefix = 0;
    };

    bool Less(uint32_t a, uint32_t b) const;
    Result<> Start();
    void Replay(uint32_t cursor);

    std::vector<Cursor> m_cursors;
    /** Tournament tree: inner node i (1..k-1) holds the loser of its match. */
    std::vector<uint32_t> m_losers;
    uint32_t m_winner = 0;
    bool m_started = false;
};

} // namespace ibd
