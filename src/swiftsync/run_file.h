// Runs: surviving coins of a set of blocks, sorted by chainstate key, in pages of up to 32 KiB with
// a checksum each, and an index of the pages; also the coinbase ids that must be unique. One writer
// for each file; a reader is immutable after Open() and can be shared. Format: doc/formats/runs.md.
#pragma once

#include "swiftsync/coin_buffer.h"
#include "util/file_appender.h"

#include <memory>

namespace ibd {

inline constexpr size_t kRunPageBytes = 32 << 10;
/** A record has at most 65,535 + 40 bytes, and a page holds at least one. */
inline constexpr size_t kMaxRunPageBytes = 80 << 10;

/** The id of the coinbase at a height. */
struct CoinbaseId {
    uint32_t height = 0;
    Txid txid;

    bool operator==(const CoinbaseId&) const = default;
};

/** The first bytes of a SHA-256: enough to detect damage. */
using ShortDigest = std::array<uint8_t, 8>;
ShortDigest Shorten(const Hash32& digest);

/** Identifies a finished run; part of the checkpoint. */
struct RunInfo {
    uint32_t number = 0;
    uint64_t records = 0;
    uint64_t size = 0;      //!< of the file, bytes
    ShortDigest checksum{}; //!< of its header, index and trailer

    bool operator==(const RunInfo&) const = default;
};

Path RunPath(const Path& directory, uint32_t number);

struct WrittenRun {
    RunInfo info;
    std::unique_ptr<WritableFile> file; //!< complete but not synced
};

/** Writes one run from records in chainstate order. Holds a page and a piece of a file (1 MiB).
 *  After an error it must not be used further. */
class RunWriter {
public:
    static Result<RunWriter> Create(Env& env, const Path& directory, uint32_t number,
                                    const Uint256& hints_id);

    Result<> Add(const CoinRecord& record);                           //!< not below the previous
                                                                      //!< record
    Result<WrittenRun> Finish(std::span<const CoinbaseId> coinbases); //!< complete, not synced

private:
    RunWriter(std::unique_ptr<WritableFile> file, uint32_t number, Bytes header);
    Result<> ClosePage();

    FileAppender m_out;
    uint32_t m_number;
    Bytes m_header;
    Bytes m_payload;
    Bytes m_index;
    uint64_t m_first_prefix = 0;
    uint32_t m_page_records = 0;
    uint64_t m_records = 0;
};

/** Sorts `coins` and writes them as run `number`. The buffer is not cleared. */
Result<WrittenRun> WriteRun(Env& env, const Path& directory, uint32_t number,
                            const Uint256& hints_id, CoinBuffer& coins,
                            std::span<const CoinbaseId> coinbases);

class RunReader {
public:
    struct Page {
        uint64_t first_prefix; //!< CoinRecord::Prefix() of its first record
        uint64_t offset;
        uint32_t length; //!< including the page's header
        uint32_t records;
    };

    /** Opens a run and checks header, index and trailer against `expected`. Bad data: it is damaged
     *  or missing. A system error does not prove damage. */
    static Result<RunReader> Open(Env& env, const Path& directory, const RunInfo& expected,
                                  const Uint256& hints_id);

    std::span<const Page> Pages() const { return m_pages; }
    /** The records of a page, one after the other, after checks: each is complete, they are in
     *  order, and their number is that of the index. `buffer` keeps its capacity. */
    Result<ByteSpan> ReadPage(size_t index, Bytes& buffer) const;
    Result<std::vector<CoinbaseId>> ReadCoinbases() const;
    const RunInfo& Info() const { return m_info; }
    /** Tells the kernel that the pages from `index` on will be read sequentially. */
    void WillNeed(size_t index, uint64_t bytes) const;
    /** From now on each read opens the file itself: slower, but keeps no descriptor. */
    void CloseFile() { m_file.reset(); }

private:
    /** The file, open for as long as the handle lives. */
    class Handle;
    Result<Handle> File() const;
    Result<Bytes> ReadExactly(uint64_t offset, size_t size) const;
    Error Damaged(uint64_t offset, std::string_view what) const;

    Env* m_env = nullptr;
    Path m_path;
    RunInfo m_info;
    std::unique_ptr<ReadableFile> m_file; //!< null after CloseFile()
    std::vector<Page> m_pages;
    uint64_t m_coinbases_at = 0;
    uint64_t m_coinbases = 0;
    ShortDigest m_coinbases_checksum{};
};

/** The most runs that stay open, and the largest share of the process's limit on open files that
 *  they may take: that limit is often 1,024, and there may be thousands of runs. */
inline constexpr size_t kMaxOpenRuns = 256;
inline constexpr size_t kOpenRunsShare = 4;

/** Opens runs; the two bounds above limit how many stay open. */
Result<std::vector<RunReader>> OpenRuns(Env& env, const Path& directory,
                                        std::span<const RunInfo> runs, const Uint256& hints_id);

} // namespace ibd
